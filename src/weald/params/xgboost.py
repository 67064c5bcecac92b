"""Every parameter of XGBoost: whether `weald.xgboost` takes it, what it is called there and here, and what differs.

The module `weald.xgboost` and the page ``docs/xgboost_parameters.md`` read this table and no other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from weald.params.dialect import (
    DialectParameter,
    aliases_of,
    parameter_page,
    table_of_groups,
    unknown_parameter,
)
from weald.runtime.errors import InputError, NotSupportedError


@dataclass(frozen=True)
class XGBoostParameter(DialectParameter):
    """One parameter of XGBoost."""

    system: ClassVar[str] = "XGBoost"
    module: ClassVar[str] = "weald.xgboost"


def _one(name: str, kind: str, default: Any, help: str, **more: Any) -> XGBoostParameter:
    return XGBoostParameter(name, kind, default, help, **more)


_SHARE: dict[str, Any] = {"low": 0, "high": 1, "open_low": True}
# A row for every parameter, where the formatter would have a line for every argument.
# fmt: off
_GENERAL = (
    _one("booster", "choice", "gbtree", "Trees, trees with dropout, or a linear model.",
        choices=("gbtree", "dart", "gblinear"), native="booster"),
    _one("device", "choice", "cpu", "Where training runs.", choices=("cpu",),
        refused=tuple((name, "'cpu'") for name in ("cuda", "gpu", "sycl")), standing="different", note="only 'cpu'."),
    _one("verbosity", "int", 1, "How much is logged.", low=0, high=3, standing="different",
        note="0 silences warnings; there is no further log at 2 and 3."),
    _one("validate_parameters", "bool", True, "Whether unknown parameters are looked for.", optional=True,
        standing="different", note="always on: an unknown name is an error with the nearest known one; False is refused."),
    _one("nthread", "int", None, "Threads; None, 0 and -1: all cores.", low=-1, optional=True, native="n_jobs",
        aliases=("n_jobs",), standing="different", note="never changes the model, not by a bit."),
    _one("disable_default_eval_metric", "bool", False, "Evaluate no metric that was not asked for."),
)
_TREES = (
    _one("eta", "float", 0.3, "Share of every tree that is added; 0.5 for gblinear.", low=0, open_low=True,
        native="learning_rate", aliases=("learning_rate",)),
    _one("gamma", "float", 0.0, "Gain that a split must have.", low=0, native="gamma", aliases=("min_split_loss",),
        standing="different",
        note="depth-wise trees are pruned after growth with every tree_method, as XGBoost's exact does it, so a split of "
        "too little gain stays when one below it pays."),
    _one("max_depth", "int", 6, "Depth of a tree; 0: no limit.", low=0, high=1_000_000, native="max_depth"),
    _one("min_child_weight", "float", 1.0, "Sum of hessians that a leaf must have.", low=0, native="min_child_weight"),
    _one("max_delta_step", "float", None, "Largest leaf value before shrinkage; 0: no limit (count:poisson: 0.7).", low=0,
        optional=True, native="max_delta_step"),
    _one("subsample", "float", 1.0, "Share of rows drawn for every round.", **_SHARE, native="subsample"),
    _one("sampling_method", "choice", "uniform", "How rows are drawn.", choices=("uniform",),
        refused=(("gradient_based", "'uniform'"),), native="sampling", standing="different", note="only 'uniform'."),
    _one("colsample_bytree", "float", 1.0, "Share of columns of a tree.", **_SHARE, native="colsample_bytree"),
    _one("colsample_bylevel", "float", 1.0, "Share of columns of a level.", **_SHARE, native="colsample_bylevel"),
    _one("colsample_bynode", "float", 1.0, "Share of columns of a node.", **_SHARE, native="colsample_bynode"),
    _one("lambda", "float", None, "L2 penalty (1; gblinear: 0).", low=0, optional=True, native="reg_lambda",
        aliases=("reg_lambda",)),
    _one("alpha", "float", None, "L1 penalty (0).", low=0, optional=True, native="reg_alpha", aliases=("reg_alpha",)),
    _one("tree_method", "choice", "auto", "How splits are found; auto is hist.",
        choices=("auto", "hist", "approx", "exact"), refused=(("gpu_hist", "'hist'"),), native="split_finder"),
    _one("scale_pos_weight", "float", 1.0, "Weight of the rows labelled 1, for the logistic and hinge objectives.", low=0,
        open_low=True, native="scale_pos_weight", standing="different", note="refused with other objectives."),
    _one("updater", "choice", None, "Which algorithms grow and change the trees; for gblinear which descent.",
        choices=("coord_descent",), refused=(("shotgun", "'coord_descent', whose result does not depend on threads"),),
        optional=True, standing="different",
        note="only 'coord_descent' with gblinear; trees are chosen by tree_method and grow_policy."),
    _one("refresh_leaf", "bool", True, "", standing="refused", note="trees are never refreshed; train anew."),
    _one("process_type", "choice", "default", "Whether new trees are grown or old ones updated.", choices=("default",),
        refused=(("update", "'default' and train anew"),), standing="different", note="only 'default'."),
    _one("grow_policy", "choice", "depthwise", "Which leaf is split next.", choices=("depthwise", "lossguide"),
        native="growth"),
    _one("max_leaves", "int", 0, "Leaves of a tree; 0: no limit.", low=0, high=2**24, native="max_leaves"),
    _one("max_bin", "int", 256, "Bins of a column.", low=2, high=2**31 - 1, native="max_bins", standing="different",
        note="at most 65,535 bins, missing values apart, and 255 with approx; more is a warning. 256 is taken as 255, so "
        "that a cell stays a byte. Whatever max_bin, a category has its own bin, up to 65,535 of a column, 255 with "
        "approx. Refused with exact."),
    _one("num_parallel_tree", "int", 1, "Trees of a round.", low=1, high=100_000, native="num_parallel_tree"),
    _one("monotone_constraints", "any", None, "1, -1 or 0 for every column, as a tuple, text or dict.",
        native="monotone_constraints"),
    _one("interaction_constraints", "any", None, "Groups of columns that may meet on a path, as lists or text.",
        native="interaction_constraints"),
    _one("multi_strategy", "choice", "one_output_per_tree", "Whether a tree has one output.",
        choices=("one_output_per_tree",), refused=(("multi_output_tree", "'one_output_per_tree'"),), standing="different",
        note="only 'one_output_per_tree'."),
    _one("max_cat_to_onehot", "int", 4, "A column with fewer categories is split one from the rest.", low=1,
        high=2**31 - 1, native="max_cat_to_onehot"),
    _one("max_cat_threshold", "int", 64, "Most categories on the smaller side of a split.", low=1, high=65_535,
        native="max_cat_threshold"),
    _one("max_cached_hist_node", "int", None, "", standing="refused",
        note="the memory of histograms is bounded by itself; leave it out."),
    _one("extmem_single_page", "bool", False, "", standing="refused",
        note="data larger than memory is not supported; leave it out."),
)
_DROPS: dict[str, Any] = {
    "standing": "different",
    "note": "of several classes each drops from its own trees, where XGBoost drops from all together; the same for one output.",
}
_DART = (
    _one("sample_type", "choice", "uniform", "Which trees are dropped.", choices=("uniform", "weighted"),
        native="sample_type", **_DROPS),
    _one("normalize_type", "choice", "tree", "What a new tree weighs.", choices=("tree", "forest"),
        native="normalize_type", standing="different",
        note="the dropped trees are counted by class, and by num_parallel_tree a round, where XGBoost counts all of them; "
        "the same for one output and one tree a round."),
    _one("rate_drop", "float", 0.0, "Share of trees dropped.", low=0, high=1, native="rate_drop", **_DROPS),
    _one("one_drop", "bool", False, "Drop at least one tree.", native="one_drop", **_DROPS),
    _one("skip_drop", "float", 0.0, "Share of rounds that drop none.", low=0, high=1, native="skip_drop"),
)
_LINEAR = (
    _one("feature_selector", "choice", "cyclic", "Which coordinate is moved next.",
        choices=("cyclic", "shuffle", "random", "greedy", "thrifty"), native="feature_selector"),
    _one("top_k", "int", 0, "Coordinates of a round of greedy and thrifty; 0: all.", low=0, native="top_k"),
)
OBJECTIVES = (
    "reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:squaredlogerror", "reg:quantileerror",
    "reg:logistic", "binary:logistic", "binary:logitraw", "binary:hinge", "multi:softmax", "multi:softprob",
    "count:poisson", "reg:gamma", "reg:tweedie",
)
_RANKING = tuple((name, "one of the other objectives") for name in ("rank:ndcg", "rank:map", "rank:pairwise"))
_SURVIVAL = tuple((name, "one of the other objectives") for name in ("survival:cox", "survival:aft"))
_TASK = (
    _one("objective", "choice", "reg:squarederror", "What is minimised.", choices=OBJECTIVES,
        refused=(*_RANKING, *_SURVIVAL, ("reg:linear", "'reg:squarederror', its newer name")), native="loss",
        standing="different",
        note="rank:* and survival:* are refused. Boosting starts from the best constant also where XGBoost takes one step "
        "towards it; metrics of binary:logitraw see probabilities."),
    _one("base_score", "any", None, "The prediction that boosting starts from; a list: one a class.", native="base_score"),
    _one("eval_metric", "any", None, "Names of metrics, or functions.", native="eval_metric", standing="different",
        note="metrics of ranking and survival are refused."),
    _one("seed", "any", 0, "Seed.", native="random_state", aliases=("random_state",)),
    _one("seed_per_iteration", "bool", False, "Seed by the number of the round.", standing="different",
        note="accepted: draws are always a function of seed and round."),
    _one("num_class", "int", 0, "Classes of multi:softmax and multi:softprob.", low=0, high=2**20),
    _one("tweedie_variance_power", "float", 1.5, "Power of reg:tweedie.", low=1, high=2, open_low=True,
        native="tweedie_power"),
    _one("huber_slope", "float", 1.0, "Where reg:pseudohubererror turns linear.", low=0, open_low=True,
        native="huber_delta"),
    _one("quantile_alpha", "any", None, "Quantile, or quantiles, of reg:quantileerror.", native="quantile_alpha"),
    *(_one(name, "any", None, "", standing="refused", note="survival is not supported; leave it out.")
        for name in ("aft_loss_distribution", "aft_loss_distribution_scale")),
)
_RANKERS = tuple(
    _one(name, "any", None, "", standing="refused", note="ranking is not supported; leave it out.")
    for name in ("lambdarank_pair_method", "lambdarank_num_pair_per_sample", "lambdarank_normalization",
        "lambdarank_score_normalization", "lambdarank_unbiased", "lambdarank_bias_norm", "ndcg_exp_gain")
)
_ESTIMATORS = (
    _one("n_estimators", "int", 100, "Rounds.", low=1, high=10_000_000, optional=True, native="n_estimators"),
    _one("missing", "any", math.nan, "The value that stands for a missing one."),
    _one("importance_type", "choice", None, "What feature_importances_ counts (gain; gblinear: weight).",
        choices=("gain", "weight", "cover", "total_gain", "total_cover"), optional=True, native="importance_type"),
    _one("enable_categorical", "bool", False, "Whether category types of data frames are taken."),
    _one("feature_types", "any", None, "The kind of every column: q, int, float, i or c."),
    _one("feature_weights", "any", None, "", standing="refused", note="columns are drawn alike; leave it out."),
    _one("early_stopping_rounds", "int", None, "Rounds without improvement.", low=1, optional=True),
    _one("callbacks", "any", None, "Callbacks of the training."),
)
# fmt: on


#: every parameter by XGBoost's own name
XGBOOST_PARAMETERS: dict[str, XGBoostParameter] = table_of_groups(
    {
        "general": _GENERAL,
        "trees": _TREES,
        "dart": _DART,
        "linear": _LINEAR,
        "task": _TASK,
        "ranking": _RANKERS,
        "estimators": _ESTIMATORS,
    }
)
#: other name -> XGBoost's own
ALIASES = aliases_of(XGBOOST_PARAMETERS)
_LINEAR_TOO = frozenset(
    {"eta", "lambda", "alpha", "updater"}
)  # of the trees' parameters also the linear booster's


def read_parameters(
    given: Mapping[str, Any] | Iterable[tuple[str, Any]] | None, *, estimators: bool = False
) -> dict[str, Any]:
    """The parameters that were given, by XGBoost's own names, checked; None means not given.

    A list of pairs may name eval_metric more than once. ``estimators``: the parameters of the scikit-learn classes too.

    >>> read_parameters({"learning_rate": "0.1", "max_depth": 3})
    {'eta': 0.1, 'max_depth': 3}
    >>> read_parameters({"max_deph": 3})
    Traceback (most recent call last):
    weald.runtime.errors.InputError: there is no parameter 'max_deph' in XGBoost; did you mean 'max_depth'?
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else list(given or ())
    found: dict[str, Any] = {}
    for name, value in pairs:
        own = ALIASES.get(name, name)
        entry = XGBOOST_PARAMETERS.get(own)
        if entry is None or (entry.group == "estimators" and entry.standing != "refused" and not estimators):
            raise unknown_parameter(str(name), XGBOOST_PARAMETERS)
        if value is None:
            continue
        if own == "eval_metric" and own in found:
            several = value if isinstance(value, list | tuple) else [value]
            found[own] = [*(found[own] if isinstance(found[own], list) else [found[own]]), *several]
            continue
        read = entry.read(value) if not callable(value) else value
        if own in found and found[own] != read:
            raise InputError(
                f"{own} was given twice, as {found[own]!r} and {read!r}, under its names; give it once."
            )
        found[own] = read
    _check_booster(found)
    return found


