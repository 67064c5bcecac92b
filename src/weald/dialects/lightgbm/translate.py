"""From LightGBM's parameters to those of `BoostedTrees*`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weald.dialects.lightgbm.basic import log_warning
from weald.dialects.lightgbm.objectives import Chosen
from weald.dialects.shared.constraints import interaction_groups, listed, monotone_signs
from weald.dialects.shared.devices import AskedDevice, device_numbers
from weald.dialects.shared.values import read_seed
from weald.params.lightgbm import LIGHTGBM_PARAMETERS, SEEDS, value_of
from weald.runtime.errors import InputError
from weald.runtime.random import stream_key

MOST_CATEGORIES = 65_535
RARE_CATEGORIES = 0.01  # share of the rows whose rarest categories LightGBM gives no bin of their own
SMALLEST_SAMPLE = 1_000
_BOOSTERS = {"gbdt": "plain", "goss": "plain", "rf": "forest", "dart": "dart"}
#: passed on as they are, under the table's native names
_PASSED = (
    "num_leaves", "min_sum_hessian_in_leaf", "lambda_l1", "lambda_l2", "feature_fraction", "feature_fraction_bynode",
    "extra_trees", "path_smooth", "max_bin", "min_data_in_bin", "use_missing", "zero_as_missing",
)  # fmt: skip
_OF_CATEGORIES = ("max_cat_to_onehot", "max_cat_threshold", "cat_smooth", "cat_l2", "min_data_per_group")


def native_parameters(
    params: Mapping[str, Any],
    chosen: Chosen,
    *,
    feature_names: Sequence[str],
    has_categories: bool = False,
) -> dict[str, Any]:
    """The flat parameters, as `from_flat` takes them, for parameters by LightGBM's own names."""
    native = {LIGHTGBM_PARAMETERS[name].native: value_of(params, name) for name in _PASSED}
    depth, step = value_of(params, "max_depth"), value_of(params, "max_delta_step")
    native |= {
        "growth": "leafwise",
        "max_depth": depth if depth > 0 else None,
        "min_samples_leaf": max(1, value_of(params, "min_data_in_leaf")),
        "max_delta_step": max(0.0, step),
        # Weald counts half of LightGBM's gain.
        "gamma": 0.5 * value_of(params, "min_gain_to_split"),
        "bin_sample": max(SMALLEST_SAMPLE, value_of(params, "bin_construct_sample_cnt")),
        "bundling": "count" if value_of(params, "enable_bundle") else "none",
        "precision": "packed_always" if value_of(params, "use_quantized_grad") else "packed",
        "forced_splits": _forced_splits(params),
        "forced_bins": _forced_bins(params, len(feature_names)),
        "max_bins_by_column": listed("max_bin_by_feature", value_of(params, "max_bin_by_feature")),
        "n_jobs": threads_of(params),
        "random_state": _seed(params),
    }
    if native["path_smooth"] > 0 and native["min_samples_leaf"] < 2:
        raise InputError("path_smooth needs min_data_in_leaf of at least 2.")
    native |= _booster(params) | _sampling(params, chosen) | _constraints(params, feature_names)
    if has_categories:
        native |= {LIGHTGBM_PARAMETERS[name].native: value_of(params, name) for name in _OF_CATEGORIES}
        native |= {
            # LightGBM counts the bin of unknown categories, too.
            "max_cat_to_onehot": max(1, native["max_cat_to_onehot"] - 1),
            "categories": "partition",
            "max_categories": MOST_CATEGORIES,
            "rare_categories": RARE_CATEGORIES,
        }
    return native


def device_of(params: Mapping[str, Any]) -> AskedDevice | None:
    """What trees grow on; None: the CPU."""
    kind = value_of(params, "device_type")
    if kind == "cpu":
        return None
    several, one, count = (
        value_of(params, name) for name in ("gpu_device_id_list", "gpu_device_id", "num_gpu")
    )
    numbers = (max(0, one),) if count == 1 else tuple(range(count))
    if several:
        numbers = device_numbers(f"gpu_device_id_list={several!r}", str(several), ",")
    return AskedDevice(f"device_type={kind!r}", numbers)


def threads_of(params: Mapping[str, Any]) -> int | None:
    """Threads as the native parameter takes them."""
    threads = params.get("num_threads")
    if not threads or threads == -1:
        return None
    return int(threads) if threads > 0 else max(1, (os.cpu_count() or 1) + 1 + int(threads))


