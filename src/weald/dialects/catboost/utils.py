"""`catboost.utils`: metrics of raw scores, counts of classes, and how far a threshold trades one error for the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weald.devices.found import list_devices
from weald.dialects.catboost.basic import DOOR
from weald.dialects.catboost.confusion import confusion
from weald.dialects.catboost.metrics import kind_of, metric_of
from weald.dialects.catboost.model import CatBoost
from weald.dialects.catboost.objectives import Chosen, choose
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.refusals import OF_CURVE, OF_EVAL_METRIC, OF_UTILS, REFUSALS_OF_UTILS
from weald.dialects.shared.tables import Float64s, as_array, one_a_row
from weald.runtime.errors import InputError, MissingExtraError, NotSupportedError

#: false positive rates, true positive rates and thresholds, which descend from 1 to 0
Curve = tuple[Float64s, Float64s, Float64s]

__all__ = [
    "eval_metric", "get_confusion_matrix", "get_fnr_curve", "get_fpr_curve", "get_gpu_device_count", "get_roc_curve",
    "select_threshold",
]  # fmt: skip

__getattr__ = REFUSALS_OF_UTILS.names(OF_UTILS)


@DOOR.function
@REFUSALS_OF_UTILS.arguments(OF_EVAL_METRIC)
def eval_metric(
    label: Any,
    approx: Any,
    metric: str,
    weight: Any = None,
    group_id: Any = None,
    group_weight: Any = None,
    subgroup_id: Any = None,
    pairs: Any = None,
    thread_count: int = -1,
) -> list[float]:
    """The value of a metric, in a list, of raw scores: one a row, or (rows, classes).

    label : numbers; of two classes 0 and 1, of several their places 0, 1, …
    weight : one a row; also metrics that training takes without weights (AUC) count them
    thread_count : accepted; a metric is one thread's work

    >>> eval_metric([0, 1, 1, 0], [-1.0, 2.0, -0.5, -0.1], "Accuracy")
    [0.75]
    """
    scores = as_array("approx", approx)
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim not in (1, 2) or not scores.size or not np.isfinite(scores).all():
        raise InputError(
            f"approx must be finite numbers, one a row or (rows, outputs), not of the shape {scores.shape}."
        )
    y = one_a_row("label", label, len(scores))
    chosen = _loss_of(metric, 1 if scores.ndim == 1 else scores.shape[1])
    _check_labels(y, metric, chosen)
    weights = None if weight is None else one_a_row("weight", weight, len(scores))
    raw = np.ascontiguousarray(scores.T if scores.ndim == 2 else scores[None])
    return [metric_of(_weighed(metric), chosen).value(chosen.loss(), raw, y, weights)]


def _weighed(metric: str) -> str:
    """A metric whose weights count, if it does not say otherwise: here who gives some wants them."""
    if "use_weights" in metric:
        return metric
    return f"{metric}{';' if ':' in metric else ':'}use_weights=true"


def _loss_of(metric: str, n_outputs: int) -> Chosen:
    """A loss whose raw scores a metric is of."""
    needs = kind_of(metric)
    if needs in ("positive", "quantiles", "uncertainty"):
        chosen = choose(metric, 0)
    elif needs == "regression":
        chosen = choose("RMSE", 0)
    elif needs == "several" or n_outputs > 1:
        chosen = choose("MultiClass", n_outputs)
    else:
        chosen = choose("Logloss", 2)
    if chosen.n_outputs != n_outputs or (chosen.several and n_outputs == 1):
        wanted = "a column for every class" if chosen.several else f"{chosen.n_outputs} a row"
        raise InputError(f"approx has {n_outputs} scores a row, but those of {metric!r} are {wanted}.")
    return chosen


def _check_labels(y: Float64s, metric: str, chosen: Chosen) -> None:
    if chosen.several:
        wrong = y[(y != np.floor(y)) | (y < 0) | (y >= chosen.n_classes)]
        wanted = f"whole numbers from 0 to {chosen.n_classes - 1}"
    elif chosen.of_classes:
        wrong, wanted = y[~((y >= 0.0) & (y <= 1.0))], "from 0 to 1"
    else:
        wrong, wanted = y[~np.isfinite(y)], "finite"
    if wrong.size:
        raise InputError(f"label must be {wanted} for the metric {metric!r}, not {wrong[0]:g}.")


def get_gpu_device_count() -> int:
    """How many GPUs OpenCL finds; 0 where pyopencl is not installed."""
    try:
        return sum(device.kind == "GPU" for device in list_devices())
    except MissingExtraError:
        return 0


@DOOR.function
def get_confusion_matrix(model: CatBoost, data: Pool, thread_count: int = -1) -> Float64s:
    """How many rows of every class, (class, predicted class), are taken for which; weights do not count.

    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = CatBoost({"loss_function": "Logloss", "iterations": 5, "verbose": False}).fit(X, X[:, 0] > 9)
    >>> get_confusion_matrix(model, Pool(X, X[:, 0] > 9)).tolist()
    [[10.0, 0.0], [0.0, 30.0]]
    """
    if not isinstance(data, Pool):
        raise InputError(f"data must be a Pool, not {type(data).__name__}.")
    _check_classes(model)
    chances = model._predict(data, "Probability", thread_count=thread_count)
    several = model._trained().chosen.several
    return confusion(model._codes(data), chances if several else chances[:, 1], None)


@DOOR.function
@REFUSALS_OF_UTILS.arguments(OF_CURVE)
def get_roc_curve(
    model: CatBoost, data: Pool | list[Pool], thread_count: int = -1, plot: bool = False
) -> Curve:
    """False positive rates, true positive rates, and the thresholds of the second class's chance that lead to them.

    Thresholds are halfway between two chances that there are, and there is one more where both errors are equally
    frequent. Weights do not count.

    data : a Pool, or a list of such

    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = CatBoost({"loss_function": "Logloss", "iterations": 5, "verbose": False}).fit(X, X[:, 0] > 9)
    >>> fpr, tpr, thresholds = get_roc_curve(model, Pool(X, X[:, 0] > 9))
    >>> float(fpr[-1]), float(tpr[-1]), float(thresholds[0]), float(thresholds[-1])
    (1.0, 1.0, 1.0, 0.0)
    """
    _check_classes(model)
    if model._trained().chosen.several:
        raise NotSupportedError(
            "get_roc_curve is of two classes, but the model has several; draw sklearn.metrics.RocCurveDisplay class by class."
        )
    pools = _pools(data)
    chances = np.concatenate(
        [model._predict(pool, "Probability", thread_count=thread_count)[:, 1] for pool in pools]
    )
    positive = np.concatenate([model._codes(pool) for pool in pools]) > 0.5
    if positive.all() or not positive.any():
        raise InputError("data must have rows of both classes.")
    return _with_equal_errors(*_corners(chances, positive))


def _corners(chances: Float64s, positive: Any) -> Curve:
    """The curve's points before and after every chance that there is, from the largest to the least."""
    values, place = np.unique(-chances, return_inverse=True)
    hits = np.append(0, np.cumsum(np.bincount(place.reshape(-1), positive, len(values))))
    rows = np.append(0, np.cumsum(np.bincount(place.reshape(-1), minlength=len(values))))
    misses = rows - hits
    thresholds = np.concatenate(([1.0], 0.5 * (-values[:-1] - values[1:]), [0.0]))
    return misses / misses[-1], hits / hits[-1], thresholds


