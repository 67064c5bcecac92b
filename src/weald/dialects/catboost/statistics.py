"""CatBoost's descriptions of target statistics (simple_ctr, combinations_ctr) as native parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from weald.params.catboost import value_of
from weald.params.flat_names import FIELD_DEFAULTS
from weald.runtime.errors import InputError, NotSupportedError

#: CatBoost's own choice on a CPU, where its descriptions leave the prior out
_PRIORS = [0.0, 0.5, 1.0]
_OPTIONS = ("CtrBorderCount", "TargetBorderCount", "Prior", "CtrBorderType", "TargetBorderType")
_MOST_BORDERS = {"CtrBorderCount": 254, "TargetBorderCount": 255}
_BORDER_TYPES = {
    "CtrBorderType": "the bins of a statistic hold rows as evenly as they can",
    "TargetBorderType": "borders part the labels in groups as even as they can be",
}


def statistics_of(params: Mapping[str, Any], n_classes: int = 0) -> dict[str, Any]:
    """The native parameters of the statistics that are asked for; ``n_classes``: where every class has a score.

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
    if n_classes:
        _check_class_borders(found, n_classes)
    # One statistic drawn to the mean does as well as CatBoost's three, and takes a third of the time.
    names = ("prior", "prior_weight", "statistic_bins", "target_borders", "counters")
    return {name: FIELD_DEFAULTS[name] for name in names} | found


def _check_class_borders(found: dict[str, Any], n_classes: int) -> None:
    """Of several classes each has its statistic, which is as much as CatBoost's borders between all of them tell."""
    borders = found.pop("target_borders", n_classes - 1)
    if borders != n_classes - 1:
        raise NotSupportedError(
            f"ctr_target_border_count={borders} is of numbers: each of the {n_classes} classes has a statistic of its own; "
            "leave it out."
        )


def _read(name: str, value: Any) -> dict[str, Any] | None:
    """The statistics of one parameter; None: nothing is said."""
    if value is None:
        return None
    if not isinstance(value, str | list | tuple) or not all(isinstance(text, str) for text in value):
        raise InputError(
            f"{name} must be a text such as 'Borders:Prior=0.5', or a list of such, not {value!r}."
        )
    found: dict[str, Any] = {}
    for text in [value] if isinstance(value, str) else value:
        kind, *options = text.split(":")
        if kind not in ("Borders", "Counter"):
            raise NotSupportedError(
                f"{kind!r} in {name} is not supported by weald.catboost; use 'Borders' and 'Counter'."
            )
        if ("prior" if kind == "Borders" else "counters") in found:
            raise NotSupportedError(f"{name} has {kind!r} twice; give it once, with all that it has to say.")
        if kind == "Counter":
            found["counters"] = True
            _counter(name, options)
        else:
            found |= _borders(name, options)
    if "prior" not in found:
        raise NotSupportedError(
            f"{name} must have 'Borders': there are no counters without target statistics."
        )
    return {"counters": False, **found}


def _pairs(name: str, options: list[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in _OPTIONS:
            raise NotSupportedError(
                f"{option!r} in {name} is not supported by weald.catboost; known are {', '.join(_OPTIONS)}."
            )
        if key in _BORDER_TYPES:
            raise NotSupportedError(
                f"{option} in {name} is not supported by weald.catboost: {_BORDER_TYPES[key]}; leave it out."
            )
        if key != "Prior" and key in dict(pairs):
            raise InputError(f"{name} has {key} twice; give it once.")
        pairs.append((key, value))
    return pairs


def _counter(name: str, options: list[str]) -> None:
    """Check what a Counter says: it has the bins that the other statistics have, and the prior 0."""
    for key, value in _pairs(name, options):
        if key != "Prior":
            raise NotSupportedError(
                f"{key}={value} of a Counter in {name} is not supported: a Counter has the bins of 'Borders'; leave it out."
            )
        if _number(name, value.partition("/")[0]) != 0.0:
            raise NotSupportedError(f"the prior of a Counter in {name} is 0; leave Prior={value} out.")


def _borders(name: str, options: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {"prior": [], "prior_weight": 1.0}
    for key, value in _pairs(name, options):
        if key == "CtrBorderCount":
            found["statistic_bins"] = _count(name, key, value) + 1
        elif key == "TargetBorderCount":
            found["target_borders"] = _count(name, key, value)
        else:
            share, rows = _prior(name, value)
            if found["prior"] and rows != found["prior_weight"]:
                raise NotSupportedError(f"the priors in {name} must have one denominator.")
            found["prior_weight"] = rows
            found["prior"].append(share)
    return found if found["prior"] else {**found, "prior": _PRIORS}


def _prior(name: str, value: str) -> tuple[float, float]:
    """The share that a statistic is drawn to, and how many rows that counts for."""
    share, slash, weight = value.partition("/")
    rows = _number(name, weight) if slash else 1.0
    if rows <= 0.0:
        raise InputError(f"Prior={value} in {name} must have a denominator above 0.")
    if not 0.0 <= _number(name, share) <= rows:
        raise InputError(f"Prior={value} in {name} must be from 0 to {rows:g}, its denominator.")
    return _number(name, share) / rows, rows


def _count(name: str, key: str, value: str) -> int:
    most = _MOST_BORDERS[key]
    if not value.strip().isdecimal() or not 1 <= int(value) <= most:
        raise InputError(f"{key}={value} in {name} must be a whole number from 1 to {most}.")
    return int(value)


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{text!r} in {name} must be a number.")
    return number
