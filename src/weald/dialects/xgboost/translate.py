"""From XGBoost's parameters to those of `BoostedTrees*`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from weald.dialects.shared.constraints import interaction_groups, monotone_signs
from weald.dialects.shared.devices import AskedDevice, device_numbers
from weald.dialects.shared.values import read_seed
from weald.dialects.xgboost.config import get_config, threads_of
from weald.dialects.xgboost.dmatrix import BYTE_BINS, MOST_BINS
from weald.dialects.xgboost.objectives import Chosen
from weald.params.xgboost import XGBOOST_PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError

# Up to so many rows gradients are summed as wide integers. Under XGBoost's defaults, leaves of single rows and long steps, the
# rounding of packed ones cost 0.8 % of the logloss on one of four sets of 1,500 rows; wide ones take a sixth more time.
WIDE_ROWS = 50_000
_BOOSTERS = {"gbtree": "plain", "dart": "dart", "gblinear": "linear"}
_FINDERS = {"auto": "hist", "hist": "hist", "approx": "approx", "exact": "exact"}
_GROWTHS = {"depthwise": "depthwise", "lossguide": "leafwise"}
#: passed on as they are, under the table's native names, when they were given
_PASSED = (
    "min_child_weight", "subsample", "colsample_bytree", "colsample_bylevel", "colsample_bynode", "num_parallel_tree",
    "sample_type", "normalize_type", "rate_drop", "one_drop", "skip_drop", "feature_selector", "top_k", "lambda",
    "alpha", "eta",
)  # fmt: skip
_TREE_DEFAULTS = {"eta": 0.3, "lambda": 1.0, "alpha": 0.0, "min_child_weight": 1.0}
_DRAWN = ("colsample_bytree", "colsample_bylevel", "colsample_bynode")
_LEAST_WEIGHT = 1e-6  # XGBoost's, of a column that is to be drawn last
_LINEAR_DEFAULTS = {"eta": 0.5, "lambda": 0.0, "alpha": 0.0}


def native_parameters(
    params: Mapping[str, Any],
    chosen: Chosen,
    *,
    feature_names: Sequence[str] | None = None,
    n_rows: int = 0,
    n_columns: int = 0,
    has_categories: bool = False,
) -> dict[str, Any]:
    """The flat parameters, as `from_flat` takes them, for parameters by XGBoost's own names."""
    linear = params.get("booster") == "gblinear"
    defaults = _LINEAR_DEFAULTS if linear else _TREE_DEFAULTS
    given = {**defaults, **params}
    native = {XGBOOST_PARAMETERS[name].native: given[name] for name in _PASSED if name in given}
    # A rate of 0 is the steps' own, which are all told theirs.
    native["learning_rate"] = native["learning_rate"] or defaults["eta"]
    native["booster"] = _BOOSTERS[params.get("booster", "gbtree")]
    native["n_jobs"] = threads_of(params)
    native["random_state"] = read_seed(params.get("seed", 0))
    native["unstored"] = "missing"
    if linear:
        native["max_delta_step"] = 0.0
    else:
        native |= _tree_shape(params, chosen, n_rows)
        native |= _constraints(params, feature_names, n_columns)
    if has_categories:
        native["categories"] = "partition"
        if native.get("split_finder") == "hist":
            native["max_categories"] = MOST_BINS  # XGBoost has a bin for every category
        native["max_cat_threshold"] = XGBOOST_PARAMETERS.value_of(params, "max_cat_threshold")
        # XGBoost splits one from the rest below this number, Weald up to it.
        native["max_cat_to_onehot"] = max(1, XGBOOST_PARAMETERS.value_of(params, "max_cat_to_onehot") - 1)
    return native


def device_of(params: Mapping[str, Any]) -> AskedDevice | None:
    """What trees grow on; None: the CPU."""
    given = params.get("device", "cpu")
    kind, colon, rest = str(given).partition(":")
    if given == "cpu":
        return None
    setting = f"device={given!r}"
    if kind in ("cuda", "gpu"):
        return AskedDevice(setting, device_numbers(setting, rest, ",") if colon else (0,))
    raise NotSupportedError(
        f"{setting} is not supported; use 'cpu', or 'cuda', in whose place OpenCL devices are used."
    )


def column_weights(params: Mapping[str, Any], given: Any) -> list[float] | None:
    """The weights of columns where some are drawn; one of weight 0 comes last, when there are too few others."""
    if given is None or params.get("booster") == "gblinear":
        return None
    drawn = [name for name in _DRAWN if params.get(name, 1.0) < 1.0]
    if drawn and drawn != ["colsample_bytree"]:
        raise NotSupportedError(
            f"feature_weights are heeded by colsample_bytree, but {drawn[-1]} draws the columns of a tree alike; leave it at 1."
        )
    return [max(weight, _LEAST_WEIGHT) for weight in given.tolist()] if drawn else None


def _tree_shape(params: Mapping[str, Any], chosen: Chosen, n_rows: int) -> dict[str, Any]:
    finder = _FINDERS[params.get("tree_method", "auto")]
    bins = params.get("max_bin", 256)
    shape: dict[str, Any] = {
        "precision": "wide" if n_rows <= WIDE_ROWS else "packed",
        "growth": _GROWTHS[params.get("grow_policy", "depthwise")],
        "max_depth": params.get("max_depth", 6) or None,
        "max_leaves": params.get("max_leaves", 0) or None,
        "min_samples_leaf": 1,
        "max_delta_step": chosen.options.get("max_delta_step", params.get("max_delta_step", 0.0)),
        # Weald counts half of XGBoost's gain.
        "gamma": 0.5 * params.get("gamma", 0.0),
        "split_finder": finder,
    }
    if shape["max_leaves"] == 1:
        raise InputError("max_leaves must be 0, for no limit, or at least 2, not 1.")
    if finder == "exact":
        return shape
    # XGBoost's own 256 counts no bin for missing values: one less keeps a cell in a byte.
    most = BYTE_BINS if finder == "approx" or bins == BYTE_BINS + 1 else MOST_BINS
    shape["max_bins"] = min(bins, most)
    if bins > most + 1 and get_config()["verbosity"] > 0 and params.get("verbosity", 1) > 0:
        of = " with tree_method='approx'" if finder == "approx" else ""
        warnings.warn(f"max_bin={bins} is taken as {most}, the most that Weald has{of}.", stacklevel=5)
    return shape


def _constraints(
    params: Mapping[str, Any], feature_names: Sequence[str] | None, n_columns: int
) -> dict[str, Any]:
    names = list(feature_names) if feature_names is not None else [f"f{k}" for k in range(n_columns)]
    signs = monotone_signs(params.get("monotone_constraints"), names)
    return {
        "monotone_constraints": None if signs is None else [*signs, *[0] * (len(names) - len(signs))],
        "interaction_constraints": interaction_groups(params.get("interaction_constraints"), names),
    }
