"""From CatBoost's parameters to those of `BoostedTrees*`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weald.dialects.catboost.objectives import Chosen
from weald.dialects.catboost.statistics import statistics_of
from weald.dialects.shared.constraints import monotone_signs
from weald.dialects.shared.devices import AskedDevice, device_numbers
from weald.dialects.shared.tables import Float64s
from weald.params.catboost import CATBOOST_PARAMETERS
from weald.runtime.errors import InputError
from weald.training.boosting.learning_rate import DEFAULT_RATE, automatic_learning_rate

MOST_CATEGORIES = 65_535
_GROWTH = {"SymmetricTree": "oblivious", "Depthwise": "depthwise", "Lossguide": "leafwise"}
_SCORES = {"Cosine": "cosine", "L2": "l2", "NewtonCosine": "newton_cosine", "NewtonL2": "newton_l2"}
_BORDERS = {
    "Median": "median",
    "Uniform": "uniform",
    "UniformAndQuantiles": "uniform_and_quantiles",
    "GreedyLogSum": "greedy_log_sum",
}
_SHARES = {"MVS": 0.8, "Bernoulli": 0.66}
_FEW_ROWS = 100  # below, all rows are taken where nothing else is said
_DEFAULT_LEAVES = 31
_DEFAULT_WAIT = 20
#: without these the learning rate comes from rows and rounds
_FIX_RATE = ("learning_rate", "leaf_estimation_method", "leaf_estimation_iterations", "l2_leaf_reg")


def resolved_parameters(
    params: Mapping[str, Any], chosen: Chosen, *, n_rows: int, has_evals: bool
) -> dict[str, Any]:
    """What a training uses, by CatBoost's own names: what was given, and defaults for all else that is not refused."""
    full = {
        name: params.get(name, entry.default)
        for name, entry in CATBOOST_PARAMETERS.items()
        if entry.standing != "refused"
    }
    rounds = full["iterations"]
    full["loss_function"] = chosen.own if chosen.own is not None else chosen.description.text
    full["leaf_estimation_method"] = full["leaf_estimation_method"] or chosen.leaf_method
    if full["leaf_estimation_iterations"] is None:
        full["leaf_estimation_iterations"] = chosen.leaf_steps(full["leaf_estimation_method"], rounds)
    if full["boost_from_average"] is None:
        full["boost_from_average"] = chosen.from_average
    if full["score_function"] is None:
        constrained = full["monotone_constraints"] is not None  # whose gain is that of Newton's steps
        full["score_function"] = "NewtonL2" if constrained else chosen.score_function
    full["bootstrap_type"] = full["bootstrap_type"] or ("Bayesian" if chosen.several else "MVS")
    CATBOOST_PARAMETERS.check_company({**params, "bootstrap_type": full["bootstrap_type"]}, "bootstrap_type")
    if full["subsample"] is None:
        share = _SHARES.get(full["bootstrap_type"])
        full["subsample"] = share if share is None or n_rows >= _FEW_ROWS else 1.0
    if full["use_best_model"] is None:
        full["use_best_model"] = has_evals
    elif full["use_best_model"] and not has_evals:
        raise InputError("use_best_model needs an eval_set; give fit one, or leave it out.")
    _resolve_growth(full)
    if full["early_stopping_rounds"] is not None:
        full["od_type"], full["od_wait"] = "Iter", full["early_stopping_rounds"]
        full["early_stopping_rounds"] = None
    if full["learning_rate"] is None:
        full["learning_rate"] = DEFAULT_RATE
        if chosen.own is None and not any(name in params for name in _FIX_RATE):
            full["learning_rate"] = automatic_learning_rate(
                chosen.loss().name, n_rows, rounds, full["use_best_model"], full["boost_from_average"]
            )
    return full


def _resolve_growth(full: dict[str, Any]) -> None:
    """The leaves of a tree, which only Lossguide lets the user limit, and what is said of min_data_in_leaf."""
    policy, leaves = full["grow_policy"], full["max_leaves"]
    if policy == "Lossguide":
        full["max_leaves"] = leaves or _DEFAULT_LEAVES
        return
    whole = 2 ** full["depth"]
    if leaves not in (None, whole):
        raise InputError(
            f"max_leaves={leaves} belongs to grow_policy='Lossguide', but grow_policy is {policy!r}, whose trees of this "
            f"depth have {whole} leaves; leave it out."
        )
    full["max_leaves"] = whole
    if policy == "SymmetricTree" and full["min_data_in_leaf"] > 1:
        warnings.warn(
            f"min_data_in_leaf={full['min_data_in_leaf']} changes nothing with grow_policy='SymmetricTree', as in CatBoost; "
            "use 'Depthwise' or 'Lossguide'.",
            UserWarning,
            stacklevel=2,
        )


def device_of(full: Mapping[str, Any]) -> AskedDevice | None:
    """What trees grow on; None: the CPU."""
    given = full["devices"]
    if full["task_type"] == "CPU":
        return None
    if given in (None, "-1"):
        return AskedDevice("task_type='GPU'")
    text = ":".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    return AskedDevice("task_type='GPU'", device_numbers(f"devices={given!r}", text, ":"))


