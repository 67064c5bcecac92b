"""Estimators that a team fits: every member calls ``fit`` with rows of its own, and every member has the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from weald.binning.parts import Part
from weald.estimators.boosted.evaluation_sets import as_sets
from weald.runtime.team import Team
from weald.training.boosting.rounds import Round
from weald.workers.parameters import Parallel, sharing_of
from weald.workers.tables import MemberRows, member_tables
from weald.workers.watched import WatchedTeam


def fit_member(
    model: Any, rows: MemberRows, team: Team, parallel: Parallel | str = "data", **options: Any
) -> Any:
    """Fit an estimator of one process, such as `weald.BoostedTreesClassifier`, on the rows of a team; it is returned.

    Every member calls it with an estimator of the same parameters and with its own rows. Models are those of one process that
    has all rows, in the members' order, byte for byte; ``parallel="voting"`` alone comes to its own. When a member fails, all
    raise an error that names it. ``options``: of the estimator's ``fit``, beside tables.

    >>> import numpy as np
    >>> import weald
    >>> from weald.binning.parts import Part
    >>> from weald.runtime.team import ALONE
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> rows = MemberRows([Part(X[:12], X[:12, 0]), Part(X[12:], X[12:, 0])])
    >>> fit_member(weald.BoostedTreesRegressor(n_estimators=3), rows, ALONE).n_features_in_
    1
    """
    watched = WatchedTeam(team)
    with watched.working():
        _fit_watched(model, rows, watched, parallel, options)
    return model


def _fit_watched(
    model: Any, rows: MemberRows, team: WatchedTeam, parallel: Parallel | str, options: Mapping[str, Any]
) -> None:
    chosen, _ = sharing_of(parallel)
    tables = member_tables(model, rows, team, chosen)
    given = {name: value for name, value in options.items() if value is not None}
    if tables.sets:
        given["eval_set"] = list(tables.sets)
    if chosen.needs_all_rows and "callbacks" in given:
        given["callbacks"] = [*given["callbacks"], stops_with(team)]
    model.fit(tables.train, **given)


def stops_with(team: Team) -> Callable[[Round], object]:
    """A callback that stops when that of another member does: clocks differ, and a table with all rows asks nobody."""

    def stop(state: Round) -> None:
        if any(team.gather(state.stopped)):
            state.stop("another member of the team has stopped")

    return stop


class OnWorkers:
    """Mixed into estimators that a team fits: as an estimator of one process, with ``parallel`` beside its parameters.

    A model file is that of the estimator of one process, which `weald.load` gives.
    """

    #: the estimator of one process
    _alone: ClassVar[type[Any]]
    parallel: Any

    if TYPE_CHECKING:  # what the estimator has
        _model: Any

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def __sklearn_is_fitted__(self) -> bool: ...

        def _forget(self) -> None: ...

        def _set_model(self, model: Any) -> None: ...

    def alone(self) -> Any:
        """The estimator of one process with these parameters; of a fitted one, with its model."""
        params = self.get_params(deep=False)
        del params["parallel"]
        other = self._alone(**params)
        if self.__sklearn_is_fitted__():
            other._set_model(self._model)
        return other

    def _fit_as_member(
        self, make_rows: Callable[[], MemberRows], team: Team, own: Mapping[str, Any], **options: Any
    ) -> Any:
        """Become what the team fits; ``own``: parameters that differ from member to member, which no model depends on."""
        watched = WatchedTeam(team)
        with watched.working():
            model = self.alone().set_params(**own)
            self._forget()
            _fit_watched(model, make_rows(), watched, self.parallel, options)
        params = model.get_params(deep=False)
        self.__dict__.update({name: value for name, value in vars(model).items() if name not in params})
        return self


def rows_of(X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> MemberRows:
    """What a member gives to ``fit``; tables that are None are no rows.

    >>> len(rows_of([[1.0]], [2.0], eval_set=[([[3.0]], [4.0])]).sets)
    1
    """

    def parts_of(X: Any, y: Any, weight: Any) -> list[Part]:
        return [] if X is None else [Part(X, y, weight)]

    return MemberRows(parts_of(X, y, sample_weight), [parts_of(*one) for one in as_sets(eval_set)])
