"""The flat parameters of version 0.1.0, 89 names, as those of today: what belongs to one choice becomes its object.

Model files of that version hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from weald.params.choice import Choice, declared, same
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.parameters import FAMILIES


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
# Ways that have another name today, and one that is another way as soon as any of some parameters is given.
_RENAMED = {("booster", "forest"): "averaging"}
_TURNED = {("sampling", "uniform"): ("by_class", ("positive_subsample", "negative_subsample"))}
#: all of them
FLAT_NAMES = {*KEPT, *PARTS, *(field.name for field in FIELDS)}


def from_flat(params: Mapping[str, Any]) -> dict[str, Any]:
    """Flat parameters, by name, as those of today; an absent one has the default that it had.

    A choice that a name stands for is given by name. A changed parameter of a choice that is not chosen is refused.

    >>> from_flat({"booster": "dart", "rate_drop": 0.2, "max_bins": 63, "n_estimators": 50})
    {'categories': 'onehot', 'booster': Dart(rate_drop=0.2), 'bins': 63, 'n_estimators': 50}
    """
    for name in params:
        if name not in FLAT_NAMES:
            raise InputError(f"there was no parameter {name!r} in version 0.1.0.")
    _refuse_without_owner(params)
    parts_of: dict[str, list[str]] = {}
    for field in FIELDS:
        parts_of.setdefault(field.name, []).append(field.part)
    # The only choice whose default has changed since; everything else that is absent has today's.
    converted: dict[str, Any] = {} if "categories" in params else {"categories": PARTS["categories"]}
    for name, value in params.items():
        if name in KEPT:
            converted[name] = value
            continue
        for part in [name] if name in PARTS else parts_of[name]:
            if part not in converted:
                converted[part] = _converted(part, params)
    return converted


def _refuse_without_owner(params: Mapping[str, Any]) -> None:
    """Refuse a changed parameter that no chosen way has."""
    for name, value in params.items():
        places = [field for field in FIELDS if field.name == name]
        if not places or same(value, places[0].default) or any(_applies(field, params) for field in places):
            continue
        owners = [f"{field.part}={' or '.join(map(repr, field.owners))}" for field in places]
        chosen = [f"{field.part} is {_chosen(field.part, params)!r}" for field in places]
        raise NotSupportedError(
            f"{name}={value!r} belongs to {' or '.join(owners)}, but {' and '.join(chosen)}; "
            f"leave {name} at {places[0].default!r}."
        )


def _chosen(part: str, params: Mapping[str, Any]) -> Any:
    return params.get(part, PARTS.get(part, "auto"))


def _applies(field: Field, params: Mapping[str, Any]) -> bool:
    chosen = _chosen(field.part, params)
    return not field.owners or (isinstance(chosen, str) and chosen in field.owners)


def _converted(part: str, params: Mapping[str, Any]) -> Any:
    """The choice of one parameter, by name where that is enough; a value that is no known way stays for others to refuse."""
    family, chosen = FAMILIES[part], _chosen(part, params)
    if not isinstance(chosen, str):
        return chosen
    name = _RENAMED.get((part, chosen), chosen)
    turned, by = _TURNED.get((part, chosen), (name, ()))
    if any(params.get(given) is not None for given in by):
        name = turned
    if name not in family.names:
        return chosen
    choice = family.resolve(name)
    if not isinstance(choice, Choice):
        return choice
    known = declared(type(choice))
    for field in FIELDS:
        if field.part != part or field.field not in known or not _applies(field, params):
            continue
        value = params.get(field.name, field.default)
        # None was a default of the loss or way itself; where it is today's, it stands for what the default was.
        if value is not None and not (known[field.field].default is None and same(value, field.default)):
            setattr(choice, field.field, value)
    return family.shortest(choice)
