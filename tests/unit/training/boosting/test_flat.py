"""Flat parameters of version 0.1.0 as those of today."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.binning.parameters import Approximate, Bins, Exact
from weald.encoding.parameters import Partition, TargetStatistics
from weald.losses.parameters import Huber, PseudoHuber, Quantile
from weald.params.choice import Choice, declared
from weald.params.flat_names import FIELDS, KEPT, PARTS, Field
from weald.runtime.errors import InputError, NotSupportedError
from weald.sampling.parameters import Bayesian, ByClass, Goss, Uniform
from weald.training.boosting.flat import from_flat
from weald.training.boosting.parameters import (
    FAMILIES,
    Averaging,
    BoostingParameters,
    Dart,
    Linear,
    Ordered,
    Plain,
)
from weald.tree.parameters import Leaves, Splits

OF_CLASSIFIERS = {"class_weight", "scale_pos_weight"}
DEFAULTS: dict[str, Any] = {
    **{name: declared(BoostingParameters)[name].default for name in KEPT if name not in OF_CLASSIFIERS},
    **dict.fromkeys(OF_CLASSIFIERS),
    **PARTS,
    **{field.name: field.default for field in FIELDS},
}
#: Another value than the default, where a number that is one larger will not do.
CHANGED: dict[str, Any] = {
    "huber_delta": 2.0,
    "quantile_alpha": 0.9,
    "tweedie_power": 1.2,
    "fair_scale": 2.0,
    "leaf_estimation": "newton",
    "split_score": "cosine",
    "extra_trees": True,
    "forced_splits": {"feature": 0, "threshold": 1.0},
    "mvs_reg": 0.5,
    "positive_subsample": 0.5,
    "negative_subsample": 0.5,
    "top_rate": 0.3,
    "other_rate": 0.3,
    "proposals": "local",
    "sketch_eps": 0.1,
    "precision": "wide",
    "rate_drop": 0.5,
    "skip_drop": 0.5,
    "one_drop": True,
    "sample_type": "weighted",
    "normalize_type": "paper",
    "feature_selector": "greedy",
    "prior": [0.2, 0.8],
    "counters": False,
    "unstored": "missing",
    "max_bins_by_column": {"age": 7},
    "max_categories": 9,
    "rare_categories": 0.1,
    "border_type": "median",
    "forced_bins": {"age": [40.0]},
    "use_missing": False,
    "zero_as_missing": True,
    "bundling": "degree",
    "max_conflict_rate": 0.1,
}


ABSENT = {"categories": "onehot"}  # what it was where nothing was said, and no longer is


def _changed(field: Field) -> Any:
    return CHANGED[field.name] if field.name in CHANGED else field.default + 1


NEW = {"device", "column_weights"}  # that there were not in version 0.1.0


def test_all_89_names_are_there_once() -> None:
    names = [*KEPT, *PARTS, *dict.fromkeys(field.name for field in FIELDS)]
    assert len(names) == len(set(names)) == len(DEFAULTS) == 89
    assert len(names) - len(OF_CLASSIFIERS) == 87  # of the regressor


def test_every_field_that_choices_have_is_filled() -> None:
    filled = {(field.part, field.field) for field in FIELDS}
    for part, family in FAMILIES.items():
        for choice in family.classes if part not in NEW else ():
            for name in declared(choice):
                # The kind of statistics was a value of categories itself.
                assert (part, name) in filled or (part, name) == ("categories", "kind")


def test_kept_names_are_parameters_today() -> None:
    assert set(KEPT) - OF_CLASSIFIERS == set(declared(BoostingParameters)) - set(FAMILIES) - NEW


def test_defaults_become_defaults() -> None:
    """But for categories, which were split one from the rest."""
    converted = from_flat(DEFAULTS)
    for name in OF_CLASSIFIERS:
        assert converted.pop(name) is None
    today = BoostingParameters(categories="onehot").get_params(deep=False)
    assert converted == {name: value for name, value in today.items() if name not in NEW}
    assert from_flat({}) == ABSENT


def _leaves(params: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """All fields of all parts, and the other parameters."""
    found: dict[tuple[str, str], Any] = {}
    for name, value in params.items():
        resolved = FAMILIES[name].resolve(value) if name in FAMILIES else value
        if isinstance(resolved, Choice):
            found |= {(name, field): getattr(resolved, field) for field in resolved.get_params(deep=False)}
        else:
            found[name, ""] = resolved
    return found


PLACES = [(field, owner) for field in FIELDS for owner in field.owners or (None,)]


@pytest.mark.parametrize(("field", "owner"), PLACES, ids=[f"{field.name}-{owner}" for field, owner in PLACES])
def test_a_changed_field_changes_its_place_alone(field: Field, owner: str | None) -> None:
    base = DEFAULTS if owner is None else DEFAULTS | {field.part: owner}
    if field.name == "top_k":
        base |= {"feature_selector": "greedy"}
    value = _changed(field)
    before, after = _leaves(from_flat(base)), _leaves(from_flat(base | {field.name: value}))
    changed = {
        place: found for place, found in after.items() if place not in before or before[place] != found
    }
    expected = {(field.part, field.field): value}
    if owner == "uniform" and field.name in ("positive_subsample", "negative_subsample"):
        # Another way of drawing, whose other fields come with it.
        changed.pop(("sampling", {"positive": "negative", "negative": "positive"}[field.field]))
    assert changed == expected


@pytest.mark.parametrize("name", sorted(set(KEPT)))
def test_kept_parameters_stay(name: str) -> None:
    value = object()
    assert from_flat({name: value}) == ABSENT | {name: value}


@pytest.mark.parametrize(
    ("flat", "converted"),
    [
        ({"booster": "dart"}, {"booster": Dart(rate_drop=0.0)}),
        ({"booster": "dart", "rate_drop": 0.1}, {"booster": "dart"}),
        ({"booster": "forest"}, {"booster": "averaging"}),
        ({"booster": "forest", "num_parallel_tree": 4}, {"booster": Averaging(parallel_trees=4)}),
        ({"num_parallel_tree": 4}, {"booster": Plain(parallel_trees=4)}),
        ({"booster": "linear", "feature_selector": "greedy", "top_k": 2}, {"booster": Linear("greedy", 2)}),
        ({"max_bins": 63}, {"bins": 63}),
        ({"max_bins": 63, "use_missing": False}, {"bins": Bins(max_bins=63, use_missing=False)}),
        ({"loss": "quantile", "quantile_alpha": [0.1, 0.9]}, {"loss": Quantile([0.1, 0.9])}),
        ({"loss": "quantile", "quantile_alpha": None}, {"loss": "quantile"}),
        ({"loss": "huber", "huber_delta": 2.0}, {"loss": Huber(2.0)}),
        ({"loss": "pseudo_huber", "huber_delta": 2.0}, {"loss": PseudoHuber(2.0)}),
        ({"loss": "logistic"}, {"loss": "logistic"}),
        ({"sampling": "goss", "top_rate": 0.3}, {"sampling": Goss(top_rate=0.3)}),
        ({"subsample_freq": 5, "subsample": 0.5}, {"sampling": Uniform(frequency=5), "subsample": 0.5}),
        ({"sampling": "bayesian", "subsample_freq": 5}, {"sampling": Bayesian(frequency=5)}),
        (
            {"negative_subsample": 0.1, "subsample_freq": 5},
            {"sampling": ByClass(negative=0.1, frequency=5)},
        ),
        ({"positive_subsample": 1.0}, {"sampling": "by_class"}),
        (
            {"categories": "greedy", "statistic_bins": 16},
            {"categories": TargetStatistics(kind="greedy", bins=16)},
        ),
        ({"categories": "leave_one_out"}, {"categories": "leave_one_out"}),
        ({"categories": "partition", "cat_l2": 1.0}, {"categories": Partition(l2=1.0)}),
        ({"categories": "ordered", "permutations": 3}, {"categories": "ordered", "booster": "plain"}),
        (
            {"categories": "ordered", "permutations": 1},
            {"categories": TargetStatistics(permutations=1), "booster": "plain"},
        ),
        (
            {"booster": "ordered", "permutations": 1},
            {"booster": Ordered(permutations=1), "categories": "onehot"},
        ),
        (
            {"booster": "ordered", "categories": "ordered", "permutations": 1},
            {"booster": Ordered(permutations=1), "categories": TargetStatistics(permutations=1)},
        ),
        ({"leaf_estimation": "gradient"}, {"leaves": "gradient"}),
        ({"leaf_iterations": 5, "path_smooth": 1.0}, {"leaves": Leaves(iterations=5, path_smooth=1.0)}),
        ({"random_strength": 1.0, "extra_trees": True}, {"splits": Splits(noise=1.0, extra_trees=True)}),
        ({"split_finder": "exact", "precision": "wide"}, {"split_finder": Exact("wide")}),
        ({"split_finder": "approx", "sketch_eps": 0.1}, {"split_finder": Approximate(0.1)}),
    ],
)
def test_examples(flat: dict[str, Any], converted: dict[str, Any]) -> None:
    assert from_flat(flat) == ABSENT | converted
    BoostingParameters(**from_flat(flat)).resolved()


@pytest.mark.parametrize(
    ("flat", "sentence"),
    [
        (
            {"rate_drop": 0.5},
            "rate_drop=0.5 belongs to booster='dart', but booster is 'plain'; leave rate_drop at 0.0.",
        ),
        (
            {"loss": "squared", "huber_delta": 2.0},
            "huber_delta=2.0 belongs to loss='huber' or 'pseudo_huber', but loss is 'squared'; leave huber_delta at None.",
        ),
        (
            {"permutations": 5, "categories": "greedy"},
            "permutations=5 belongs to booster='ordered' or categories='ordered', but booster is 'plain' and categories is "
            "'greedy'; leave permutations at 3.",
        ),
        (
            {"sampling": "goss", "positive_subsample": 0.5},
            "positive_subsample=0.5 belongs to sampling='uniform', but sampling is 'goss'; leave positive_subsample at None.",
        ),
    ],
)
def test_parameters_of_ways_that_are_not_chosen_are_refused(flat: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NotSupportedError) as error:
        from_flat(flat)
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    "field", [field for field in FIELDS if field.owners], ids=lambda field: str(field.name)
)
def test_every_owned_parameter_is_refused_elsewhere(field: Field) -> None:
    # Of these no parameter is, except those that the default itself has.
    elsewhere = DEFAULTS | {"loss": "squared", "sampling": "mvs", "booster": "plain", "split_finder": "exact"}
    if elsewhere[field.part] in field.owners:
        elsewhere[field.part] = {"booster": "linear", "sampling": "goss"}[field.part]
    value = _changed(field)
    with pytest.raises(NotSupportedError, match=f"^{field.name}=.* belongs to .*{field.part}="):
        from_flat(elsewhere | {field.name: value})


def test_functions_arrays_and_unknown_values_stay() -> None:
    def loss(y: Any, scores: Any) -> Any:
        return scores - y, np.ones_like(y)

    assert from_flat({"loss": loss, "n_estimators": 3}) == ABSENT | {"loss": loss, "n_estimators": 3}
    assert from_flat({"booster": "drat"}) == ABSENT | {"booster": "drat"}
    prior = np.array([0.2, 0.8])
    assert from_flat({"categories": "ordered", "prior": prior}) == {
        "categories": TargetStatistics(prior=prior)
    }


def test_names_that_never_were_are_refused() -> None:
    with pytest.raises(InputError, match="there was no parameter 'splits' in version"):
        from_flat({"splits": "auto"})
