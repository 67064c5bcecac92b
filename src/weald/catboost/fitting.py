"""From the arguments of a fit to a trained model: loss, labels, classes, weights and sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.catboost.metrics import metrics_of
from weald.catboost.objectives import CLASSES, Chosen, choose
from weald.catboost.pool import Pool, as_pool
from weald.catboost.trained import Trained
from weald.catboost.training import Course, Labelled, Training, speaker
from weald.catboost.translate import class_factors, resolved_parameters
from weald.data import read_classes, read_regression_target, read_several_classes, read_table
from weald.data.read import open_table
from weald.dialect.estimators import as_table
from weald.dialect.tables import Float64s
from weald.params.catboost import read_parameters, value_of
from weald.runtime.errors import InputError

_VALIDATION = "validation"


def fitted(
    owner: str,
    kind: tuple[str | None, str | None],
    given: Mapping[str, Any],
    data: tuple[Any, Any, Mapping[str, Any]],
    eval_set: Any,
    earlier: Trained | None,
    callbacks: Sequence[Any],
    log_cout: Any,
) -> Trained:
    """Train.

    ``kind``: the class's own loss, and whether its labels are "classes" or "numbers"; ``data``: X, y and what a Pool takes.
    """
    training, classes = prepared(owner, kind, given, data, eval_set)
    begin = 0 if earlier is None else earlier._rounds()
    say = speaker(training.full, log_cout)
    course = Course(
        training.full,
        training.metrics,
        [one.name for one in training.evals],
        _checked(callbacks),
        say,
        begin=begin,
    )
    if say is not None and "learning_rate" not in read_parameters(given):
        say(f"Learning rate set to {training.full['learning_rate']:.6g}")
    return finished(training, classes, course, earlier)


def finished(
    training: Training, classes: NDArray[Any] | None, course: Course, earlier: Trained | None = None
) -> Trained:
    """Run a training, and keep the rounds up to the best where that is asked for."""
    pool = training.train.pool
    model = training.run(course, None if earlier is None else earlier._fitted())
    trained = Trained(
        dict(training.full),
        training.chosen,
        classes,
        pool.get_feature_names(),
        course.curves,
        course.best_score,
        course.best_iteration,
    )
    trained._set_model(model)
    best = course.best_iteration
    shrinks = bool(training.full["use_best_model"]) and best is not None and best + 1 < trained._rounds()
    course.tell_best(shrinks)
    if shrinks and best is not None:
        trained.keep(range(best + 1))
    return trained


def prepared(
    owner: str,
    kind: tuple[str | None, str | None],
    given: Mapping[str, Any],
    data: tuple[Any, Any, Mapping[str, Any]],
    eval_set: Any,
) -> tuple[Training, NDArray[Any] | None]:
    """The training that a fit asks for, and its classes."""
    params = read_parameters(given)
    X, y, more = data
    columns = more.get("cat_features")
    if not isinstance(X, Pool):
        open_table(as_table(X))  # which says what is wrong with it
        more = {**more, "cat_features": params.get("cat_features") if columns is None else columns}
    pool = as_pool(X, y, **more)
    loss, labels_are = kind
    # A pool's labels are one a row; others are read, and warned of, as scikit-learn does.
    target = pool.labels if isinstance(X, Pool) else y
    codes, classes, chosen = _labels(
        owner, params.get("loss_function", loss), labels_are, (target, pool), params
    )
    sets = _sets(eval_set, pool)
    full = resolved_parameters(params, chosen, n_rows=pool.num_row(), has_evals=bool(sets))
    full["cat_features"] = pool.get_cat_feature_indices()
    _check_missing(full, pool)
    factors = None
    if classes is not None:
        sums = np.bincount(codes.astype(np.int64), pool.weights, len(classes)).astype(np.float64)
        factors = class_factors(full, classes.tolist(), sums)
        full["class_names"] = classes.tolist()
    elif any(params.get(name) is not None for name in ("class_weights", "auto_class_weights")):
        raise InputError(f"weights of classes need a loss of classes, but loss_function is {chosen.name!r}.")
    train = Labelled(pool, codes, _weighted(codes, pool.weights, factors))
    names = [_VALIDATION] if len(sets) == 1 else [f"{_VALIDATION}_{place}" for place in range(len(sets))]
    evals = []
    for name, one in zip(names, sets, strict=True):
        own = known_labels(one, chosen, classes, full, owner)
        evals.append(Labelled(one, own, _weighted(own, one.weights, factors), name))
    return Training(full, chosen, train, evals, metrics_of(params, chosen)), classes


def _labels(
    owner: str, loss: Any, labels_are: str | None, data: tuple[Any, Pool], params: Mapping[str, Any]
) -> tuple[Float64s, NDArray[Any] | None, Chosen]:
    """The labels as numbers, the classes where they are some, and the loss; ``data``: labels as they were given, and the pool."""
    target, pool = data
    name = loss.partition(":")[0] if isinstance(loss, str) else ""
    shares = name == "CrossEntropy"
    if labels_are == "numbers" and (name in CLASSES or shares):
        raise InputError(f"loss_function={name!r} is for classes; use CatBoostClassifier.")
    if shares or not (labels_are == "classes" or name in CLASSES):
        y = read_regression_target(target, pool.num_row(), owner=owner)
        return y, np.array([0, 1]) if shares else None, choose(loss, 2)
    values = _bordered(target, params)
    codes, classes = _read_classes(values, pool, params, owner)
    several = len(classes) > 2 or value_of(params, "classes_count") is not None
    chosen = choose(loss if loss is not None else "MultiClass" if several else "Logloss", len(classes))
    if chosen.own is None and not chosen.of_classes:
        raise InputError(f"loss_function={chosen.name!r} is for numbers; use CatBoostRegressor.")
    if not chosen.several and len(classes) > 2:
        raise InputError(
            f"loss_function={chosen.name!r} is for two classes, but the labels have {len(classes)}; use 'MultiClass'."
        )
    return codes, classes, chosen


def _read_classes(
    values: Any, pool: Pool, params: Mapping[str, Any], owner: str
) -> tuple[Float64s, NDArray[Any]]:
    """Codes of the labels and the classes, in the order of class_names where they are given."""
    names, count = params.get("class_names"), params.get("classes_count")
    if names is not None:
        classes = np.array(list(names))
        return _coded(values, classes, owner, "the labels have"), classes
    if count is not None:
        classes = np.arange(int(count))
        return _coded(values, classes, owner, "the labels have"), classes
    codes, classes = read_several_classes(values, pool.num_row(), pool.weights, owner=owner)
    return codes.astype(np.float64), classes


def _coded(values: Any, classes: NDArray[Any], owner: str, who: str) -> Float64s:
    codes, found = read_classes(values, len(values), owner=owner)
    known = {value: place for place, value in enumerate(classes.tolist())}
    unknown = [value for value in found.tolist() if value not in known]
    if unknown:
        raise InputError(f"{who} the class {unknown[0]!r}, which is not one of {classes.tolist()}.")
    places: Float64s = np.array([known[value] for value in found.tolist()], np.float64)[codes]
    return places


def _bordered(values: Any, params: Mapping[str, Any]) -> Any:
    border = params.get("target_border")
    return values if border is None else (np.asarray(values, np.float64) > border).astype(np.int64)


def known_labels(
    pool: Pool, chosen: Chosen, classes: NDArray[Any] | None, full: Mapping[str, Any], owner: str
) -> Float64s:
    """The labels of another set than the training's as numbers."""
    if classes is None or chosen.name == "CrossEntropy":
        return read_regression_target(pool.labels, pool.num_row(), owner=owner)
    return _coded(_bordered(pool.labels, full), classes, owner, "eval_set has")


