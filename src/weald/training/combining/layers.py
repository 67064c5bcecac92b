"""A layer of members over any estimators: fitted to folds, asked about the rows that they have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.parallel import Parallel, delayed

from weald.binning import BinnedTable, bin_once
from weald.data import read_weights
from weald.runtime.errors import InputError
from weald.training.classical.members import codes_of, params_of_rows, probabilities_of, take_rows

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Fold = tuple[Rows, Rows]  # the rows to fit, the rows to predict

METHODS = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True)
class Member:
    """An unfitted estimator with its name, what it is asked for, and what its ``fit`` is given beside X and y."""

    name: str
    estimator: Any
    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Layer:
    """Fitted members: one model each, or one a fold, whose outputs are averaged.

    ``classes`` are the labels as the models know them, sorted; None for numbers, and for several labels a row, each 0 or 1.
    """

    names: Sequence[str]
    methods: Sequence[str]
    models: Sequence[Sequence[Any]]
    classes: NDArray[Any] | None

    def outputs(self, X: Any) -> list[Floats]:
        """(rows, columns) of every member: probabilities (of two classes the second), decisions or predictions."""
        outputs = []
        for name, method, models in zip(self.names, self.methods, self.models, strict=True):
            said = [_output(model, name, method, X, self.classes) for model in models]
            votes = self.classes is not None and method == "predict" and is_classifier(models[0])
            outputs.append(_most_frequent(said, self.classes) if votes else _mean(said))
        return outputs


@dataclass(frozen=True)
class Stack:
    """Layers on top of each other: a layer's outputs, and with ``passthrough`` the table, are the next one's input."""

    layers: Sequence[Layer]
    passthrough: bool

    def top(self, X: Any) -> Any:
        """What the last layer makes of a table: the final estimator's input."""
        inputs = X
        for layer in self.layers:
            inputs = join(layer.outputs(inputs), X if self.passthrough else None)
        return inputs


def join(outputs: Sequence[Floats], X: Any) -> Any:
    """Outputs side by side, and behind them the table, if it is given; sparse when the table is."""
    if X is None:
        return np.hstack(outputs)
    if scipy.sparse.issparse(X):
        return scipy.sparse.hstack([*outputs, X], format=X.format)
    return np.hstack([*outputs, np.asarray(X)])


def method_of(name: str, estimator: Any, wanted: str) -> str:
    """The method that a member is asked by: the wanted one, or with "auto" the first of `METHODS` that it has."""
    for method in METHODS if wanted == "auto" else (wanted,):
        if hasattr(estimator, method):
            return method
    raise InputError(
        f"member {name!r} is a {type(estimator).__name__}, which has no "
        f"{'method to predict' if wanted == 'auto' else wanted}; choose another stack_method."
    )


def cross_fit(
    members: Sequence[Member],
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any] | None,
    folds: Sequence[Fold],
    refit: bool,
    run: Parallel,
) -> tuple[Layer, list[Floats]]:
    """Fit every member to every fold, and give what it says of the fold's other rows.

    The outputs are in the order of the folds' rows to predict, one fold after the other. The layer has the members
    fitted to all rows, or with ``refit=False`` the models of the folds. Weald's members share one binned table.
    """
    inputs = _inputs(members, X, len(y))
    tasks = [
        delayed(_fit_fold)(member, table, y, classes, fold, not refit)
        for member, table in zip(members, inputs, strict=True)
        for fold in folds
    ]
    if refit:
        tasks += [delayed(_fit_all)(member, table, y) for member, table in zip(members, inputs, strict=True)]
    done = run(tasks)
    models, outputs = [], []
    for number in range(len(members)):
        of_folds = done[number * len(folds) : (number + 1) * len(folds)]
        outputs.append(np.concatenate([output for _, output in of_folds]))
        models.append(
            [done[len(members) * len(folds) + number]] if refit else [model for model, _ in of_folds]
        )
    return layer_of(members, models, classes), outputs


