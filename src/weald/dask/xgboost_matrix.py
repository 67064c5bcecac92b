"""XGBoost's matrices of Dask's collections, on the client and with the members of a team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weald.dask.members import Brought, Cuts, parts_of
from weald.dask.teamwork import RowSet
from weald.dialects.shared.team_rows import TeamRows
from weald.dialects.xgboost.dmatrix import DMatrix, QuantileDMatrix
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.refusals import OF_MATRIX, REFUSALS
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.team import Team

_OF_MATRIX = {**OF_MATRIX, "base_margin": "scores to start from do not travel; train in memory with them."}


@DOOR.owner
class DaskDMatrix:
    """Partitions of a table with labels and weights; ``client`` is asked for when a model is trained.

    Parameters are those of `weald.xgboost.DMatrix`, with Dask arrays, dataframes and series for data, label and weight.
    """

    @REFUSALS.arguments(_OF_MATRIX)
    def __init__(
        self,
        client: Any,
        data: Any,
        label: Any = None,
        *,
        weight: Any = None,
        base_margin: Any = None,
        missing: float | None = None,
        silent: bool = False,
        feature_names: Sequence[str] | None = None,
        feature_types: Sequence[str] | None = None,
        group: Any = None,
        qid: Any = None,
        label_lower_bound: Any = None,
        label_upper_bound: Any = None,
        feature_weights: Any = None,
        enable_categorical: bool = False,
    ) -> None:
        if feature_weights is not None:
            feature_weights = np.asarray(
                feature_weights.compute() if hasattr(feature_weights, "compute") else feature_weights
            )
        self.client, self.silent = client, silent
        self.data, self.label, self.weight = data, label, weight
        self.options: dict[str, Any] = {
            "missing": missing,
            "feature_names": feature_names,
            "feature_types": feature_types,
            "feature_weights": feature_weights,
            "enable_categorical": enable_categorical,
        }
        self.max_bin: int | None = None

    def rows(self, name: str) -> RowSet:
        """As a cluster is asked for them; ``name``: that messages call them by."""
        if self.label is None:
            raise InputError(f"{name} needs labels for training and evaluation; give it label.")
        return RowSet(name, self.data, self.label, self.weight)


@DOOR.owner
class DaskQuantileDMatrix(DaskDMatrix):
    """A `DaskDMatrix` with a number of bins."""

    def __init__(
        self,
        client: Any,
        data: Any,
        label: Any = None,
        *,
        max_bin: int | None = None,
        ref: DaskDMatrix | None = None,
        max_quantile_batches: int | None = None,
        **more: Any,
    ) -> None:
        if max_quantile_batches is not None:
            raise NotSupportedError("max_quantile_batches is for data read in batches; leave it out.")
        super().__init__(client, data, label, **more)
        self.max_bin = ref.max_bin if max_bin is None and ref is not None else max_bin


class MemberMatrix(QuantileDMatrix):
    """The rows of a matrix that one member of a team has."""

    def __init__(
        self, brought: Brought, cuts: Cuts, options: Mapping[str, Any], max_bin: int | None, team: Team
    ) -> None:
        matrices = [
            DMatrix(part.X, label=part.y, weight=part.weight, **options) for part in parts_of(brought, cuts)
        ]
        first = matrices[0]
        for other in matrices:
            if other.categories != first.categories:
                raise NotSupportedError(
                    "the partitions have different categories, which XGBoost's codes cannot tell apart; call .categorize() of "
                    "the dataframe first, or use weald.dask.BoostedTrees*."
                )
        self.__dict__.update(first.__dict__)
        self.source = TeamRows([one.table for one in matrices], team)
        n_rows = int(team.add(np.array([sum(one.n_rows for one in matrices)], np.int64))[0])
        self._shape = (n_rows, first.n_columns)
        self._label = np.concatenate([one.labels for one in matrices])
        weights = [one.weights for one in matrices if one.weights is not None]
        self._weight = np.concatenate(weights) if weights else None
        self.max_bin, self._ref = max_bin, None