def _with_equal_errors(fpr: Float64s, tpr: Float64s, thresholds: Float64s) -> Curve:
    """The curve with the point between two others at which false positives and false negatives are equally frequent."""
    excess = fpr + tpr - 1.0  # of false positives over false negatives; it ascends from -1 to 1
    after = int(np.argmax(excess >= 0.0))
    if excess[after] == 0.0:
        return fpr, tpr, thresholds
    share = -excess[after - 1] / (excess[after] - excess[after - 1])
    return tuple(  # type: ignore[return-value]
        np.insert(values, after, values[after - 1] + share * (values[after] - values[after - 1]))
        for values in (fpr, tpr, thresholds)
    )


@DOOR.function
@REFUSALS_OF_UTILS.arguments(OF_CURVE)
def get_fpr_curve(
    model: CatBoost | None = None,
    data: Pool | list[Pool] | None = None,
    curve: Sequence[Any] | None = None,
    thread_count: int = -1,
    plot: bool = False,
) -> tuple[Float64s, Float64s]:
    """Thresholds, and the false positive rates that they lead to, of a model and data or of a ROC curve."""
    fpr, _, thresholds = _curve_of(model, data, curve, thread_count)
    return thresholds, fpr


@DOOR.function
@REFUSALS_OF_UTILS.arguments(OF_CURVE)
def get_fnr_curve(
    model: CatBoost | None = None,
    data: Pool | list[Pool] | None = None,
    curve: Sequence[Any] | None = None,
    thread_count: int = -1,
    plot: bool = False,
) -> tuple[Float64s, Float64s]:
    """Thresholds, and the false negative rates that they lead to, of a model and data or of a ROC curve."""
    _, tpr, thresholds = _curve_of(model, data, curve, thread_count)
    return thresholds, 1.0 - tpr


