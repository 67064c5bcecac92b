"""From the arguments of a fit to a trained model: loss, labels, classes, weights and sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import read_table
from weald.data.read import open_table
from weald.dialects.catboost.labels import known_labels, training_labels
from weald.dialects.catboost.metrics import metrics_of
from weald.dialects.catboost.pool import Pool, as_pool, categorical_positions, feature_positions
from weald.dialects.catboost.trained import Trained
from weald.dialects.catboost.training import Course, Request, given_rows, speaker
from weald.dialects.catboost.translate import class_factors, resolved_parameters
from weald.dialects.shared.estimators import as_table
from weald.dialects.shared.run import Run
from weald.dialects.shared.tables import is_frame
from weald.params.catboost import read_parameters
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
    request, classes = prepared(owner, kind, given, data, eval_set)
    say = speaker(request.full, log_cout)
    sets = [one.name for one in request.evals]
    begin = 0 if earlier is None else earlier._rounds()
    course = Course(request.full, request.metrics, sets, _checked(callbacks), say, begin)
    if say is not None and "learning_rate" not in read_parameters(given):
        say(f"Learning rate set to {request.full['learning_rate']:.6g}")
    run = request.open(None if earlier is None else earlier._fitted())
    for number in range(request.full["iterations"]):
        run.step()
        if course.is_evaluated(number) and course.record(number, course.told(run)):
            break
    return finished(request, classes, course, run)


def finished(request: Request, classes: NDArray[Any] | None, course: Course, run: Run) -> Trained:
    """The model of a request, with the rounds up to the best where that is asked for."""
    trained = Trained(
        dict(request.full),
        request.chosen,
        classes,
        request.pool.get_feature_names(),
        course.curves,
        course.best_score,
        course.best_iteration,
    )
    trained._set_model(run.model())
    best = course.best_iteration
    shrinks = bool(request.full["use_best_model"]) and best is not None and best + 1 < trained._rounds()
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
) -> tuple[Request, NDArray[Any] | None]:
    """The training that a fit asks for, and its classes."""
    params = read_parameters(given)
    pool, target = _training_pool(params, *data)
    if params.get("ignored_features") is not None:
        names = pool.get_feature_names()
        pool = pool.without(feature_positions("ignored_features", params["ignored_features"], names))
    loss, labels_are = kind
    codes, classes, chosen = training_labels(
        owner, params.get("loss_function", loss), labels_are, (target, pool), params
    )
    sets = _sets(eval_set, pool)
    full = resolved_parameters(params, chosen, n_rows=pool.num_row(), has_evals=bool(sets))
    full["cat_features"] = pool.get_cat_feature_indices()
    if full["nan_mode"] == "Forbidden":
        _check_complete("the table has", pool)
        for one in sets:
            _check_complete("eval_set has", one)
    factors = None
    if classes is not None:
        full["class_names"] = classes.tolist()
        if chosen.name != "CrossEntropy":  # whose labels are shares of the second class
            sums = np.bincount(codes.astype(np.int64), pool.weights, len(classes)).astype(np.float64)
            factors = class_factors(full, classes.tolist(), sums)
    train = given_rows(pool, codes, factors, chosen)
    names = [_VALIDATION] if len(sets) == 1 else [f"{_VALIDATION}_{place}" for place in range(len(sets))]
    evals = [
        given_rows(one, known_labels(one, chosen, classes, full, owner), factors, chosen, name)
        for name, one in zip(names, sets, strict=True)
    ]
    return Request(full, chosen, pool, train, evals, metrics_of(params, chosen)), classes


def _training_pool(params: Mapping[str, Any], X: Any, y: Any, more: Mapping[str, Any]) -> tuple[Pool, Any]:
    """The pool of a fit and its labels; a model's cat_features are those of a table, and must be those of a Pool."""
    own = params.get("cat_features")
    if not isinstance(X, Pool):
        open_table(as_table(X))  # which says what is wrong with it
        columns = more.get("cat_features")
        # Labels that are no pool's are read, and warned of, as scikit-learn does.
        return as_pool(X, y, **{**more, "cat_features": own if columns is None else columns}), y
    pool = as_pool(X, y, **more)
    if own is not None:
        wanted = categorical_positions(own, pool.get_feature_names())
        if wanted != pool.get_cat_feature_indices():
            raise InputError(
                f"cat_features of the model are the columns {wanted}, but those of the Pool are "
                f"{pool.get_cat_feature_indices()}; give them to the Pool alone."
            )
    return pool, pool.labels


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
        theirs, ours = _categories_of(own, train), _categories_of(train, own)
        if theirs != ours:
            raise InputError(
                f"cat_features of eval_set are {sorted(theirs)}, but those of the training set are {sorted(ours)}."
            )
        pools.append(own)
    return pools


def _categories_of(pool: Pool, other: Pool) -> set[Any]:
    """The columns of categories of a pool: by name where both pools are of frames, whose columns may be in any order."""
    columns = pool.get_cat_feature_indices()
    if pool.frame_names is None or other.frame_names is None:
        return set(columns)
    return {pool.frame_names[column] for column in columns}


def _like(train: Pool, X: Any, y: Any) -> Pool:
    """A Pool of another table with the training set's columns of categories."""
    columns: list[Any] = list(train.get_cat_feature_indices())
    if train.frame_names is not None and is_frame(X):
        present = set(open_table(X, least_rows=0).names)
        absent = [name for name in train.frame_names if name not in present]
        if absent:
            raise InputError(f"eval_set has no column {absent[0]!r}, which X has.")
        columns = [train.frame_names[column] for column in columns]
    return Pool(X, y, cat_features=columns)


def _check_complete(who: str, pool: Pool) -> None:
    """Refuse missing numbers; a missing category is a category."""
    found = read_table(pool.table, categorical=pool.get_cat_feature_indices() or "auto")
    numbers = np.flatnonzero(~found.schema.categorical_mask)
    for first, block in found.blocks():
        missing = np.isnan(block[:, numbers])
        if missing.any():
            row, place = np.argwhere(missing)[0]
            name = pool.get_feature_names()[numbers[place]]
            raise InputError(
                f"{who} a missing value in column {name!r}, row {first + row}, but nan_mode is 'Forbidden'."
            )


def _checked(callbacks: Sequence[Any]) -> list[Any]:
    for callback in callbacks:
        if not hasattr(callback, "after_iteration"):
            raise InputError(f"callbacks must have a method after_iteration, but {callback!r} has none.")
    return list(callbacks)
