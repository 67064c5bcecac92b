"""scikit-learn's HistGradientBoosting: trees on float64, with categories and missing values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data import Column, Schema
from weald.exchange.foreign.model import ForeignModel
from weald.exchange.foreign.trees import LEAF, ForeignTree, forest_of
from weald.runtime.errors import NotSupportedError

_LINKS: Final = {"HalfBinomialLoss": "logit", "HalfMultinomialLoss": "softmax"}
_EXPONENTIAL: Final = {"HalfPoissonLoss", "HalfGammaLoss"}


def histogram_boosting(model: Any, system: str, schema: Schema) -> ForeignModel:
    """The model of a fitted estimator; categorical columns come first in it, whatever their place in the table."""
    order, dictionaries = _columns(model, schema)
    columns = tuple(
        column if own is None else Column(column.name, "categorical", own)
        for column, own in zip(schema.columns, dictionaries, strict=True)
    )
    known = [0 if own is None else len(own) for own in dictionaries]
    trees = [_tree(predictor, order, known) for round_ in model._predictors for predictor in round_]
    base = np.asarray(model._baseline_prediction, np.float64).reshape(-1)
    forest = forest_of(trees, schema.n_columns, base)
    is_classifier = hasattr(model, "classes_")
    loss = type(model._loss).__name__
    link = _LINKS.get(loss, "log" if loss in _EXPONENTIAL else "identity")
    return ForeignModel(
        system,
        f"{type(model).__name__}({loss})",
        forest,
        replace(schema, columns=columns),
        link,
        model.classes_ if is_classifier else None,
    )


def _columns(model: Any, schema: Schema) -> tuple[NDArray[np.int64], list[tuple[Any, ...] | None]]:
    """The user's column of every column of the trees, and the categories of every column, by the user's places."""
    dictionaries: list[tuple[Any, ...] | None] = [None] * schema.n_columns
    is_category = getattr(model, "is_categorical_", None)
    if is_category is None:
        return np.arange(schema.n_columns), dictionaries
    places = np.flatnonzero(is_category)
    encoder = model._preprocessor.named_transformers_["encoder"]
    for place, categories in zip(places.tolist(), encoder.categories_, strict=True):
        values = [value for value in categories.tolist() if value is not None and value == value]
        if not all(isinstance(value, str | int | float) for value in values):
            raise NotSupportedError(
                f"column {schema.names[place]!r} has categories that are neither text nor numbers."
            )
        dictionaries[place] = (
            tuple(int(value) if float(value).is_integer() else value for value in values)
            if all(isinstance(value, float) for value in values)
            else tuple(values)
        )
    return np.concatenate([places, np.flatnonzero(~is_category)]), dictionaries


def _tree(predictor: Any, order: NDArray[np.int64], known: list[int]) -> ForeignTree:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(np.bool_)
    feature = order[np.where(is_leaf, 0, nodes["feature_idx"])]
    sets = {}
    for node in np.flatnonzero(nodes["is_categorical"].astype(np.bool_) & ~is_leaf).tolist():
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        bits = np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))
        sets[node] = bits[bits < known[int(feature[node])]]
    count = nodes["count"].astype(np.int64)
    return ForeignTree(
        np.where(is_leaf, LEAF, feature).astype(np.int64),
        np.where(is_leaf | (nodes["is_categorical"] > 0), 0.0, nodes["num_threshold"]),
        nodes["left"].astype(np.int64),
        nodes["right"].astype(np.int64),
        nodes["missing_go_to_left"].astype(np.bool_),
        sets,
        nodes["value"].astype(np.float64),
        count.astype(np.float64),
        np.where(is_leaf, 0.0, np.maximum(np.nan_to_num(nodes["gain"]), 0.0)),
        count,
    )
