"""What `predict` returns for a prediction_type, from raw scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.catboost.objectives import Chosen
from weald.dialects.shared.estimators import both_classes
from weald.dialects.shared.tables import Float64s
from weald.losses import LINKS
from weald.losses.elementary import exp_of, log_of
from weald.runtime.errors import InputError, NotSupportedError

TYPES = ("Class", "Probability", "LogProbability", "RawFormulaVal", "Exponent", "RMSEWithUncertainty")


def default_type(chosen: Chosen) -> str:
    """The prediction type of a regressor."""
    if chosen.name in ("Poisson", "Tweedie"):
        return "Exponent"
    return chosen.name if chosen.name == "RMSEWithUncertainty" else "RawFormulaVal"


def respond(
    chosen: Chosen,
    scores: Float64s,
    prediction_type: str,
    classes: NDArray[Any] | None,
    threshold: float = 0.5,
) -> NDArray[Any]:
    """Predictions of raw scores, (outputs, rows); ``threshold``: the chance from which the second class is predicted."""
    if prediction_type not in TYPES:
        raise InputError(f"prediction_type must be one of {', '.join(TYPES)}, not {prediction_type!r}.")
    if prediction_type == "RawFormulaVal":
        return LINKS["identity"](scores)
    if prediction_type == "Exponent":
        _needs(chosen.n_outputs == 1, prediction_type, chosen)
        return exp_of(scores[0])
    if prediction_type == "RMSEWithUncertainty":
        _needs(chosen.name == prediction_type, prediction_type, chosen)
        return np.column_stack((scores[0], exp_of(2.0 * scores[1])))
    chances = probabilities(chosen, scores)
    if prediction_type == "Probability":
        return chances
    if prediction_type == "LogProbability":
        return log_of(np.maximum(chances, np.finfo(np.float64).tiny).reshape(-1)).reshape(chances.shape)
    codes = (chances[:, 1] > threshold).astype(np.int64) if not chosen.several else chances.argmax(axis=1)
    return codes if classes is None else classes[codes]


def probabilities(chosen: Chosen, scores: Float64s) -> Float64s:
    """Chances of the classes, (rows, classes)."""
    of_chances = chosen.of_classes or chosen.name == "CrossEntropy" or chosen.own is not None
    _needs(of_chances, "Probability", chosen)
    if chosen.several:
        return chosen.loss().respond(scores)
    return both_classes(LINKS["logit"](scores))


def _needs(there: bool, prediction_type: str, chosen: Chosen) -> None:
    if not there:
        raise NotSupportedError(
            f"prediction_type={prediction_type!r} does not fit loss_function={chosen.name!r}; use 'RawFormulaVal'."
        )