def _weighted(codes: Float64s, weight: Float64s | None, factors: Float64s | None) -> Float64s | None:
    """The rows' weights times those of their classes."""
    if factors is None:
        return weight
    own: Float64s = factors[codes.astype(np.int64)]
    return own if weight is None else own * weight


def _sets(eval_set: Any, train: Pool) -> list[Pool]:
    """The evaluation sets: a Pool, a pair (X, y), or a list of these."""
    if eval_set is None:
        return []
    several = [eval_set] if isinstance(eval_set, Pool | tuple) else eval_set
    if not isinstance(several, list):
        raise InputError("eval_set must be a Pool, a pair (X, y), or a list of these.")
    pools = []
    for one in several:
        if not isinstance(one, Pool) and not (isinstance(one, tuple | list) and len(one) == 2):
            raise InputError("eval_set must be a Pool, a pair (X, y), or a list of these.")
        own = one if isinstance(one, Pool) else _like(train, *one)
        if own.num_col() != train.num_col():
            raise InputError(f"eval_set has {own.num_col()} columns, but X has {train.num_col()}.")
        pools.append(own)
    return pools


def _like(train: Pool, X: Any, y: Any) -> Pool:
    return Pool(X, y, cat_features=train.get_cat_feature_indices())


def _check_missing(full: Mapping[str, Any], pool: Pool) -> None:
    if full["nan_mode"] != "Forbidden":
        return
    for _, block in read_table(pool.table, categorical=pool.get_cat_feature_indices() or "auto").blocks():
        if np.isnan(block).any():
            raise InputError("the table has missing values, but nan_mode is 'Forbidden'.")


def _checked(callbacks: Sequence[Any]) -> list[Any]:
    for callback in callbacks:
        if not hasattr(callback, "after_iteration"):
            raise InputError(f"callbacks must have a method after_iteration, but {callback!r} has none.")
    return list(callbacks)