@DOOR.function
def select_threshold(
    model: CatBoost | None = None,
    data: Pool | list[Pool] | None = None,
    curve: Sequence[Any] | None = None,
    FPR: float | None = None,
    FNR: float | None = None,
    thread_count: int = -1,
) -> float:
    """The least threshold with at most so many false positives (FPR), or the largest with at most so many false negatives (FNR).

    Without either it is that at which both errors are equally frequent. `set_probability_threshold` takes it.

    >>> select_threshold(curve=([0.0, 0.5, 1.0], [0.0, 1.0, 1.0], [1.0, 0.4, 0.0]), FPR=0.6)
    0.4
    """
    if FPR is not None and FNR is not None:
        raise InputError("FPR and FNR cannot both be given; leave one of them out.")
    for name, value in (("FPR", FPR), ("FNR", FNR)):
        if value is not None and not 0.0 <= value <= 1.0:
            raise InputError(f"{name} must be from 0 to 1, not {value!r}.")
    fpr, tpr, thresholds = _curve_of(model, data, curve, thread_count)
    fnr = 1.0 - tpr
    if FPR is not None:
        return float(thresholds[fpr <= FPR].min())
    if FNR is not None:
        return float(thresholds[fnr <= FNR].max())
    return float(thresholds[np.argmin(np.abs(fpr - fnr))])


def _curve_of(
    model: CatBoost | None, data: Pool | list[Pool] | None, curve: Sequence[Any] | None, thread_count: int
) -> Curve:
    if curve is None:
        if model is None or data is None:
            raise InputError("give model and data, or curve as get_roc_curve returns it.")
        return get_roc_curve(model, data, thread_count)
    if data is not None:
        raise InputError("data and curve cannot both be given; leave one of them out.")
    if not isinstance(curve, list | tuple) or len(curve) != 3 or len({len(part) for part in curve}) != 1:
        raise InputError("curve must be three arrays of one length: fpr, tpr and thresholds.")
    fpr, tpr, thresholds = (np.asarray(part, np.float64) for part in curve)
    return fpr, tpr, thresholds


def _pools(data: Any) -> list[Pool]:
    pools = data if isinstance(data, list) else [data]
    if not pools or not all(isinstance(pool, Pool) for pool in pools):
        raise InputError("data must be a Pool, or a list of such.")
    return pools


def _check_classes(model: Any) -> None:
    if not isinstance(model, CatBoost):
        raise InputError(f"model must be a model of weald.catboost, not {type(model).__name__}.")
    chosen = model._trained().chosen
    if not chosen.of_classes:
        raise InputError(f"model must be one of classes, but its loss_function is {chosen.name!r}.")