def _check_booster(found: Mapping[str, Any]) -> None:
    """Refuse what belongs to another booster; XGBoost warns of it as not used."""
    booster = found.get("booster", "gbtree")
    if found.get("validate_parameters") is False:
        raise NotSupportedError(
            "validate_parameters=False is not supported: unknown parameters are always an error."
        )
    for name in found:
        group = XGBOOST_PARAMETERS[name].group
        if (
            group == "trees"
            and booster == "gblinear"
            and name not in _LINEAR_TOO
            and name != "scale_pos_weight"
        ):
            raise InputError(f"{name} belongs to the tree boosters, but booster is 'gblinear'; leave it out.")
        if group == "dart" and booster != "dart":
            raise InputError(f"{name} belongs to booster='dart', but booster is {booster!r}; leave it out.")
        if (group == "linear" or name == "updater") and booster != "gblinear":
            raise InputError(
                f"{name} belongs to booster='gblinear', but booster is {booster!r}; leave it out."
            )


_TITLES: dict[str, str] = {
    "general": "General",
    "trees": "Trees",
    "dart": "DART",
    "linear": "Linear booster",
    "task": "Learning task",
    "ranking": "Ranking",
    "estimators": "Of the scikit-learn classes only",
}


def xgboost_page(native_names: Mapping[str, str]) -> str:
    """The page of XGBoost's parameters, ``docs/xgboost_parameters.md``, as Markdown."""
    introduction = [
        "# XGBoost's parameters in weald.xgboost",
        "",
        "Written by `python -m weald.pages xgboost`. Each parameter of XGBoost's documentation is *the same*, *different* (and",
        "how), or *refused* (and what to use instead). An unknown name is an error that asks whether the nearest known one was",
        "meant.",
    ]
    return parameter_page(introduction, _TITLES, XGBOOST_PARAMETERS, native_names)
