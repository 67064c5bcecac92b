"""Importances of the columns by CatBoost's names, and what parts of one model say of uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.catboost.basic import EFstrType
from weald.dialects.catboost.metrics import metric_of
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.predictions import probabilities
from weald.dialects.catboost.trained import Trained
from weald.dialects.shared.tables import Float64s
from weald.explain.importances import loss_function_change, prediction_values_change
from weald.explain.virtual import virtual_rounds
from weald.losses.elementary import exp_of, log_of
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.threads import hire

_HERE = ("FeatureImportance", "PredictionValuesChange", "LossFunctionChange", "ShapValues")


def importances(
    trained: Trained,
    data: Pool | None,
    kind: EFstrType | str,
    y: Float64s | None = None,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """One number a column; of ShapValues one a row and column. ``y``: the labels of ``data`` as numbers."""
    name = kind.name if isinstance(kind, EFstrType) else str(kind)
    if name not in EFstrType.__members__:
        raise InputError(f"type must be one of {', '.join(_HERE)}, not {kind!r}.")
    if name not in _HERE:
        raise NotSupportedError(
            f"type={name!r} is not supported by weald.catboost; use one of {', '.join(_HERE)}."
        )
    model = trained._fitted()
    if name in ("FeatureImportance", "PredictionValuesChange"):
        return model.by_source(prediction_values_change(model.forest))
    if not isinstance(data, Pool):
        given = "" if data is None else f", not {type(data).__name__}"
        raise InputError(f"type={name!r} needs data: give a Pool{given}.")
    reader = trained._reader(0, trained._rounds(), threads)
    if name == "ShapValues":
        return reader.shap_values(data.table)
    if y is None:
        raise InputError("type='LossFunctionChange' needs labels: give a Pool with label.")
    labels, weight = y, data.weights
    metric = metric_of(trained.chosen.description.text, trained.chosen)
    loss, rows = trained.chosen.loss(), reader._read(data.table)
    tasks = hire(threads)
    return loss_function_change(
        model.forest,
        rows.blocks(),
        rows.n_rows,
        lambda scores: metric.value(loss, scores, labels, weight),
        metric.metric.greater_is_better,
        None if model.statistics is None else model.statistics.sources,
        tasks,
    )


def virtual_predictions(
    trained: Trained, table: Any, start: Any, kind: str, ntree_end: int, count: int, threads: int | None
) -> Float64s:
    """Raw scores of parts of one model, (rows, parts, outputs), or what they say of uncertainty (Malinin et al. 2021)."""
    if kind not in ("VirtEnsembles", "TotalUncertainty"):
        raise InputError(f"prediction_type must be VirtEnsembles or TotalUncertainty, not {kind!r}.")
    last = trained.range(0, ntree_end)[1]
    ends = virtual_rounds(last, count)
    scores = np.stack([one + start for one in trained.stages(table, 0, ends, threads)])
    if kind == "VirtEnsembles":
        if trained.chosen.name == "RMSEWithUncertainty":
            scores = np.stack(
                (scores[:, 0], exp_of(2.0 * scores[:, 1].reshape(-1)).reshape(scores[:, 1].shape)), 1
            )
        return np.ascontiguousarray(scores.transpose(2, 0, 1))
    return _uncertainty(trained, scores)


def _uncertainty(trained: Trained, scores: Float64s) -> Float64s:
    """Of classes the entropy of the noise and of everything; else the mean, how far the parts differ and, if known, the noise."""
    chosen = trained.chosen
    if chosen.of_classes or chosen.name == "CrossEntropy":
        chances = np.stack([probabilities(chosen, one) for one in scores])
        return np.column_stack((_entropy(chances).mean(axis=0), _entropy(chances.mean(axis=0))))
    means = scores[:, 0]
    known = [means.mean(axis=0), means.var(axis=0)]
    if chosen.name == "RMSEWithUncertainty":
        known.append(exp_of(2.0 * scores[:, 1].reshape(-1)).reshape(means.shape).mean(axis=0))
    return np.column_stack(known)


def _entropy(chances: Float64s) -> Float64s:
    safe = np.maximum(chances, np.finfo(np.float64).tiny)
    found: Float64s = -(chances * log_of(safe.reshape(-1)).reshape(chances.shape)).sum(axis=-1)
    return found
