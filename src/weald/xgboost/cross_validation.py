"""`cv`: training on all folds side by side, a round at a time, with the metrics of each round averaged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.params.xgboost import read_parameters
from weald.runtime.errors import InputError
from weald.xgboost.booster import Booster
from weald.xgboost.callback import CallbackContainer, EarlyStopping, EvaluationMonitor, TrainingCallback
from weald.xgboost.dmatrix import DMatrix
from weald.xgboost.engine import CustomMetric, CustomObjective
from weald.xgboost.training import Parameters, quiet

Rows = NDArray[np.int64]


@dataclass
class CVPack:
    """One fold: its booster and its matrices."""

    dtrain: DMatrix
    dtest: DMatrix
    bst: Booster


class PackedBooster:
    """The boosters of all folds, as callbacks of `cv` see them."""

    def __init__(self, cvfolds: Sequence[CVPack]) -> None:
        self.cvfolds = list(cvfolds)
        self._attributes: dict[str, str] = {}

    def set_attr(self, **texts: str | None) -> None:
        """Keep texts."""
        self._attributes.update({key: str(text) for key, text in texts.items()})

    def attr(self, key: str) -> str | None:
        """A text that was kept."""
        return self._attributes.get(key)

    def set_param(self, params: Any, value: Any = None) -> None:
        """Set parameters of every booster."""
        for fold in self.cvfolds:
            fold.bst.set_param(params, value)

    def num_boosted_rounds(self) -> int:
        """Rounds so far."""
        return self.cvfolds[0].bst.num_boosted_rounds()

    @property
    def best_iteration(self) -> int:
        """The best round of early stopping."""
        return int(self._attributes["best_iteration"])

    @property
    def best_score(self) -> float:
        """The metric of the best round."""
        return float(self._attributes["best_score"])


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
    for train_rows, test_rows in _folds(dtrain, nfold, stratified, folds, shuffle, seed):
        part, rest, own = dtrain.slice(train_rows), dtrain.slice(test_rows), dict(known)
        if fpreproc is not None:
            part, rest, own = fpreproc(part, rest, own)
        packs.append(CVPack(part, rest, Booster({**own, "nthread": 1})))
    everything = list(callbacks or ())
    if verbose_eval:
        period = 1 if verbose_eval is True else int(verbose_eval)
        everything.append(EvaluationMonitor(period=period, show_stdv=show_stdv))
    if early_stopping_rounds is not None:
        everything.append(EarlyStopping(rounds=early_stopping_rounds, maximize=maximize))
    race = _Race(packs, CallbackContainer(everything), num_boost_round, obj, custom_metric)
    with quiet(known):
        history = race.run()
    return _table(history, race.kept, as_pandas)


class _Race:
    """The folds in threads of their own, which wait for each other after every round."""

    def __init__(
        self,
        packs: list[CVPack],
        container: CallbackContainer,
        rounds: int,
        objective: CustomObjective | None,
        metric: CustomMetric | None,
    ) -> None:
        self._packs = packs
        self._model = PackedBooster(packs)
        self._container = container
        self._rounds = rounds
        self._objective = objective
        self._metric = metric
        self._logs: list[CallbackContainer] = []
        self._stop = False
        self._epoch = 0
        self._error: BaseException | None = None
        self._barrier = threading.Barrier(len(packs), self._between)
        #: rounds that the table keeps: up to the best where training stopped early
        self.kept = rounds

    def run(self) -> dict[str, dict[str, list[tuple[float, float]]]]:
        """Train; evaluation set -> metric -> mean and deviation of every round."""
        self._container.before_training(self._model)
        self._stop = self._container.before_iteration(self._model, 0)
        self._logs = [CallbackContainer([_Turn(self)]) for _ in self._packs]
        threads = [
            threading.Thread(target=self._fold, args=pair)
            for pair in zip(self._packs, self._logs, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._error is not None:
            raise self._error
        self._container.after_training(self._model)
        if self._stop and self._model.attr("best_iteration") is not None:
            self.kept = self._model.best_iteration + 1
        return self._container.history

    def _fold(self, pack: CVPack, log: CallbackContainer) -> None:
        evals = [(pack.dtrain, "train"), (pack.dtest, "test")]
        try:
            pack.bst._train(pack.dtrain, self._rounds, log, evals, self._objective, self._metric)
        except BaseException as error:
            if not isinstance(error, threading.BrokenBarrierError) and self._error is None:
                self._error = error
            self._barrier.abort()

    def finished(self) -> bool:
        """Called by every fold after a round; whether to stop."""
        self._barrier.wait()
        return self._stop

    @property
    def stopped(self) -> bool:
        """Whether no round is to begin any more."""
        return self._stop

    def _between(self) -> None:
        """Run by one of the waiting threads, when all folds have finished a round."""
        try:
            for data, known in self._logs[0].history.items():
                for metric in known:
                    values = [log.history[data][metric][-1] for log in self._logs]
                    self._container.record(data, metric, (float(np.mean(values)), float(np.std(values))))
            self._stop = self._container.after_iteration(self._model, self._epoch)
            self._epoch += 1
            if not self._stop and self._epoch < self._rounds:
                self._stop = self._container.before_iteration(self._model, self._epoch)
        except BaseException as error:
            self._error = error
            raise


class _Turn(TrainingCallback):
    """The callback of one fold."""

    def __init__(self, race: _Race) -> None:
        self._race = race

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self._race.stopped

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        return self._race.finished()


def _folds(
    dtrain: DMatrix, nfold: int, stratified: bool, folds: Any, shuffle: bool, seed: int
) -> Iterable[tuple[Rows, Rows]]:
    rows = np.arange(dtrain.num_row())
    if folds is not None:
        if hasattr(folds, "split"):
            return list(folds.split(X=rows[:, None], y=dtrain.get_label()))
        return [(np.asarray(train), np.asarray(test)) for train, test in folds]
    if nfold < 2 or nfold > dtrain.num_row():
        raise InputError(f"nfold must be from 2 to the number of rows, {dtrain.num_row()}, not {nfold!r}.")
    if stratified:
        from sklearn.model_selection import StratifiedKFold

        splitter = StratifiedKFold(n_splits=nfold, shuffle=shuffle, random_state=seed if shuffle else None)
        return list(splitter.split(rows[:, None], dtrain.get_label()))
    order = np.random.RandomState(seed).permutation(rows) if shuffle else rows
    parts = np.array_split(order, nfold)
    return [(np.concatenate([*parts[:k], *parts[k + 1 :]]), part) for k, part in enumerate(parts)]


def _table(history: Mapping[str, Any], kept: int, as_pandas: bool) -> Any:
    table: dict[str, list[float]] = {}
    for data, known in history.items():
        for metric, values in known.items():
            table[f"{data}-{metric}-mean"] = [mean for mean, _ in values[:kept]]
            table[f"{data}-{metric}-std"] = [deviation for _, deviation in values[:kept]]
    if not as_pandas:
        return table
    try:
        import pandas as pd
    except ImportError:
        return table
    return pd.DataFrame(table)