def native_parameters(
    full: Mapping[str, Any],
    chosen: Chosen,
    *,
    feature_names: Sequence[str],
    categorical: Sequence[int],
    weight: Float64s | None,
) -> dict[str, Any]:
    """The flat parameters, as `from_flat` takes them, for what `resolved_parameters` returned."""
    # CatBoost's penalty is for rows of weight 1.
    mean = 1.0 if weight is None else float(weight[weight > 0].mean())
    threads = full["thread_count"]
    native = {
        "learning_rate": full["learning_rate"],
        "growth": _GROWTH[full["grow_policy"]],
        "max_depth": full["depth"],
        "max_leaves": full["max_leaves"] if full["grow_policy"] == "Lossguide" else None,
        "min_samples_leaf": 1 if full["grow_policy"] == "SymmetricTree" else full["min_data_in_leaf"],
        "min_child_weight": 0.0,
        "reg_lambda": full["l2_leaf_reg"] * mean,
        "max_delta_step": 0.0,
        "colsample_bylevel": full["rsm"],
        "split_score": _SCORES[full["score_function"]],
        "random_strength": full["random_strength"],
        "leaf_estimation": full["leaf_estimation_method"].lower(),
        "leaf_iterations": full["leaf_estimation_iterations"],
        "max_bins": full["border_count"] + 1,
        "max_bins_by_column": _borders_by_column(full["per_float_feature_quantization"], len(feature_names)),
        "min_samples_bin": 1,
        "border_type": _BORDERS[full["feature_border_type"]],
        "n_jobs": threads if threads > 0 else None,
        "random_state": full["random_seed"],
        "monotone_constraints": _monotone(full["monotone_constraints"], feature_names),
    }
    native |= _sampling(full)
    ordered = full["boosting_type"] == "Ordered"
    if ordered:
        native |= {"booster": "ordered", "prefix_growth": full["fold_len_multiplier"]}
    if categorical:
        native |= {
            "categories": "ordered",
            "categorical_features": list(categorical),
            "max_cat_to_onehot": full["one_hot_max_size"],
            "max_categories": MOST_CATEGORIES,
            "max_combination": full["max_ctr_complexity"],
            **statistics_of(full, chosen.n_classes if chosen.several else 0),
        }
    if ordered or categorical:
        native["permutations"] = full["permutation_count"] - 1
    return native


def _sampling(full: Mapping[str, Any]) -> dict[str, Any]:
    """How rows are drawn or weighed."""
    kind = full["bootstrap_type"]
    if kind == "Bayesian":
        return {"sampling": "bayesian", "bagging_temperature": full["bagging_temperature"]}
    if kind == "MVS" and full["subsample"] < 1.0:
        return {"sampling": "mvs", "subsample": full["subsample"], "mvs_reg": full["mvs_reg"]}
    return {"subsample": full["subsample"]} if kind in ("MVS", "Bernoulli") else {}


def _monotone(value: Any, names: Sequence[str]) -> Any:
    """Constraints as a list of one a column; also "Name:1,Other:-1" and dicts."""
    if isinstance(value, str) and ":" in value:
        pairs = (part.rpartition(":") for part in value.split(","))
        try:
            value = {name.strip(): int(sign) for name, _, sign in pairs}
        except ValueError:
            raise InputError(
                f"monotone_constraints={value!r} cannot be read; write it as age:1,size:-1."
            ) from None
    return monotone_signs(value, names)


def _borders_by_column(value: Any, n_columns: int) -> dict[int, int] | None:
    """Bins of single columns from "0:border_count=1024", a list of these, or a dict."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        value = [f"{column}:{options}" for column, options in value.items()]
    found = {}
    for text in [value] if isinstance(value, str) else value:
        column, _, option = str(text).partition(":")
        key, _, count = option.partition("=")
        if not (column.isdigit() and int(column) < n_columns and key == "border_count" and count.isdigit()):
            raise InputError(
                f"per_float_feature_quantization has {text!r}; write it as 0:border_count=1024, with a column's position."
            )
        found[int(column)] = int(count) + 1
    return found


def detector_of(full: Mapping[str, Any]) -> tuple[str | None, int]:
    """The overfitting detector, None for none, and how many rounds after the best one it waits."""
    wait = full["od_wait"] or _DEFAULT_WAIT
    if full["od_type"] == "Iter":
        return "Iter", wait
    if full["od_pval"] > 0.0:
        return "IncToDec", wait
    return ("Iter", wait) if full["od_wait"] is not None and full["od_type"] is None else (None, wait)


def class_factors(full: Mapping[str, Any], classes: Sequence[Any], sums: Float64s) -> Float64s | None:
    """The weight of every class, or None where all are 1; ``sums``: the weight of each class's rows."""
    given, automatic = full["class_weights"], full["auto_class_weights"]
    if given is not None:
        return _given_factors(given, classes)
    if automatic in ("Balanced", "SqrtBalanced"):
        factors = np.divide(sums.max(), sums, out=np.ones(len(sums)), where=sums > 0.0)
        balanced: Float64s = factors if automatic == "Balanced" else np.sqrt(factors)
        return balanced
    if full["scale_pos_weight"] != 1.0:
        if len(classes) != 2:
            raise InputError(
                f"scale_pos_weight is of two classes, but there are {len(classes)}; use class_weights."
            )
        return np.array([1.0, full["scale_pos_weight"]])
    return None


def _given_factors(given: Any, classes: Sequence[Any]) -> Float64s:
    if not isinstance(given, Mapping | list | tuple):
        raise InputError(
            f"class_weights must be a list of weights, or a dict from classes to weights, not {given!r}."
        )
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in classes]
        if unknown:
            raise InputError(f"class_weights has the class {unknown[0]!r}, which the labels do not have.")
        weights = [given.get(name, 1.0) for name in classes]
    else:
        weights = list(given)
    if len(weights) != len(classes):
        raise InputError(f"class_weights has {len(weights)} weights, but there are {len(classes)} classes.")
    for weight in weights:
        if not isinstance(weight, int | float | np.number) or not 0.0 <= weight < np.inf:
            raise InputError(f"class_weights must be finite numbers that are not negative, not {weight!r}.")
    return np.array(weights, np.float64)
