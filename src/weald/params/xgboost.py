"""Every parameter of XGBoost: whether `weald.xgboost` takes it, what it is called there and here, and what differs.

The module `weald.xgboost` and the page ``docs/xgboost_parameters.md`` read this table and no other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from weald.params.choice import same as equal
from weald.params.dialect import ParameterTable, all_refused, belonging, different, refused, same
from weald.runtime.errors import InputError, NotSupportedError

_SHARE: dict[str, Any] = {"low": 0, "high": 1, "open_low": True}
_ANY_BOOSTER = ("booster", ("gbtree", "dart", "gblinear"))
_WEIGHED = ("reg:squarederror", "reg:logistic", "binary:logistic", "binary:logitraw", "reg:gamma")  # by scale_pos_weight
# A row for every parameter, where the formatter would have a line for every argument.
# fmt: off
_GENERAL = (
    same("booster", "choice", "gbtree", "Trees, trees with dropout, or a linear model.",
        choices=("gbtree", "dart", "gblinear"), native="booster"),
    different("device", "any", "cpu", "Where training runs: 'cpu', 'cuda', 'gpu', or with a number, 'cuda:1'.",
        native="device", note="in place of a GPU an OpenCL device grows the trees, to the same bytes; a warning names it. "
        "Prediction runs on the CPU."),
    different("verbosity", "int", 1, "How much is logged.", low=0, high=3,
        note="0 silences warnings; there is no further log at 2 and 3."),
    different("validate_parameters", "bool", True, "Whether unknown parameters are looked for.", optional=True,
        note="always on: an unknown name is an error with the nearest known one; False is refused."),
    different("nthread", "int", None, "Threads; None, 0 and -1: all cores.", low=-1, optional=True, native="n_jobs",
        aliases=("n_jobs",), note="never changes the model, not by a bit."),
    same("disable_default_eval_metric", "bool", False, "Evaluate no metric that was not asked for."),
)
_TREES = (
    same("eta", "float", 0.3, "Share of every tree that is added; 0.5 for gblinear.", low=0,
        native="learning_rate", aliases=("learning_rate",), of=_ANY_BOOSTER),
    different("gamma", "float", 0.0, "Gain that a split must have.", low=0, native="gamma", aliases=("min_split_loss",),
        note="depth-wise trees are pruned after growth with every tree_method, as XGBoost's exact does it, so a split of "
        "too little gain stays when one below it pays."),
    same("max_depth", "int", 6, "Depth of a tree; 0: no limit.", low=0, high=1_000_000, native="max_depth"),
    same("min_child_weight", "float", 1.0, "Sum of hessians that a leaf must have.", low=0, native="min_child_weight"),
    same("max_delta_step", "float", None, "Largest leaf value before shrinkage; 0: no limit (count:poisson: 0.7).", low=0,
        optional=True, native="max_delta_step"),
    same("subsample", "float", 1.0, "Share of rows drawn for every round.", **_SHARE, native="subsample"),
    different("sampling_method", "choice", "uniform", "How rows are drawn.", choices=("uniform",),
        refused=(("gradient_based", "'uniform'"),), native="sampling", note="only 'uniform'."),
    same("colsample_bytree", "float", 1.0, "Share of columns of a tree.", **_SHARE, native="colsample_bytree"),
    same("colsample_bylevel", "float", 1.0, "Share of columns of a level.", **_SHARE, native="colsample_bylevel"),
    same("colsample_bynode", "float", 1.0, "Share of columns of a node.", **_SHARE, native="colsample_bynode"),
    same("lambda", "float", None, "L2 penalty (1; gblinear: 0).", low=0, optional=True, native="reg_lambda",
        aliases=("reg_lambda",), of=_ANY_BOOSTER),
    same("alpha", "float", None, "L1 penalty (0).", low=0, optional=True, native="reg_alpha", aliases=("reg_alpha",),
        of=_ANY_BOOSTER),
    same("tree_method", "choice", "auto", "How splits are found; auto is hist.",
        choices=("auto", "hist", "approx", "exact"), refused=(("gpu_hist", "'hist'"),), native="split_finder"),
    same("scale_pos_weight", "float", 1.0, "Weight of the rows labelled 1, of the objectives that have it.", low=0,
        open_low=True, native="scale_pos_weight", of=("objective", _WEIGHED)),
    different("updater", "choice", None, "Which algorithms grow and change the trees; for gblinear which descent.",
        choices=("coord_descent", "refresh", "prune"),
        refused=(("shotgun", "'coord_descent', whose result does not depend on threads"),), optional=True,
        of=_ANY_BOOSTER, note="only 'coord_descent' with gblinear, and 'refresh' or 'prune' with process_type='update'; how "
        "trees grow is chosen by tree_method and grow_policy."),
    different("refresh_leaf", "bool", True, "Whether 'refresh' changes the leaves.",
        note="only True: gains and covers stay, so that there would be nothing to do."),
    different("process_type", "choice", "default", "Whether new trees are grown or old ones updated.",
        choices=("default", "update"),
        note="'update' is for train with an xgb_model and updater='refresh' or 'prune', without evals, obj and callbacks."),
    same("grow_policy", "choice", "depthwise", "Which leaf is split next.", choices=("depthwise", "lossguide"),
        native="growth"),
    same("max_leaves", "int", 0, "Leaves of a tree; 0: no limit.", low=0, high=2**24, native="max_leaves"),
    different("max_bin", "int", 256, "Bins of a column.", low=2, high=2**31 - 1, native="max_bins",
        note="at most 65,535 bins, missing values apart, and 255 with approx; more is a warning. 256 is taken as 255, so "
        "that a cell stays a byte. Whatever max_bin, a category has its own bin, up to 65,535 of a column, 255 with "
        "approx. Refused with exact."),
    same("num_parallel_tree", "int", 1, "Trees of a round.", low=1, high=100_000, native="num_parallel_tree"),
    same("monotone_constraints", "any", None, "1, -1 or 0 for every column, as a tuple, text or dict.",
        native="monotone_constraints"),
    same("interaction_constraints", "any", None, "Groups of columns that may meet on a path, as lists or text.",
        native="interaction_constraints"),
    different("multi_strategy", "choice", "one_output_per_tree", "Whether a tree has one output.",
        choices=("one_output_per_tree",), refused=(("multi_output_tree", "'one_output_per_tree'"),),
        note="only 'one_output_per_tree'."),
    same("max_cat_to_onehot", "int", 4, "A column with fewer categories is split one from the rest.", low=1,
        high=2**31 - 1, native="max_cat_to_onehot"),
    same("max_cat_threshold", "int", 64, "Most categories on the smaller side of a split.", low=1, high=65_535,
        native="max_cat_threshold"),
    refused("max_cached_hist_node", None, "the memory of histograms is bounded by itself; leave it out."),
    refused("extmem_single_page", False, "data larger than memory is not supported; leave it out."),
)
_DROPS = "of several classes each drops from its own trees, where XGBoost drops from all together; the same for one output."
_DART = (
    different("sample_type", "choice", "uniform", "Which trees are dropped.", choices=("uniform", "weighted"),
        native="sample_type", note=_DROPS),
    different("normalize_type", "choice", "tree", "What a new tree weighs.", choices=("tree", "forest"),
        native="normalize_type",
        note="the dropped trees are counted by class, and by num_parallel_tree a round, where XGBoost counts all of them; "
        "the same for one output and one tree a round."),
    different("rate_drop", "float", 0.0, "Share of trees dropped.", low=0, high=1, native="rate_drop", note=_DROPS),
    different("one_drop", "bool", False, "Drop at least one tree.", native="one_drop", note=_DROPS),
    same("skip_drop", "float", 0.0, "Share of rounds that drop none.", low=0, high=1, native="skip_drop"),
)
_LINEAR = (
    same("feature_selector", "choice", "cyclic", "Which coordinate is moved next.",
        choices=("cyclic", "shuffle", "random", "greedy", "thrifty"), native="feature_selector"),
    same("top_k", "int", 0, "Coordinates of a round of greedy and thrifty; 0: all.", low=0, native="top_k"),
    same("tolerance", "float", 0.0, "Weights that no round has moved by more stay as they are; 0: they always move.", low=0),
)
OBJECTIVES = (
    "reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror", "reg:squaredlogerror", "reg:quantileerror",
    "reg:logistic", "binary:logistic", "binary:logitraw", "binary:hinge", "multi:softmax", "multi:softprob",
    "count:poisson", "reg:gamma", "reg:tweedie",
)
_RANKING = tuple((name, "one of the other objectives") for name in ("rank:ndcg", "rank:map", "rank:pairwise"))
_SURVIVAL = tuple((name, "one of the other objectives") for name in ("survival:cox", "survival:aft"))
_TASK = (
    different("objective", "choice", "reg:squarederror", "What is minimised.", choices=OBJECTIVES,
        refused=(*_RANKING, *_SURVIVAL, ("reg:linear", "'reg:squarederror', its newer name")), native="loss",
        note="rank:* and survival:* are refused. Boosting starts from the best constant also where XGBoost takes one step "
        "towards it; metrics of binary:logitraw see probabilities."),
    same("base_score", "any", None, "The prediction that boosting starts from; a list: one a class.", native="base_score"),
    different("eval_metric", "any", None, "Names of metrics, or functions.", native="eval_metric",
        note="metrics of ranking and survival are refused."),
    same("seed", "any", 0, "Seed.", native="random_state", aliases=("random_state",)),
    different("seed_per_iteration", "bool", False, "Seed by the number of the round.",
        note="accepted: draws are always a function of seed and round."),
    same("num_class", "int", 0, "Classes of multi:softmax and multi:softprob.", low=0, high=2**20,
        of=("objective", ("multi:softmax", "multi:softprob"))),
    same("tweedie_variance_power", "float", 1.5, "Power of reg:tweedie.", low=1, high=2, open_low=True,
        native="tweedie_power", of=("objective", ("reg:tweedie",))),
    same("huber_slope", "float", 1.0, "Where reg:pseudohubererror turns linear.", low=0, open_low=True,
        native="huber_delta", of=("objective", ("reg:pseudohubererror",))),
    same("quantile_alpha", "any", None, "Quantile, or quantiles, of reg:quantileerror.", native="quantile_alpha",
        of=("objective", ("reg:quantileerror",))),
    *all_refused("survival is not supported; leave it out.",
        [("aft_loss_distribution", None), ("aft_loss_distribution_scale", None)]),
)
_RANKERS = all_refused("ranking is not supported; leave it out.", [("lambdarank_pair_method", None),
    ("lambdarank_num_pair_per_sample", None), ("lambdarank_normalization", None), ("lambdarank_score_normalization", None),
    ("lambdarank_unbiased", None), ("lambdarank_bias_norm", None), ("ndcg_exp_gain", None)])
_ESTIMATORS = (
    same("n_estimators", "int", 100, "Rounds.", low=1, high=10_000_000, optional=True, native="n_estimators"),
    same("missing", "any", math.nan, "The value that stands for a missing one."),
    same("importance_type", "choice", None, "What feature_importances_ counts (gain; gblinear: weight).",
        choices=("gain", "weight", "cover", "total_gain", "total_cover"), optional=True, native="importance_type"),
    same("enable_categorical", "bool", False, "Whether category types of data frames are taken."),
    same("feature_types", "any", None, "The kind of every column: q, int, float, i or c."),
    same("feature_weights", "any", None, "Weights of columns, by which colsample_bytree draws them.",
        native="column_weights"),
    same("early_stopping_rounds", "int", None, "Rounds without improvement.", low=1, optional=True),
    same("callbacks", "any", None, "Callbacks of the training."),
)
# fmt: on

#: every parameter by XGBoost's own name
XGBOOST_PARAMETERS = ParameterTable(
    "XGBoost",
    {
        "general": ("General", _GENERAL),
        "trees": ("Trees", belonging(_TREES, "booster", "gbtree", "dart")),
        "dart": ("DART", belonging(_DART, "booster", "dart")),
        "linear": ("Linear booster", belonging(_LINEAR, "booster", "gblinear")),
        "task": ("Learning task", _TASK),
        "ranking": ("Ranking", _RANKERS),
        "estimators": ("Of the scikit-learn classes only", _ESTIMATORS),
    },
    [
        "Written by `python -m weald.pages xgboost`. Each parameter of XGBoost's documentation is *the same*, *different* (and",
        "how), or *refused* (and what to use instead). An unknown name is an error that asks whether the nearest known one was",
        "meant.",
    ],
)


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
    pairs = given.items() if isinstance(given, Mapping) else given or ()
    found: dict[str, Any] = {}
    for own, several in XGBOOST_PARAMETERS.given(pairs, estimators=estimators).items():
        if own == "eval_metric" and len(several) > 1:
            found[own] = [
                name
                for _, value in several
                for name in (value if isinstance(value, list | tuple) else [value])
            ]
            continue
        values = [XGBOOST_PARAMETERS.read(own, value) for _, value in several]
        if any(value != values[0] for value in values[1:]):
            raise InputError(
                f"{own} was given twice, as {values[0]!r} and {values[1]!r}, under its names; give it once."
            )
        found[own] = values[0]
    if found.get("refresh_leaf") is False:
        raise NotSupportedError("refresh_leaf=False is not supported: gains and covers stay as they are.")
    if found.get("validate_parameters") is False:
        raise NotSupportedError(
            "validate_parameters=False is not supported: unknown parameters are always an error."
        )
    return found


def objective_of(params: Mapping[str, Any]) -> str:
    """The objective that parameters ask for; num_class by itself asks for classes.

    >>> objective_of({}), objective_of({"num_class": 3})
    ('reg:squarederror', 'multi:softmax')
    """
    default = "multi:softmax" if params.get("num_class", 0) > 1 else "reg:squarederror"
    return str(params.get("objective", default))


def used_parameters(params: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The parameters that belong to the booster and the objective, and the names of those that do not but ask for something.

    >>> used_parameters({"max_depth": 3, "rate_drop": 0.1})
    ({'max_depth': 3}, ['rate_drop'])
    """
    now = {"booster": params.get("booster", "gbtree"), "objective": objective_of(params)}
    used, unused = dict(params), []
    for name, value in params.items():
        owner, values = XGBOOST_PARAMETERS[name].of or ("booster", (now["booster"],))
        if name == "num_class" or now[owner] in values:
            continue
        del used[name]
        if not equal(value, XGBOOST_PARAMETERS[name].default):
            unused.append(name)
    growing = now["booster"] != "gblinear" and params.get("process_type", "default") == "default"
    if "updater" in used and (used["updater"] != "coord_descent" or growing) and used.get("process_type") != "update":
        unused.append("updater")
        del used["updater"]
    if used.get("tree_method") == "exact" and used.pop("max_bin", None) is not None:
        unused.append("max_bin")
    return used, unused
