"""The names of the flat parameters of version 0.1.0, 89 of them, and where each is today."""

from __future__ import annotations

from typing import Any, NamedTuple


class Field(NamedTuple):
    """Where a flat parameter is now.

    name, default  as they were
    part, field    the parameter that holds the choice, and the choice's field
    owners         the values of the old parameter ``part`` that it belonged to; none: it belonged to all
    """

    name: str
    default: Any
    part: str
    field: str
    owners: tuple[str, ...] = ()


_STATISTICS = ("ordered", "greedy", "holdout", "leave_one_out")
_TREES = ("plain", "ordered", "dart", "forest")

#: Flat parameters that are fields of choices. One that is a field of two choices has two lines.
FIELDS = (
    Field("huber_delta", None, "loss", "delta", ("huber", "pseudo_huber")),
    Field("quantile_alpha", None, "loss", "alpha", ("quantile",)),
    Field("tweedie_power", None, "loss", "power", ("tweedie",)),
    Field("fair_scale", None, "loss", "scale", ("fair",)),
    Field("leaf_estimation", "auto", "leaves", "method"),
    Field("leaf_iterations", 1, "leaves", "iterations"),
    Field("path_smooth", 0.0, "leaves", "path_smooth"),
    Field("split_score", "newton_l2", "splits", "score"),
    Field("random_strength", 0.0, "splits", "noise"),
    Field("extra_trees", False, "splits", "extra_trees"),
    Field("forced_splits", None, "splits", "forced"),
    Field("bagging_temperature", 1.0, "sampling", "temperature", ("bayesian",)),
    Field("mvs_reg", None, "sampling", "reg", ("mvs",)),
    Field("subsample_freq", 1, "sampling", "frequency", ("uniform", "bayesian")),
    Field("positive_subsample", None, "sampling", "positive", ("uniform",)),
    Field("negative_subsample", None, "sampling", "negative", ("uniform",)),
    Field("top_rate", 0.2, "sampling", "top_rate", ("goss",)),
    Field("other_rate", 0.1, "sampling", "other_rate", ("goss",)),
    Field("proposals", "global", "split_finder", "proposals", ("approx",)),
    Field("sketch_eps", None, "split_finder", "eps", ("approx",)),
    Field("precision", "packed", "split_finder", "precision"),
    Field("permutations", 3, "booster", "permutations", ("ordered",)),
    Field("permutations", 3, "categories", "permutations", ("ordered",)),
    Field("prefix_growth", 2.0, "booster", "prefix_growth", ("ordered",)),
    Field("num_parallel_tree", 1, "booster", "parallel_trees", _TREES),
    Field("rate_drop", 0.0, "booster", "rate_drop", ("dart",)),
    Field("skip_drop", 0.0, "booster", "skip_drop", ("dart",)),
    Field("one_drop", False, "booster", "one_drop", ("dart",)),
    Field("sample_type", "uniform", "booster", "sample_type", ("dart",)),
    Field("normalize_type", "tree", "booster", "normalize_type", ("dart",)),
    Field("max_drop", 0, "booster", "max_drop", ("dart",)),
    Field("feature_selector", "cyclic", "booster", "selector", ("linear",)),
    Field("top_k", 0, "booster", "top_k", ("linear",)),
    Field("max_cat_to_onehot", 4, "categories", "max_onehot", ("partition", *_STATISTICS)),
    Field("max_cat_threshold", 64, "categories", "max_threshold", ("partition",)),
    Field("cat_smooth", 0.0, "categories", "smooth", ("partition",)),
    Field("cat_l2", 0.0, "categories", "l2", ("partition",)),
    Field("min_samples_category", 1, "categories", "min_samples", ("partition",)),
    Field("max_combination", 4, "categories", "max_combination", _STATISTICS),
    Field("prior", "mean", "categories", "prior", _STATISTICS),
    Field("prior_weight", 1.0, "categories", "prior_weight", _STATISTICS),
    Field("statistic_bins", 32, "categories", "bins", _STATISTICS),
    Field("target_borders", 1, "categories", "target_borders", _STATISTICS),
    Field("counters", True, "categories", "counters", _STATISTICS),
    Field("unstored", "zero", "bins", "unstored"),
    Field("max_bins", 255, "bins", "max_bins"),
    Field("max_bins_by_column", None, "bins", "by_column"),
    Field("max_categories", None, "bins", "max_categories"),
    Field("rare_categories", 0.0, "bins", "rare_categories"),
    Field("min_samples_bin", 1, "bins", "min_samples"),
    Field("bin_sample", 200_000, "bins", "sample"),
    Field("border_type", "quantiles", "bins", "borders"),
    Field("forced_bins", None, "bins", "forced"),
    Field("use_missing", True, "bins", "use_missing"),
    Field("zero_as_missing", False, "bins", "zero_as_missing"),
    Field("bundling", "count", "bins", "bundling"),
    Field("max_conflict_rate", 0.0, "bins", "max_conflict_rate"),
)
#: The default of every flat parameter that is a field of a choice.
FIELD_DEFAULTS = {field.name: field.default for field in FIELDS}
#: Flat parameters that chose among ways to do something, with their defaults.
PARTS = {
    "loss": "auto",
    "sampling": "uniform",
    "split_finder": "hist",
    "booster": "plain",
    "categories": "onehot",
}
#: Flat parameters that are the same today.
KEPT = (
    "n_estimators",
    "learning_rate",
    "growth",
    "max_leaves",
    "max_depth",
    "min_samples_leaf",
    "min_child_weight",
    "reg_lambda",
    "reg_alpha",
    "gamma",
    "max_delta_step",
    "subsample",
    "colsample_bytree",
    "colsample_bylevel",
    "colsample_bynode",
    "base_score",
    "categorical_features",
    "monotone_constraints",
    "interaction_constraints",
    "class_weight",
    "scale_pos_weight",
    "eval_metric",
    "early_stopping_rounds",
    "importance_type",
    "warm_start",
    "n_jobs",
    "random_state",
    "verbose",
)
