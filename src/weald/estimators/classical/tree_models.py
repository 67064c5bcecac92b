"""Fitted trees and forests: their scores, and model files of them, whose headers are checked when they come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.data import Dataset, Schema
from weald.estimators.classical.tree_labels import Classes
from weald.estimators.classical.tree_nodes import TreeNodes, with_means_above
from weald.estimators.shared.persistence import check_schema
from weald.estimators.shared.plain import (
    check_parameters,
    labels_from_json,
    labels_to_json,
    parameters_to_json,
    restored,
)
from weald.forest import file as model_file
from weald.forest.container import Container
from weald.forest.forest import Forest
from weald.forest.predict import raw_scores
from weald.runtime.errors import ModelFileError
from weald.runtime.threads import hire
from weald.training.classical.joined import leaf_probabilities, leaf_values

# Rows times trees below which prediction does not ask for threads.
_SMALL_PREDICTION = 20_000
_KEYS = {"estimator", "params", "schema", "classes", "oob_score"}


@dataclass(frozen=True)
class TreeModel:
    """All that prediction needs and a model file holds; ``classes`` of every output, None for a regression."""

    forest: Forest
    schema: Schema
    classes: Classes | None
    oob_score: float | None
    params: Mapping[str, Any] | None = (
        None  # of the fit, as its file has them; None: those that the estimator has
    )

    @property
    def n_outputs(self) -> int:
        """The number of labels that a row has."""
        return self.forest.n_outputs if self.classes is None else len(self.classes)


def forest_scores(forest: Forest, dataset: Dataset, n_jobs: int | None) -> NDArray[np.float64]:
    """Sums of what the trees say, (outputs, rows)."""
    is_small = dataset.n_rows * forest.n_trees < _SMALL_PREDICTION
    return raw_scores(forest, dataset.blocks(), dataset.n_rows, 1 if is_small else hire(n_jobs))


def nodes_of(model: TreeModel, criterion: str) -> TreeNodes:
    """The nodes of a model of one tree, as scikit-learn names them."""
    tree, classes = model.forest, model.classes
    leaf = tree.feature < 0
    if classes is None:
        n_classes = np.ones(tree.n_outputs, np.int64)
        own = leaf_values(tree)[:, :, None]
    else:
        n_classes = np.array([len(found) for found in classes])
        own = np.zeros((tree.n_leaves, len(classes), n_classes.max()))
        parts = np.split(_shares(tree, int(n_classes[0])), np.cumsum(n_classes)[:-1], axis=1)
        for output, part in enumerate(parts):
            own[:, output, : part.shape[1]] = part
    values = np.full((tree.n_nodes, *own.shape[1:]), np.nan)
    values[leaf] = own
    if criterion != "absolute_error":
        values = with_means_above(tree, values)
    return TreeNodes(tree, model.schema, criterion, n_classes, values, tree.gain)


def _shares(tree: Forest, first_classes: int) -> NDArray[np.float64]:
    """(leaves, classes of all outputs): the classes' shares in the leaves."""
    if first_classes == 1 and not tree.has_vectors:
        return np.ones((tree.n_leaves, 1))
    return leaf_probabilities(tree)


def to_bytes(estimator: Any, model: TreeModel) -> bytes:
    """The model file's bytes; equal for equal models."""
    header = {
        "estimator": type(estimator).__name__,
        "params": parameters_to_json(estimator) if model.params is None else dict(model.params),
        "schema": model.schema.to_json(),
        "classes": None if model.classes is None else [labels_to_json(found) for found in model.classes],
        "oob_score": model.oob_score,
    }
    return model_file.dumps(model.forest, header)


def from_content(kind: type[Any], content: Container) -> tuple[dict[str, Any], TreeModel]:
    """Parameters and model of an opened file; everything is checked."""
    forest, header = model_file.forest_of(content), content.header
    name = kind.__name__
    if set(header) != _KEYS or header["estimator"] != name:
        raise ModelFileError(f"The file's header does not have the fields of a {name}.")
    schema = Schema.from_json(header["schema"])
    check_schema(forest, schema)
    classes = _checked_classes(header["classes"], name)
    _check_outputs(forest, classes, name)
    score = header["oob_score"]
    if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
        raise ModelFileError("The file's oob_score must be a number or nothing.")
    if not isinstance(header["params"], dict):
        raise ModelFileError("The file's params must be a dictionary.")
    params = {key: restored(value) for key, value in header["params"].items()}
    check_parameters(kind, params)
    model = TreeModel(forest, schema, classes, None if score is None else float(score), header["params"])
    return params, model


def _checked_classes(stored: Any, name: str) -> Classes | None:
    if name.endswith("Regressor"):
        if stored is not None:
            raise ModelFileError(f"A {name} cannot have classes.")
        return None
    if not isinstance(stored, list) or not stored:
        raise ModelFileError(f"A {name} must have the classes of every output.")
    classes = tuple(labels_from_json(entry, "classes") for entry in stored)
    for found in classes:
        if not len(found) or len(set(found.tolist())) != len(found):
            raise ModelFileError("The file's classes must be different strings, booleans or numbers.")
    return classes


def _check_outputs(forest: Forest, classes: Classes | None, name: str) -> None:
    if forest.n_trees < 1 or (name.startswith("DecisionTree") and forest.n_trees > 1):
        raise ModelFileError(f"A {name} cannot have {forest.n_trees} trees.")
    wanted = forest.n_outputs
    if classes is not None:
        sizes = [len(found) for found in classes]
        wanted = 1 if len(sizes) == 1 and sizes[0] <= 2 else sum(sizes)
    if forest.n_outputs != wanted or forest.has_vectors != (wanted > 1):
        leaves = "vector leaves" if forest.has_vectors else "numbers in its leaves"
        raise ModelFileError(
            f"A {name} cannot have {forest.n_outputs} outputs and {leaves} with these classes."
        )
    if forest.base_score.any():
        raise ModelFileError(f"A {name} begins at 0, not at {forest.base_score.tolist()}.")
