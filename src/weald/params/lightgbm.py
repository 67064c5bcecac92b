"""Reading of LightGBM's parameters under all their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from weald.params.lightgbm_table import LIGHTGBM_PARAMETERS, OBJECTIVE_ALIASES, SEEDS
from weald.runtime.errors import InputError

__all__ = ["LIGHTGBM_PARAMETERS", "SEEDS", "read_parameters", "value_of"]

#: other names of values
_WORDS = {"objective": OBJECTIVE_ALIASES, "boosting": {"gbrt": "gbdt", "random_forest": "rf"}}

value_of = LIGHTGBM_PARAMETERS.value_of


def read_parameters(
    given: Mapping[str, Any] | None, *, estimators: bool = False, warn: Callable[[str], object] | None = None
) -> dict[str, Any]:
    """The parameters that were given, by LightGBM's own names, checked; None means not given.

    Of several names of one parameter its own counts, then the first of the others, with a warning. There is one, too, of what
    changes nothing. ``estimators``: the parameters of the scikit-learn classes
    too. ``warn``: is told these warnings, unless verbosity is below 0.

    >>> read_parameters({"eta": "0.2", "num_leaf": 7})
    {'learning_rate': 0.2, 'num_leaves': 7}
    >>> read_parameters({"num_leavs": 7})
    Traceback (most recent call last):
    weald.runtime.errors.InputError: there is no parameter 'num_leavs' in LightGBM; did you mean 'num_leaves'?
    """
    names = LIGHTGBM_PARAMETERS.given((given or {}).items(), estimators=estimators)
    counted = {own: _chosen(own, dict(values)) for own, values in names.items()}
    found = {own: _read(own, value) for own, value in counted.items()}
    _check_together(found)
    if warn is not None and found.get("verbosity", 1) >= 0:
        for line in (*_conflicts(names, counted), *_without_effect(found)):
            warn(line)
    return {name: value for name, value in found.items() if LIGHTGBM_PARAMETERS[name].standing != "ignored"}


def _chosen(own: str, values: Mapping[str, Any]) -> Any:
    """The value that counts: of the parameter's own name, or of the first other one."""
    return next(values[name] for name in (own, *LIGHTGBM_PARAMETERS[own].aliases) if name in values)


def _read(own: str, value: Any) -> Any:
    if isinstance(value, str):
        value = _WORDS.get(own, {}).get(value, value)
    return LIGHTGBM_PARAMETERS.read(own, value)


def _conflicts(names: Mapping[str, Iterable[tuple[str, Any]]], counted: Mapping[str, Any]) -> Iterator[str]:
    """Of parameters that are given by several names, those that do not count."""
    for own, values in names.items():
        for name, value in values:
            if value is not counted[own] and value != counted[own]:
                yield f"{name}={value!r} is ignored: {own} is given under several names, and is {counted[own]!r}."


def _without_effect(found: Mapping[str, Any]) -> Iterator[str]:
    """What changes nothing, as it changes nothing in LightGBM: by itself, or beside the other parameters."""
    table = LIGHTGBM_PARAMETERS
    for name, value in found.items():
        if table[name].standing == "ignored" and table.asks(name, value):
            yield f"{name}={value!r} changes nothing: {table[name].note}"
    company = {**found, "data_sample_strategy": "goss"} if _is_goss(found) else found
    for name, reason in table.without_meaning(company, "boosting", "data_sample_strategy", "objective"):
        yield f"{name}={found[name]!r} does not change the model: {reason}."


def _is_goss(found: Mapping[str, Any]) -> bool:
    return "goss" in (value_of(found, "boosting"), value_of(found, "data_sample_strategy"))


def _check_together(found: Mapping[str, Any]) -> None:
    """Refuse what cannot be together."""
    goss = _is_goss(found)
    if "num_class" in found:
        LIGHTGBM_PARAMETERS.check_company(
            {name: found[name] for name in ("num_class", "objective") if name in found}, "objective"
        )
    if value_of(found, "is_unbalance") and value_of(found, "scale_pos_weight") != 1.0:
        raise InputError("is_unbalance and scale_pos_weight both weigh the classes; give one of them.")
    if value_of(found, "force_col_wise") and value_of(found, "force_row_wise"):
        raise InputError("force_col_wise and force_row_wise exclude each other; give one of them, or none.")
    if goss and value_of(found, "bagging_freq") and value_of(found, "bagging_fraction") < 1.0:
        raise InputError("data_sample_strategy='goss' draws rows by itself; leave bagging_fraction out.")
    if goss and value_of(found, "top_rate") + value_of(found, "other_rate") > 1.0:
        raise InputError("top_rate and other_rate are shares of all rows, so together at most 1.")
