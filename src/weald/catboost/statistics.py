"""CatBoost's descriptions of target statistics (simple_ctr, combinations_ctr) as native parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weald.params import PARAMETERS
from weald.params.catboost import value_of
from weald.runtime.errors import InputError, NotSupportedError

#: CatBoost's own choice on a CPU, where its descriptions leave the prior out
_PRIORS = [0.0, 0.5, 1.0]
_OPTIONS = ("CtrBorderCount", "TargetBorderCount", "Prior", "CtrBorderType", "TargetBorderType")


def statistics_of(params: Mapping[str, Any]) -> dict[str, Any]:
    """The native parameters of the statistics that are asked for.

    >>> statistics_of({"simple_ctr": "Borders:CtrBorderCount=31:Prior=0.5/2"})
    {'prior': [0.25], 'prior_weight': 2.0, 'statistic_bins': 32, 'target_borders': 1, 'counters': False}
    """
    simple, combined = (_read(name, value_of(params, name)) for name in ("simple_ctr", "combinations_ctr"))
    if simple is not None and combined is not None and simple != combined:
        raise NotSupportedError(
            "combinations_ctr must say the same as simple_ctr: combinations have the statistics of single columns."
        )
    found = simple or combined or {}
    borders = value_of(params, "ctr_target_border_count")
    if borders is not None:
        if found.get("target_borders", borders) != borders:
            raise InputError("ctr_target_border_count and TargetBorderCount differ; give one of them.")
        found = {**found, "target_borders": borders}
    # One statistic drawn to the mean does as well as CatBoost's three, and takes a third of the time.
    names = ("prior", "prior_weight", "statistic_bins", "target_borders", "counters")
    return {name: PARAMETERS[name].default for name in names} | found


def _read(name: str, value: Any) -> dict[str, Any] | None:
    """The statistics of one parameter; None: nothing is said."""
    if value is None:
        return None
    texts = [value] if isinstance(value, str) else list(value)
    found: dict[str, Any] = {"counters": False}
    for text in texts:
        kind, *options = str(text).split(":")
        if kind == "Counter":
            found["counters"] = True
            _counter(name, options)
        elif kind == "Borders":
            found |= _borders(name, options)
        else:
            raise NotSupportedError(
                f"{kind!r} in {name} is not supported by weald.catboost; use 'Borders' and 'Counter'."
            )
    if "prior" not in found:
        raise NotSupportedError(
            f"{name} must have 'Borders': there are no counters without target statistics."
        )
    return found


def _pairs(name: str, options: list[str]) -> list[tuple[str, str]]:
    pairs = []
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in _OPTIONS:
            raise NotSupportedError(
                f"{option!r} in {name} is not supported by weald.catboost; known are {', '.join(_OPTIONS)}."
            )
        pairs.append((key, value))
    return pairs


def _counter(name: str, options: list[str]) -> None:
    """Check what a Counter says: it has the borders that the other statistics have, and the prior 0."""
    for key, value in _pairs(name, options):
        if key == "Prior" and _number(name, value.partition("/")[0]) != 0.0:
            raise NotSupportedError(f"the prior of a Counter in {name} is 0; leave Prior={value} out.")
        if key == "CtrBorderType" and value != "Uniform":
            raise NotSupportedError(f"CtrBorderType={value} in {name} is not supported; use 'Uniform'.")


def _borders(name: str, options: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"prior": [], "prior_weight": 1.0}
    for key, value in _pairs(name, options):
        if key == "CtrBorderCount":
            found["statistic_bins"] = int(_number(name, value)) + 1
        elif key == "TargetBorderCount":
            found["target_borders"] = int(_number(name, value))
        elif key == "Prior":
            share, slash, weight = value.partition("/")
            rows = _number(name, weight) if slash else 1.0
            if found["prior"] and rows != found["prior_weight"]:
                raise NotSupportedError(f"the priors in {name} must have one denominator.")
            found["prior_weight"] = rows
            found["prior"].append(_number(name, share) / rows)
        elif (key, value) not in (("CtrBorderType", "Uniform"), ("TargetBorderType", "MinEntropy")):
            raise NotSupportedError(f"{key}={value} in {name} is not supported; leave it out.")
    return found if found["prior"] else {**found, "prior": _PRIORS}


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} in {name} must be a number.") from None
