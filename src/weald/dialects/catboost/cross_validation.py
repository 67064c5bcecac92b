"""`train`, and `cv`: training on all folds side by side, a round at a time, with the metrics of each round averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weald.dialects.catboost.basic import DOOR
from weald.dialects.catboost.fitting import finished, prepared
from weald.dialects.catboost.model import CatBoost
from weald.dialects.catboost.objectives import CLASSES
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.refusals import OF_CV, REFUSALS
from weald.dialects.catboost.training import LEARN, Course, Told, speaker
from weald.dialects.shared.folds import add_means, fold_rows
from weald.params.catboost import read_parameters
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

_VALIDATION = "validation"
#: arguments of `fit` that `train` takes, too
_OF_FIT = (
    "logging_level", "verbose", "plot", "plot_file", "verbose_eval", "metric_period", "early_stopping_rounds",
    "save_snapshot", "snapshot_file", "snapshot_interval", "init_model", "log_cout", "log_cerr",
)  # fmt: skip
#: parameters of the model that `cv` takes, too
_OF_TRAINING = (
    "iterations", "num_boost_round", "logging_level", "verbose", "verbose_eval", "metric_period",
    "early_stopping_rounds", "save_snapshot", "snapshot_file", "snapshot_interval",
)  # fmt: skip


@DOOR.function
def train(
    pool: Pool | None = None,
    params: dict[str, Any] | None = None,
    dtrain: Pool | None = None,
    logging_level: str | None = None,
    verbose: bool | int | None = None,
    iterations: int | None = None,
    num_boost_round: int | None = None,
    evals: Any = None,
    eval_set: Any = None,
    plot: bool | None = None,
    plot_file: Any = None,
    verbose_eval: bool | int | None = None,
    metric_period: int | None = None,
    early_stopping_rounds: int | None = None,
    save_snapshot: bool | None = None,
    snapshot_file: Any = None,
    snapshot_interval: int | None = None,
    init_model: Any = None,
    log_cout: Any = None,
    log_cerr: Any = None,
) -> CatBoost:
    """Train a model on a `Pool`.

    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> train(Pool(X, X[:, 0]), {"iterations": 3, "verbose": False}).tree_count_
    3
    """
    given = locals()
    data, own = _arguments(pool, dtrain, params, iterations=iterations, num_boost_round=num_boost_round)
    if evals is not None and eval_set is not None:
        raise InputError("evals and eval_set say the same; give one of them.")
    of_fit = {name: given[name] for name in _OF_FIT}
    model = CatBoost(own)
    model.fit(data, eval_set=eval_set if evals is None else evals, **of_fit)
    return model


@DOOR.function
@REFUSALS.arguments(OF_CV)
def cv(
    pool: Pool | None = None,
    params: dict[str, Any] | None = None,
    dtrain: Pool | None = None,
    iterations: int | None = None,
    num_boost_round: int | None = None,
    fold_count: int | None = None,
    nfold: int | None = None,
    inverted: bool = False,
    partition_random_seed: int = 0,
    seed: int | None = None,
    shuffle: bool = True,
    logging_level: str | None = None,
    stratified: bool | None = None,
    as_pandas: bool = True,
    metric_period: int | None = None,
    verbose: bool | int | None = None,
    verbose_eval: bool | int | None = None,
    plot: bool = False,
    plot_file: Any = None,
    early_stopping_rounds: int | None = None,
    save_snapshot: bool | None = None,
    snapshot_file: Any = None,
    snapshot_interval: int | None = None,
    metric_update_interval: float = 0.5,
    folds: Any = None,
    type: str = "Classical",
    return_models: bool = False,
    log_cout: Any = None,
    log_cerr: Any = None,
) -> Any:
    """Cross-validate: a frame, or a dict, with means and deviations of the metrics, "test-Logloss-mean", for every round.

    fold_count : folds (3); ``inverted``: train on one and evaluate the others
    stratified : with all classes in every fold; None: where the loss is one of classes
    folds : a splitter of scikit-learn's, or pairs of training and test rows
    return_models : also the folds' models

    >>> X = np.arange(120.0).reshape(-1, 1)
    >>> table = cv(Pool(X, X[:, 0]), {"loss_function": "RMSE", "iterations": 3, "verbose": False}, as_pandas=False)
    >>> list(table)[:3], len(table["test-RMSE-mean"])
    (['iterations', 'test-RMSE-mean', 'test-RMSE-std'], 3)
    """
    given = locals()
    if sum(one is not None for one in (fold_count, nfold, folds)) > 1:
        raise InputError("fold_count, nfold and folds all say what the folds are; give one of them.")
    if seed is not None and partition_random_seed != 0:
        raise InputError("seed and partition_random_seed say the same; give one of them.")
    data, own = _arguments(pool, dtrain, params, **{name: given[name] for name in _OF_TRAINING})
    known = read_parameters(own)
    if "loss_function" not in known:
        raise InputError("cv needs loss_function among params.")
    loss = known["loss_function"]
    if stratified is None:
        stratified = isinstance(loss, str) and loss.partition(":")[0] in CLASSES
    seed = partition_random_seed if seed is None else seed
    count = fold_count or nfold or 3
    pairs = fold_rows(data.labels, data.num_row(), count, stratified, folds, shuffle, seed)
    if inverted:
        pairs = [(test, rows) for rows, test in pairs]
    kind = load_extra("pandas", "cv with as_pandas=True").DataFrame if as_pandas else dict
    table, models = _Folds(own, data, pairs, log_cout).run()
    return (kind(table), models) if return_models else kind(table)


class _Folds:
    """The folds' trainings, a round at a time, with the metrics of all."""

    def __init__(
        self, params: dict[str, Any], data: Pool, pairs: Sequence[tuple[Any, Any]], log_cout: Any
    ) -> None:
        self._folds = []
        quiet = {
            name: value
            for name, value in params.items()
            if name not in ("verbose", "logging_level", "silent")
        }
        for rows, test in pairs:
            part, rest = data.slice(np.sort(rows)), data.slice(np.sort(test))
            one = {**quiet, "verbose": False, "use_best_model": False}
            self._folds.append(prepared("CatBoost", ("RMSE", None), one, (part, None, {}), rest))
        full = {**self._folds[0][0].full, "verbose": None, **read_parameters(params)}
        # The detector watches the mean of the folds, not each of them.
        self._course = Course(full, self._folds[0][0].metrics, [_VALIDATION], say=speaker(full, log_cout))
        self._params = params
        self._table: dict[str, list[float]] = {"iterations": []}

    def run(self) -> tuple[dict[str, list[float]], list[CatBoost]]:
        """Train; the table of means and deviations, and the models."""
        runs = [request.open() for request, _ in self._folds]
        # Each has its own curves; the detector watches those of all.
        courses = [Course(request.full, request.metrics, [_VALIDATION]) for request, _ in self._folds]
        for number in range(self._course.full["iterations"]):
            for run in runs:
                run.step()
            if not self._course.is_evaluated(number):
                continue
            told = [course.told(run) for course, run in zip(courses, runs, strict=True)]
            for course, own in zip(courses, told, strict=True):
                course.note(number, own)
            if self._course.record(number, self._joined(number, told)):
                break
        models = []
        for (request, classes), course, run in zip(self._folds, courses, runs, strict=True):
            model = CatBoost(dict(self._params))
            model._Booster = finished(request, classes, course, run)
            models.append(model)
        return self._table, models

    def _joined(self, number: int, told: list[Told]) -> Told:
        """The means of the folds' metrics; the table keeps them with their deviations."""
        self._table["iterations"].append(number)
        means: Told = {}
        for one in self._course.metrics:
            for title, name in (("test", _VALIDATION), ("train", LEARN)):
                if one.name not in told[0][name]:
                    continue
                values = [own[name][one.name] for own in told]
                mean, _ = add_means(self._table, f"{title}-{one.name}", values, "std", ddof=1)
                means.setdefault(name, {})[one.name] = mean
        return means


def _arguments(pool: Any, dtrain: Any, params: Any, **more: Any) -> tuple[Pool, dict[str, Any]]:
    """The pool under one of its names, and the parameters with those that were given beside them."""
    data = pool if pool is not None else dtrain
    if not isinstance(data, Pool) or (pool is not None and dtrain is not None):
        raise InputError("give a Pool as pool, or as dtrain.")
    return data, {**(params or {}), **{name: value for name, value in more.items() if value is not None}}
