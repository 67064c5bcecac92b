"""What all of `weald.catboost` uses: the error's name, kinds of importances, and names with options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from weald.dialects.shared.door import Door
from weald.runtime.errors import InputError


class CatBoostError(ValueError):
    """Whatever this interface refuses or cannot read is one."""


DOOR = Door(CatBoostError)


class EFeaturesSelectionAlgorithm(Enum):
    """What `select_features` goes by, as CatBoost names it."""

    RecursiveByPredictionValuesChange = "RecursiveByPredictionValuesChange"
    RecursiveByLossFunctionChange = "RecursiveByLossFunctionChange"
    RecursiveByShapValues = "RecursiveByShapValues"


class EShapCalcType(Enum):
    """How Shapley values are calculated, as CatBoost names it; here there is Regular."""

    Regular = "Regular"
    Approximate = "Approximate"
    Exact = "Exact"


class EFstrType(Enum):
    """Kinds of importances, as CatBoost names them."""

    PredictionValuesChange = 0
    LossFunctionChange = 1
    FeatureImportance = 2
    Interaction = 3
    ShapValues = 4
    PredictionDiff = 5
    ShapInteractionValues = 6
    SageValues = 7


@dataclass(frozen=True)
class Description:
    """A name with options, as CatBoost writes losses and metrics: "Quantile:alpha=0.9"."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The description as CatBoost writes it in results."""
        shown = [f"{key}={_shown(value)}" for key, value in self.options.items()]
        return f"{self.name}:{';'.join(shown)}" if shown else self.name


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_shown, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def described(what: str, text: Any) -> Description:
    """The name and the options of a text; numbers become numbers, lists of them lists.

    >>> described("loss_function", "MultiQuantile:alpha=0.1,0.9")
    Description(name='MultiQuantile', options={'alpha': [0.1, 0.9]})
    """
    if not isinstance(text, str) or not text:
        raise InputError(f"{what} must be a name, with its options after a colon, not {text!r}.")
    name, _, rest = text.partition(":")
    options = {}
    for part in rest.split(";") if rest else ():
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{what}={text!r} cannot be read; write it as name:option=value;option=value.")
        options[key.strip()] = _value(value.strip())
    return Description(name.strip(), options)


def _value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    return numbers if "," in text else numbers[0]
