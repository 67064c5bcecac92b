"""`cv`: training on all folds side by side, a round at a time, with the metrics of each round averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weald.dialects.shared.folds import fold_rows, means_of
from weald.dialects.shared.values import whole_number
from weald.dialects.xgboost.attributes import Attributes
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.callback import (
    CallbackContainer,
    EarlyStopping,
    EvaluationMonitor,
    TrainingCallback,
)
from weald.dialects.xgboost.dmatrix import DMatrix
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.positional import by_position
from weald.dialects.xgboost.request import CustomMetric, CustomObjective
from weald.dialects.xgboost.training import Parameters, quiet
from weald.params.xgboost import read_parameters


@dataclass
class CVPack:
    """One fold: its booster and its matrices."""

    dtrain: DMatrix
    dtest: DMatrix
    bst: Booster


class PackedBooster(Attributes):
    """The boosters of all folds, as callbacks of `cv` see them."""

    def __init__(self, cvfolds: Sequence[CVPack]) -> None:
        self.cvfolds = list(cvfolds)
        self._attributes = {}

    def set_param(self, params: Any, value: Any = None) -> None:
        """Set parameters of every booster."""
        for fold in self.cvfolds:
            fold.bst.set_param(params, value)

    def num_boosted_rounds(self) -> int:
        """Rounds so far."""
        return self.cvfolds[0].bst.num_boosted_rounds()


@DOOR.function
@by_position
def cv(
    params: Parameters,
    dtrain: DMatrix,
    num_boost_round: int = 10,
    *,
    nfold: int = 3,
    stratified: bool = False,
    folds: Any = None,
    metrics: Sequence[str] | str = (),
    obj: CustomObjective | None = None,
    maximize: bool | None = None,
    early_stopping_rounds: int | None = None,
    fpreproc: Callable[..., Any] | None = None,
    as_pandas: bool = True,
    verbose_eval: bool | int | None = None,
    show_stdv: bool = True,
    seed: int = 0,
    callbacks: Sequence[TrainingCallback] | None = None,
    shuffle: bool = True,
    custom_metric: CustomMetric | None = None,
) -> Any:
    """Cross-validate: a frame (or a dict) with the mean and deviation of every metric after every round.

    Parameters are those of `train`; ``folds``: a splitter of scikit-learn's, or pairs of training and test rows;
    ``fpreproc``: function(dtrain, dtest, params) that returns the three, changed as you like.

    >>> import numpy as np
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> table = cv({"max_depth": 2}, DMatrix(X, label=X[:, 0]), 3, as_pandas=False)
    >>> list(table), len(table["test-rmse-mean"])
    (['train-rmse-mean', 'train-rmse-std', 'test-rmse-mean', 'test-rmse-std'], 3)
    """
    given = dict(params) if isinstance(params, Mapping) else list(params)
    known = read_parameters(given)
    named = [metrics] if isinstance(metrics, str) else list(metrics)
    if named:
        known["eval_metric"] = named
    packs = []
    pairs = fold_rows(dtrain.get_label(), dtrain.num_row(), nfold, stratified, folds, shuffle, seed)
    for train_rows, test_rows in pairs:
        part, rest, own = dtrain.slice(train_rows), dtrain.slice(test_rows), dict(known)
        if fpreproc is not None:
            part, rest, own = fpreproc(part, rest, own)
        packs.append(CVPack(part, rest, Booster(own)))
    everything = list(callbacks or ())
    if verbose_eval:
        period = 1 if verbose_eval is True else int(verbose_eval)
        everything.append(EvaluationMonitor(period=period, show_stdv=show_stdv))
    if early_stopping_rounds is not None:
        everything.append(EarlyStopping(rounds=early_stopping_rounds, maximize=maximize))
    rounds = whole_number("num_boost_round", num_boost_round, 0)
    all_folds = _Folds(packs, CallbackContainer(everything), rounds)
    with quiet(known):
        table = all_folds.run(obj, custom_metric)
    if not as_pandas:
        return table
    try:
        import pandas as pd
    except ImportError:
        return table
    return pd.DataFrame(table)


class _Folds:
    """The folds' trainings, a round at a time, with the callbacks and the metrics of all."""

    def __init__(self, packs: list[CVPack], container: CallbackContainer, rounds: int) -> None:
        self._packs = packs
        self._model = PackedBooster(packs)
        self._container = container
        self._rounds = rounds
        self._table: dict[str, list[float]] = {}

    def run(self, objective: CustomObjective | None, metric: CustomMetric | None) -> dict[str, list[float]]:
        """Train; the table of means and deviations, up to the best round where training stopped early."""
        kept = self._rounds
        self._container.before_training(self._model)
        for pack in self._packs:
            pack.bst._begin(pack.dtrain, [(pack.dtrain, "train"), (pack.dtest, "test")], objective, metric)
        for epoch in range(self._rounds):
            if self._container.before_iteration(self._model, epoch) or self._step(epoch):
                if self._model.attr("best_iteration") is not None:
                    kept = self._model.best_iteration + 1
                break
        self._container.after_training(self._model)
        return {name: values[:kept] for name, values in self._table.items()}

    def _step(self, epoch: int) -> bool:
        """A round of every fold; whether a callback stops."""
        self._container.take(means_of([pack.bst._step() for pack in self._packs], self._table, "std"))
        return self._container.after_iteration(self._model, epoch)
