"""What every column adds to the margins, as XGBoost's ``pred_contribs`` tells it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.explain.shap import weighed_by_cover
from weald.forest.forest import Forest

if TYPE_CHECKING:
    from weald.dialects.shared.reader import Reader
    from weald.dialects.shared.tables import Float64s


def contributions(reader: Reader, table: Any, margin: Float64s | None) -> Float64s:
    """(rows, outputs, columns + 1): Shapley values of trees, or weight times value of a linear model; last the bias.

    The numbers of a row and output add up to its margin; ``margin``: where the rows start, in place of the first score.
    """
    predictor = reader._model.predictor
    if isinstance(predictor, Forest):
        # XGBoost's shares of a node's children are shares of its hessians.
        weighed = replace(reader._model, predictor=weighed_by_cover(predictor))
        found = type(reader)(weighed, reader.n_jobs).shap_values(table)
        found = found[:, None] if found.ndim == 2 else found
    else:
        found = _of_weights(reader, table)
    if margin is not None:
        found[..., -1] += margin.reshape(len(found), -1) - predictor.base_score
    return found


def _of_weights(reader: Reader, table: Any) -> Float64s:
    model: Any = reader._model.predictor
    dataset = reader._read(table)
    found = np.empty((dataset.n_rows, model.n_outputs, model.n_features + 1))
    for first, block in dataset.blocks():
        values = np.nan_to_num(np.asarray(block, np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
        found[first : first + len(block), :, :-1] = values[:, None, :] * model.weights
    found[..., -1] = model.base_score + model.bias
    return found
