"""CatBoost's losses by name: their options, their defaults that depend on the loss, and users' own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weald.dialects.catboost.basic import Description, described
from weald.dialects.shared.tables import Float64s
from weald.losses import Loss
from weald.losses.catboost import catboost_loss
from weald.losses.objective import Objective
from weald.losses.suggest import unknown_name
from weald.runtime.errors import InputError, NotSupportedError

CLASSES = ("Logloss", "MultiClass", "MultiClassOneVsAll")
SEVERAL = ("MultiClass", "MultiClassOneVsAll")
#: a loss's options; None: it must be given
_OPTIONS: dict[str, dict[str, Any]] = {
    "Quantile": {"alpha": 0.5},
    "MultiQuantile": {"alpha": None},
    "Huber": {"delta": None},
    "Tweedie": {"variance_power": None},
}
LOSSES = (
    "RMSE", "MAE", "MAPE", "LogCosh", "Poisson", "RMSEWithUncertainty", *_OPTIONS, "CrossEntropy", *CLASSES,
)  # fmt: skip
#: losses that start from the best constant, and whose leaves are exact, where nothing else is said
_FROM_AVERAGE = frozenset({"RMSE", "MAE", "MAPE", "Quantile", "MultiQuantile"})
_EXACT = frozenset({"MAE", "MAPE", "Quantile", "MultiQuantile", "LogCosh"})
#: losses most of whose rows have hardly any hessian, far from their label or sure of their class: a split's gain in Newton's
#: steps then asks for the few that have some, and says little of the others
_SPLIT_BY_WEIGHT = frozenset({"Huber", *SEVERAL})
_FEW_ROUNDS = 200  # below, a leaf's value is one step
_STEPS = {
    ("Logloss", "Gradient"): 40,
    ("CrossEntropy", "Gradient"): 40,
    ("MultiClass", "Gradient"): 10,
    ("MultiClassOneVsAll", "Gradient"): 10,
}
_ELSEWHERE = {
    **dict.fromkeys(("Lq", "Expectile", "LogLinQuantile"), "Quantile or Huber"),
    **dict.fromkeys(("Focal",), "Logloss with class_weights"),
    **dict.fromkeys(
        ("MultiRMSE", "MultiRMSEWithMissingValues", "MultiLogloss", "MultiCrossEntropy"), "one model a label"
    ),
    **dict.fromkeys(("Cox", "SurvivalAft"), "RMSE of the logarithm of the time"),
    **dict.fromkeys(
        (
            "PairLogit",
            "PairLogitPairwise",
            "YetiRank",
            "YetiRankPairwise",
            "StochasticRank",
            "StochasticFilter",
            "QueryRMSE",
            "QuerySoftMax",
            "QueryCrossEntropy",
            "LambdaMart",
            "GroupQuantile",
        ),
        "RMSE of the relevance, as there is no ranking",
    ),
}


@dataclass(frozen=True)
class Chosen:
    """The loss of a training; ``own``: an object of the user's that has calc_ders_range."""

    description: Description
    n_classes: int = 2
    own: Any = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """CatBoost's name."""
        return self.description.name

    @property
    def of_classes(self) -> bool:
        """Whether labels are classes."""
        return self.name in CLASSES

    @property
    def several(self) -> bool:
        """Whether every class has a score."""
        return self.name in SEVERAL

    @property
    def n_outputs(self) -> int:
        """Scores a row."""
        if self.name == "MultiQuantile":
            return len(self.description.options["alpha"])
        if self.name == "RMSEWithUncertainty":
            return 2
        return self.n_classes if self.several else 1

    @property
    def from_average(self) -> bool:
        """Whether training starts from the best constant where nothing else is said."""
        return self.name in _FROM_AVERAGE

    @property
    def leaf_method(self) -> str:
        """How leaves are estimated where nothing else is said."""
        return "Exact" if self.name in _EXACT else "Newton"

    @property
    def score_function(self) -> str:
        """What a split is chosen by where nothing else is said."""
        return "L2" if self.name in _SPLIT_BY_WEIGHT else "NewtonL2"

    def leaf_steps(self, method: str, rounds: int) -> int:
        """Steps of a leaf's value where nothing else is said."""
        return _STEPS.get((self.name, method), 1) if rounds >= _FEW_ROUNDS else 1

    def loss(self, y: Float64s | None = None, weight: Float64s | None = None) -> Loss:
        """The loss that training minimises; ``y`` and ``weight``: what a user's own is told."""
        if self.own is None:
            return catboost_loss(self.name, self.description.options, self.n_classes)
        return Objective(lambda scores: _derivatives(self.own, scores, y, weight), 1, self.name)

    def start(self, from_average: bool) -> Any:
        """The prediction that training starts from; None: the best constant."""
        if from_average or self.name == "RMSEWithUncertainty" or self.own is not None:
            return None
        first = self.loss().respond(np.zeros((self.n_outputs, 1)))
        return first[0].tolist()


def choose(loss_function: Any, n_classes: int) -> Chosen:
    """The loss of a name with options, or of a user's object.

    >>> choose("Huber:delta=2", 0).description.options
    {'delta': 2.0}
    """
    if hasattr(loss_function, "calc_ders_range"):
        return Chosen(Description(type(loss_function).__name__), 1, loss_function)
    if hasattr(loss_function, "calc_ders_multi"):
        raise NotSupportedError(
            "a loss of several scores (calc_ders_multi) is not supported by weald.catboost; use weald.BoostedTreesClassifier, "
            "whose loss may be a function."
        )
    given = described("loss_function", loss_function)
    if given.name in _ELSEWHERE:
        raise NotSupportedError(
            f"loss_function={given.name!r} is not supported by weald.catboost; use {_ELSEWHERE[given.name]}."
        )
    if given.name not in LOSSES:
        raise unknown_name("loss_function", given.name, LOSSES)
    return Chosen(Description(given.name, _options(given)), n_classes)


def _options(given: Description) -> Mapping[str, Any]:
    known = _OPTIONS.get(given.name, {})
    for key in given.options:
        if key not in known:
            said = f"it has {', '.join(known)}" if known else "it has none"
            raise InputError(f"loss_function={given.name!r} has no option {key!r} here; {said}.")
    options = {key: given.options.get(key, default) for key, default in known.items()}
    for key, value in options.items():
        if value is None:
            raise InputError(f"loss_function={given.name!r} needs {key}; write {given.name}:{key}=....")
        several = given.name == "MultiQuantile"
        numbers = value if several and isinstance(value, list) else [value]
        if any(
            isinstance(number, bool) or not isinstance(number, float) or not math.isfinite(number)
            for number in numbers
        ):
            raise InputError(f"{key} of loss_function={given.name!r} must be a number, not {value!r}.")
        if several:
            options[key] = numbers
    return options


def _derivatives(
    own: Any, scores: Float64s, y: Float64s | None, weight: Float64s | None
) -> tuple[Float64s, Float64s]:
    """Gradient and hessian of a user's loss, whose derivatives point uphill and carry the weights."""
    found = np.asarray(own.calc_ders_range(scores, y, weight), np.float64)
    if y is not None and found.shape != (len(y), 2):
        raise InputError(
            f"calc_ders_range must return two derivatives a row, ({len(y)}, 2), not {found.shape}."
        )
    return -found[:, 0], -found[:, 1]
