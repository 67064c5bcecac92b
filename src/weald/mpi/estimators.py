"""Weald's estimators, fitted by the ranks of an MPI program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import weald
from weald.mpi.ranks import RankTeam
from weald.params.choice import part
from weald.params.declare import documented
from weald.training.boosting.rounds import Callback
from weald.workers.estimators import OnWorkers, rows_of
from weald.workers.parameters import PARALLEL, Parallel

_Way = Annotated[Parallel | str, part("What ranks share out, and what travels between them.", PARALLEL)]


class OnRanks(OnWorkers):
    """Mixed into estimators that ranks fit."""

    n_jobs: int | None
    verbose: int

    def _fit_on_ranks(self, tables: Sequence[Any], comm: Any, **options: Any) -> Any:
        team = RankTeam(comm)
        own = {
            "n_jobs": team.threads() if self.n_jobs is None else self.n_jobs,
            "verbose": self.verbose if team.rank == 0 else 0,
        }
        return self._fit_as_member(lambda: rows_of(*tables), team, own, **options)


class BoostedOnRanks(OnRanks):
    """Mixed into boosted trees."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] | None = None,
        resume_from: str | os.PathLike[str] | None = None,
        comm: Any = None,
    ) -> Any:
        """Train on the rows of all ranks; every rank calls it with its own, and every rank has the same model.

        Parameters
        ----------
        X : table of this rank's rows, of any kind that one process takes, or None for no rows. The whole table is that of rank
            0, then that of rank 1, and so on.
        y : labels, one a row.
        sample_weight : weights, one a row.
        eval_set : list of (X, y) or (X, y, sample_weight), this rank's rows of every set; a set's X may be None.
        eval_names : names of these sets.
        callbacks : functions of a round; what one rank stops all do.
        resume_from : path of a checkpoint of this training, which every rank can read.
        comm : a communicator of mpi4py; None: all ranks of the program.
        """
        return self._fit_on_ranks(
            (X, y, sample_weight, eval_set),
            comm,
            eval_names=eval_names,
            callbacks=callbacks,
            resume_from=resume_from,
        )


class ForestOnRanks(OnRanks):
    """Mixed into forests."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, comm: Any = None) -> Any:
        """Train on the rows of all ranks; see the ``fit`` of boosted trees."""
        return self._fit_on_ranks((X, y, sample_weight), comm)


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesClassifier(BoostedOnRanks, weald.BoostedTreesClassifier):  # type: ignore[misc]
    """`weald.BoostedTreesClassifier` on the rows of all ranks of an MPI program.

    Examples
    --------
    >>> import weald.mpi
    >>> weald.mpi.BoostedTreesClassifier(parallel="voting").parallel
    'voting'
    """

    parallel: _Way = "data"
    _alone: ClassVar[type[Any]] = weald.BoostedTreesClassifier


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTreesRegressor(BoostedOnRanks, weald.BoostedTreesRegressor):  # type: ignore[misc]
    """`weald.BoostedTreesRegressor` on the rows of all ranks of an MPI program."""

    parallel: _Way = "data"
    _alone: ClassVar[type[Any]] = weald.BoostedTreesRegressor


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class RandomForestClassifier(ForestOnRanks, weald.RandomForestClassifier):
    """`weald.RandomForestClassifier` on the rows of all ranks of an MPI program."""

    parallel: _Way = "data"
    _alone: ClassVar[type[Any]] = weald.RandomForestClassifier


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class RandomForestRegressor(ForestOnRanks, weald.RandomForestRegressor):
    """`weald.RandomForestRegressor` on the rows of all ranks of an MPI program."""

    parallel: _Way = "data"
    _alone: ClassVar[type[Any]] = weald.RandomForestRegressor


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class ExtraTreesClassifier(ForestOnRanks, weald.ExtraTreesClassifier):
    """`weald.ExtraTreesClassifier` on the rows of all ranks of an MPI program."""

    parallel: _Way = "data"
    _alone: ClassVar[type[Any]] = weald.ExtraTreesClassifier


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class ExtraTreesRegressor(ForestOnRanks, weald.ExtraTreesRegressor):
    """`weald.ExtraTreesRegressor` on the rows of all ranks of an MPI program."""

    parallel: _Way = "data"
    _alone: ClassVar[type[Any]] = weald.ExtraTreesRegressor
