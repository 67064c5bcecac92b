"""What every column adds to the margins, as XGBoost's ``pred_contribs`` tells it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.forest.forest import Forest

if TYPE_CHECKING:
    from weald.dialects.shared.reader import Reader
    from weald.dialects.shared.tables import Float64s

# Hessians as whole numbers, of which the sums of a tree's rows have so many bits.
_BITS = 40


def contributions(reader: Reader, table: Any, margin: Float64s | None) -> Float64s:
    """(rows, outputs, columns + 1): Shapley values of trees, or weight times value of a linear model; last the bias.

    The numbers of a row and output add up to its margin; ``margin``: where the rows start, in place of the first score.
    """
    predictor = reader._model.predictor
    if isinstance(predictor, Forest):
        weighed = replace(reader._model, predictor=_by_hessians(predictor))
        found = type(reader)(weighed, reader.n_jobs).shap_values(table)
        found = found[:, None] if found.ndim == 2 else found
    else:
        found = _of_weights(reader, table)
    if margin is not None:
        found[..., -1] += margin.reshape(len(found), -1) - predictor.base_score
    return found


def _by_hessians(forest: Forest) -> Forest:
    """The trees with sums of hessians where rows are counted: XGBoost's shares of a node's children are shares of these."""
    roots = forest.cover[forest.tree_offsets[:-1]]
    scale = 2.0**_BITS / np.where(roots > 0.0, roots, 1.0)
    weighed = np.rint(forest.cover * np.repeat(scale, np.diff(forest.tree_offsets)))
    return replace(forest, count=weighed.astype(np.int64))


def _of_weights(reader: Reader, table: Any) -> Float64s:
    model: Any = reader._model.predictor
    dataset = reader._read(table)
    found = np.empty((dataset.n_rows, model.n_outputs, model.n_features + 1))
    for first, block in dataset.blocks():
        values = np.nan_to_num(np.asarray(block, np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        found[first : first + len(block), :, :-1] = values[:, None, :] * model.weights
    found[..., -1] = model.base_score + model.bias
    return found
