"""Importances of the columns by CatBoost's names, and what parts of one model say of uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.catboost.basic import EFstrType
from weald.catboost.metrics import metric_of
from weald.catboost.pool import Pool
from weald.catboost.predictions import probabilities
from weald.catboost.trained import Trained
from weald.dialect.tables import Float64s
from weald.estimators.persistence import FittedModel
from weald.explain.importances import by_source, loss_function_change, prediction_values_change
from weald.explain.shap import shap_values
from weald.explain.virtual import virtual_rounds
from weald.losses.elementary import exp_of, log_of
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.threads import parallel

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
    sources = _sources(model)
    if name in ("FeatureImportance", "PredictionValuesChange"):
        return by_source(prediction_values_change(model.forest), sources, model.schema.n_columns)
    if data is None:
        raise InputError(f"type={name!r} needs data: give a Pool.")
    engine = trained._engine(0, trained._rounds(), threads)
    rows = engine._read(data.table)
    with parallel(threads) as tasks:
        if name == "ShapValues":
            return _shapley(shap_values(model.forest, rows.blocks(), rows.n_rows, tasks), sources, model)
        if y is None:
            raise InputError("type='LossFunctionChange' needs labels: give a Pool with label.")
        metric = metric_of(trained.chosen.description.text, trained.chosen)
        loss = trained.chosen.loss()
        return loss_function_change(
            model.forest,
            rows.blocks(),
            rows.n_rows,
            lambda scores: metric.value(loss, scores, y, data.weights),
            metric.metric.greater_is_better,
            sources,
            tasks,
        )


def _sources(model: FittedModel) -> list[tuple[int, ...]]:
    """The user's columns that every column of the trees comes from."""
    sources: list[tuple[int, ...]] = [(column,) for column in range(model.schema.n_columns)]
    if model.statistics is not None:
        for table in model.statistics.tables:
            columns = tuple(model.statistics.categorical[list(table.projection)].tolist())
            sources += [columns] * len(table.numbers)
    return sources


def _shapley(values: Float64s, sources: list[tuple[int, ...]], model: FittedModel) -> Float64s:
    """(rows, columns + 1) or (rows, outputs, columns + 1) from (outputs, rows, columns of the trees + 1)."""
    own = by_source(values[:, :, :-1], sources, model.schema.n_columns)
    whole = np.concatenate((own, values[:, :, -1:]), axis=2)
    return whole[0] if len(whole) == 1 else np.ascontiguousarray(whole.swapaxes(0, 1))


def virtual_predictions(
    trained: Trained, table: Any, start: Any, kind: str, ntree_end: int, count: int, threads: int | None
) -> Float64s:
    """Raw scores of parts of one model, (rows, parts, outputs), or what they say of uncertainty (Malinin et al. 2021)."""
    if kind not in ("VirtEnsembles", "TotalUncertainty"):
        raise InputError(f"prediction_type must be VirtEnsembles or TotalUncertainty, not {kind!r}.")
    last = trained.range(0, ntree_end)[1]
    ends = virtual_rounds(last, count)
    scores = np.stack([trained.scores(table, 0, end, threads) + start for end in ends])
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
