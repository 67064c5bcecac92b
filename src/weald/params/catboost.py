"""Reading of CatBoost's parameters under all their names, and the page that lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weald.params.catboost_table import ALIASES, CATBOOST_PARAMETERS, CatBoostParameter
from weald.params.dialect import parameter_page, unknown_parameter
from weald.runtime.errors import InputError

__all__ = [
    "ALIASES", "CATBOOST_PARAMETERS", "CatBoostParameter", "catboost_page", "check_bootstrap", "read_parameters",
    "value_of",
]  # fmt: skip

_LOUDNESS = ("verbose", "silent", "logging_level")
#: a parameter -> the bootstrap types that have it
_OF_BOOTSTRAPS = {
    "bagging_temperature": ("Bayesian",),
    "subsample": ("MVS", "Bernoulli"),
    "mvs_reg": ("MVS",),
}


def read_parameters(given: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters that were given, by CatBoost's own names, checked; None means not given.

    >>> read_parameters({"eta": 0.2, "max_depth": 4})
    {'learning_rate': 0.2, 'depth': 4}
    >>> read_parameters({"itrations": 7})
    Traceback (most recent call last):
    weald.runtime.errors.InputError: there is no parameter 'itrations' in CatBoost; did you mean 'iterations'?
    """
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name, value in (given or {}).items():
        own = ALIASES.get(name, name)
        if own not in CATBOOST_PARAMETERS:
            raise unknown_parameter(str(name), CATBOOST_PARAMETERS)
        if value is None:
            continue
        if own in names:
            raise InputError(f"{names[own]} and {name} are two names of one parameter; give one of them.")
        names[own] = name
        found[own] = CATBOOST_PARAMETERS[own].read(_listed(value))
    _check_together(found)
    return found


def _listed(value: Any) -> Any:
    """Arrays and series as lists, whose entries can be compared and written."""
    return value.tolist() if hasattr(value, "tolist") else value


def value_of(params: Mapping[str, Any], name: str) -> Any:
    """A parameter's value, or CatBoost's default."""
    return params.get(name, CATBOOST_PARAMETERS[name].default)


def _check_together(found: Mapping[str, Any]) -> None:
    """Refuse what has no meaning beside the other parameters, unless it is CatBoost's default."""
    loud = [name for name in _LOUDNESS if name in found]
    if len(loud) > 1:
        raise InputError(f"{loud[0]} and {loud[1]} both say what is printed; give one of them.")
    policy = value_of(found, "grow_policy")
    if "max_leaves" in found and policy != "Lossguide":
        raise InputError(f"max_leaves belongs to grow_policy='Lossguide', but it is {policy!r}; set depth.")
    if value_of(found, "min_data_in_leaf") > 1 and policy == "SymmetricTree":
        raise InputError(
            "min_data_in_leaf belongs to grow_policy='Depthwise' and 'Lossguide', but it is 'SymmetricTree'; leave it out."
        )
    weights = [
        name
        for name in ("class_weights", "auto_class_weights", "scale_pos_weight")
        if found.get(name) not in (None, "None", 1.0)
    ]
    if len(weights) > 1:
        raise InputError(f"{weights[0]} and {weights[1]} both weigh the classes; give one of them.")
    _check_detector(found)


def check_bootstrap(found: Mapping[str, Any], bootstrap: str) -> None:
    """Refuse what another bootstrap type has."""
    for name, owners in _OF_BOOTSTRAPS.items():
        if name in found and bootstrap not in owners:
            raise InputError(
                f"{name} belongs to bootstrap_type={' and '.join(map(repr, owners))}, but it is {bootstrap!r}; "
                "set it, or leave it out."
            )


def _check_detector(found: Mapping[str, Any]) -> None:
    if "early_stopping_rounds" in found:
        for name in ("od_wait", "od_type", "od_pval"):
            if found.get(name) not in (None, "Iter", 0.0):
                raise InputError(
                    f"early_stopping_rounds is od_type='Iter' with its od_wait; leave {name} out."
                )
    if found.get("od_type") == "Iter" and value_of(found, "od_pval") > 0:
        raise InputError("od_pval belongs to od_type='IncToDec', but it is 'Iter'; leave it out.")
    if value_of(found, "fold_len_multiplier") != 2.0 and value_of(found, "boosting_type") != "Ordered":
        raise InputError("fold_len_multiplier belongs to boosting_type='Ordered'; leave it out.")
    if value_of(found, "permutation_count") < 2 and value_of(found, "boosting_type") == "Ordered":
        raise InputError(
            "permutation_count=1 leaves boosting_type='Ordered' no order to take gradients in; set it to 2 or more."
        )


_TITLES: dict[str, str] = {
    "core": "Core",
    "trees": "Trees",
    "sampling": "Rows drawn or weighed",
    "categories": "Categories and orders of the rows",
    "bins": "Bins",
    "classes": "Classes",
    "metrics": "Metrics and the best round",
    "output": "Output and files",
    "elsewhere": "GPU, text and others",
}


def catboost_page(native_names: Mapping[str, str]) -> str:
    """The page of CatBoost's parameters, ``docs/catboost_parameters.md``, as Markdown."""
    introduction = [
        "# CatBoost's parameters in weald.catboost",
        "",
        "Written by `python -m weald.pages catboost`. Each training parameter of CatBoost is *the same*, *different*",
        "(and how), or *refused* (and what to use instead); a refused one may be given where its value is CatBoost's default.",
        "An unknown name is an error that asks whether the nearest known one was meant; so are two names of one parameter,",
        "as in CatBoost.",
    ]
    return parameter_page(introduction, _TITLES, CATBOOST_PARAMETERS, native_names)
