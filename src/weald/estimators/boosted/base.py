"""What the classifier and the regressor of boosted trees share: `fit`, and the way from there to the engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning import BinWishes
from weald.binning.sharded_table import ShardedTable, read_training_rows
from weald.data import read_weights
from weald.data.sparse import SparseBlocks
from weald.devices.parameters import DEVICES
from weald.devices.predict import device_scores
from weald.estimators.boosted.explained import ExplainedTrees
from weald.estimators.boosted.fitting import FitOptions, checked_callbacks, fitted_model
from weald.estimators.boosted.refit import check_refits, refitted_model
from weald.estimators.shared.block_labels import check_brings_labels, check_labels
from weald.estimators.shared.labels import Labels
from weald.forest.forest import Forest
from weald.runtime.team import labels_of_team
from weald.training.boosting.booster_parameters import BOOSTERS
from weald.training.boosting.door.categories import asked_ways
from weald.training.boosting.parameters import BoostingParameters
from weald.training.boosting.rounds import Callback


@dataclass(kw_only=True, repr=False, eq=False)
class BoostedTrees(ExplainedTrees, BoostingParameters):
    """What classifier and regressor share; use one of those."""

    def _bin_wishes(self) -> BinWishes | None:
        """The bins that it wants, which `weald.binning.bin_once` asks for; a linear model takes none."""
        parts = self.resolved()
        if not parts.booster.has_trees:
            return None
        return self._reading()

    def _takes_categories(self) -> bool:
        return BOOSTERS.resolve(self.booster).has_trees

    @property
    def category_ways_(self) -> dict[Any, str]:
        """How every categorical column is split: "onehot", "partition", a kind of target statistics, or "partition+ordered".

        >>> import weald
        >>> shops, sales = list("abcde") * 60, [1.0, 2.0, 3.0, 4.0, 5.0] * 60
        >>> weald.BoostedTreesRegressor(n_estimators=1).fit({"shop": shops}, sales).category_ways_
        {'shop': 'partition+ordered'}
        """
        model = self._tree_model("category_ways_")
        schema, ways = model.schema, model.category_ways
        names = [column.name for column in schema.columns if column.kind == "categorical"]
        if ways is None:
            ways = asked_ways(self.resolved().categories, schema).names(schema)
        return dict(zip(names, ways, strict=True))

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] | None = None,
        resume_from: str | os.PathLike[str] | None = None,
        init_score: Any = None,
        eval_init_scores: Sequence[Any] | None = None,
    ) -> Any:
        """Train on a table.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix, list of rows, or a dict of columns; or a table
            that `weald.binning.bin_once` has binned, whose bins are then used as they are; or a `weald.BlockStore`, which brings
            labels and weights of its own.
        y : labels, one a row.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        eval_set : list of (X, y) or (X, y, sample_weight)
            Sets to evaluate after every round; see ``history_``.
        eval_names : names of these sets; "valid_0", "valid_1", … when None.
        callbacks : functions of a round, such as `EarlyStopping`, `TimeBudget`, `Checkpoint` and `LearningRateScheduler`.
        resume_from : path of a checkpoint of this training, which goes on from there to the same bytes.
        init_score : raw scores, (rows,) or (rows, classes)
            Where each row starts, in place of a constant: the margin of another model. The model then holds only what
            was added: its raw scores are to be added to scores of your own for the same rows, which `predict` does not know.
        eval_init_scores : list of such scores, one for every eval_set; needed beside ``init_score``.
        """
        wishes = self._reading()
        owner = type(self).__name__
        earlier = self.__dict__.get("_model") if self.warm_start and resume_from is None else None
        self._forget()
        table = read_training_rows(X, wishes, owner, None if earlier is None else earlier.schema)
        if isinstance(table, ShardedTable):
            check_brings_labels(y, sample_weight)
            labels = self._labels_of_blocks(table)
        else:
            labels = self._labels(y, table.n_rows, read_weights(sample_weight, table.n_rows))
        if isinstance(table, ShardedTable):
            check_labels(labels.loss, table, labels_of_team(table.bins.team, labels.y, labels.weight)[0])
        else:
            labels.loss.check_target(labels.y)
        options = FitOptions(
            eval_set, eval_names, checked_callbacks(callbacks), resume_from, init_score, eval_init_scores
        )
        self._set_model(fitted_model(self, table, labels, options, earlier))
        return self

    def refit(
        self, X: Any, y: Any, sample_weight: Any = None, decay_rate: float = 0.9, init_score: Any = None
    ) -> Any:
        """The same trees with leaf values that follow other rows: a new estimator, this one stays as it is.

        Round by round a leaf gets ``decay_rate`` times its old value and the rest of what it would have by the rows of this
        table that reach it. A leaf that none reaches keeps its value. The learning rate is the estimator's, in every round.

        Parameters
        ----------
        X : table with the columns of the training; categories that it did not have go where they go in `predict`.
        y : labels, one a row; of a classifier, classes that the model knows.
        sample_weight : weights, one a row. A row of weight 0 is as if it were not there.
        decay_rate : from 0, new values alone, to 1, old ones alone.
        init_score : raw scores of the rows, where the fit had such.

        >>> import numpy as np
        >>> import weald
        >>> X = np.arange(40.0).reshape(-1, 1)
        >>> model = weald.BoostedTreesRegressor(n_estimators=50, min_samples_leaf=5).fit(X, X[:, 0])
        >>> later = model.refit(X, X[:, 0] + 10.0, decay_rate=0.5)
        >>> bool(model.predict(X).mean() < later.predict(X).mean() < model.predict(X).mean() + 10.0)
        True
        """
        model = self._fitted()
        check_refits(model, decay_rate)
        dataset = self._read(X, least_rows=1)
        weight = read_weights(sample_weight, dataset.n_rows)
        labels = self._labels_of_known(y, dataset.n_rows, weight, model.classes)
        other = type(self)(**self.get_params(deep=False))
        other._set_model(refitted_model(model, self, dataset, labels, decay_rate, init_score))
        return other

    def _raw(self, X: Any, n_rounds: int | None = None) -> NDArray[np.float64]:
        """Raw scores, (outputs, rows), from a device where one is chosen."""
        plan = DEVICES.resolve(self.device).plan()
        model = self._fitted()
        if plan is not None and isinstance(model.predictor, Forest):
            last = model.forest.n_rounds if n_rounds is None else self._count(n_rounds)
            dataset = self._read(X)
            blocks = dataset.blocks()
            scores = None
            if not isinstance(blocks, SparseBlocks):
                scores = device_scores(plan, model.forest, blocks, dataset.n_rows, last)
            if scores is not None:
                return scores
        return super()._raw(X, n_rounds)

    def _labels(self, y: Any, n_rows: int, weight: NDArray[np.float64] | None) -> Labels:
        raise NotImplementedError

    def _labels_of_blocks(self, table: ShardedTable) -> Labels:
        raise NotImplementedError

    def _encode(self, y: Any, n_rows: int, classes: NDArray[Any] | None) -> NDArray[np.float64]:
        raise NotImplementedError