def fit_all(
    members: Sequence[Member], X: Any, y: NDArray[Any], classes: NDArray[Any] | None, run: Parallel
) -> Layer:
    """Fit every member to all rows."""
    tables = zip(members, _inputs(members, X, len(y)), strict=True)
    models = run(delayed(_fit_all)(member, table, y) for member, table in tables)
    return layer_of(members, [[model] for model in models], classes)


def layer_of(
    members: Sequence[Member], models: Sequence[Sequence[Any]], classes: NDArray[Any] | None
) -> Layer:
    """The layer of some members' fitted models."""
    names, methods = [member.name for member in members], [member.method for member in members]
    return Layer(names, methods, models, classes)


def _inputs(members: Sequence[Member], X: Any, n_rows: int) -> list[Any]:
    """What every member is fitted to: the one binned table where it can be, the table itself otherwise."""
    weights = {id(weight): weight for weight in (member.params.get("sample_weight") for member in members)}
    weight = read_weights(next(iter(weights.values())), n_rows) if len(weights) == 1 else None
    table = bin_once(X, [member.estimator for member in members], weight=weight)
    return [table if table is not None and table.serves(member.estimator) else X for member in members]


def _fit_fold(
    member: Member, table: Any, y: NDArray[Any], classes: NDArray[Any] | None, fold: Fold, keep: bool
) -> tuple[Any, Floats]:
    """(the fold's model if it is to be kept, what it says of the rows that it was not fitted to)."""
    train, test = fold
    model = clone(member.estimator)
    model.fit(take_rows(table, train), y[train], **params_of_rows(member.params, train, len(y)))
    unseen = take_rows(table.X if isinstance(table, BinnedTable) else table, test)
    return model if keep else None, _output(model, member.name, member.method, unseen, classes)


def _fit_all(member: Member, table: Any, y: NDArray[Any]) -> Any:
    model = clone(member.estimator)
    model.fit(table, y, **member.params)
    return model


def _output(model: Any, name: str, method: str, X: Any, classes: NDArray[Any] | None) -> Floats:
    """What a model says of a table, as columns of floats."""
    if classes is None or not is_classifier(model):
        said = getattr(model, method)(X)
        return _of_each_label(model, said) if isinstance(said, list) else _columns(said)
    if method == "predict":
        return _columns(codes_of(model, X, classes))
    if method == "predict_proba":
        probabilities = probabilities_of(model, X, classes)
        return probabilities[:, 1:] if len(classes) == 2 else probabilities
    if len(model.classes_) < len(classes):
        raise InputError(
            f"member {name!r} was fitted to rows of {len(model.classes_)} of the {len(classes)} classes, so its "
            "decision_function has columns for these only; use folds with all classes, or stack_method='predict_proba'."
        )
    return _columns(model.decision_function(X))


def _of_each_label(model: Any, probabilities: Sequence[Any]) -> Floats:
    """(rows, labels): of several labels, each 0 or 1, the probabilities of 1."""
    columns = [
        np.asarray(part)[:, 1] if len(classes) == 2 else np.full(len(part), float(classes[0]))
        for classes, part in zip(model.classes_, probabilities, strict=True)
    ]
    return np.column_stack(columns).astype(np.float64, copy=False)


def _columns(values: Any) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    return array.reshape(-1, 1) if array.ndim == 1 else array


def _mean(said: Sequence[Floats]) -> Floats:
    if len(said) == 1:
        return said[0]
    mean: Floats = np.mean(said, axis=0)
    return mean


def _most_frequent(said: Sequence[Floats], classes: NDArray[Any] | None) -> Floats:
    """The label that most models say; of equals the first."""
    assert classes is not None
    codes = np.hstack(said).astype(np.int64)
    votes = (codes[:, :, None] == np.arange(len(classes))).sum(axis=1)
    return _columns(votes.argmax(axis=1))