def _booster(params: Mapping[str, Any]) -> dict[str, Any]:
    boosting = value_of(params, "boosting")
    booster: dict[str, Any] = {"booster": _BOOSTERS[boosting]}
    if boosting != "rf":  # whose trees are whole
        booster["learning_rate"] = value_of(params, "learning_rate")
    if boosting == "dart":
        booster |= {
            "rate_drop": value_of(params, "drop_rate"),
            "skip_drop": value_of(params, "skip_drop"),
            "max_drop": max(0, value_of(params, "max_drop")),
            "sample_type": "uniform" if value_of(params, "uniform_drop") else "weighted",
            "normalize_type": "tree" if value_of(params, "xgboost_dart_mode") else "paper",
        }
    return booster


def _sampling(params: Mapping[str, Any], chosen: Chosen) -> dict[str, Any]:
    """How rows are drawn."""
    if "goss" in (value_of(params, "boosting"), value_of(params, "data_sample_strategy")):
        rates = {name: value_of(params, name) for name in ("top_rate", "other_rate")}
        return {"sampling": "goss", **rates}
    freq, share = value_of(params, "bagging_freq"), value_of(params, "bagging_fraction")
    positive, negative = (value_of(params, f"{sign}_bagging_fraction") for sign in ("pos", "neg"))
    by_class = chosen.name == "binary" and (positive < 1.0 or negative < 1.0)
    if not freq:
        if (by_class or share < 1.0) and value_of(params, "verbosity") >= 0:
            log_warning("rows are not drawn, whatever bagging_fraction says, while bagging_freq is 0.")
        return {}
    if by_class:
        drawn = {"positive_subsample": positive, "negative_subsample": negative}
    elif share < 1.0:
        drawn = {"subsample": share}
    else:
        return {}
    return {**drawn, "subsample_freq": freq}


def _constraints(params: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    signs = monotone_signs(value_of(params, "monotone_constraints"), names)
    if signs is not None and len(signs) != len(names):
        raise InputError(f"monotone_constraints has {len(signs)} entries, but data has {len(names)} columns.")
    groups = interaction_groups(value_of(params, "interaction_constraints"), names)
    return {"monotone_constraints": signs, "interaction_constraints": groups}


def column_weights(params: Mapping[str, Any], names: Sequence[str]) -> list[float] | None:
    """1 for every column that trees may use: one in no group of interaction_constraints is not used at all."""
    groups = interaction_groups(value_of(params, "interaction_constraints"), names)
    if not groups:
        return None
    grouped = {column for group in groups for column in group}
    return [float(column in grouped) for column in range(len(names))]


def _json_file(params: Mapping[str, Any], name: str) -> Any:
    """What the JSON file of a parameter holds, or None without one."""
    path = value_of(params, name)
    if not path:
        return None
    try:
        return json.loads(Path(path).read_text())
    except (OSError, TypeError, ValueError) as error:
        raise InputError(f"{name}={path!r} cannot be read as JSON: {error}.") from None


def _forced_splits(params: Mapping[str, Any]) -> Any:
    return _json_file(params, "forcedsplits_filename") or None


def _forced_bins(params: Mapping[str, Any], n_columns: int) -> dict[int, list[float]] | None:
    entries = _json_file(params, "forcedbins_filename")
    if not entries:
        return None
    try:
        bounds = {
            int(entry["feature"]): [float(end) for end in entry["bin_upper_bound"]] for entry in entries
        }
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "forcedbins_filename must hold a list of objects with feature and bin_upper_bound."
        ) from None
    beyond = [column for column in bounds if not 0 <= column < n_columns]
    if beyond:
        raise InputError(f"forcedbins_filename names the column {beyond[0]}, which the data does not have.")
    return bounds


def _seed(params: Mapping[str, Any]) -> Any:
    """The seed, with those of single purposes mixed in where they were given."""
    seed = read_seed(params.get("seed"))
    own = [(place, params[name]) for place, name in enumerate(SEEDS) if name in params]
    if not own or not (seed is None or isinstance(seed, int | np.integer)):
        return seed
    key = int(seed or 0)
    for place, value in own:
        key = int(stream_key(key, place, int(value)))
    return key % 2**31
