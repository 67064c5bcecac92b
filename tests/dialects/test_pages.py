"""The pages of other systems' parameters tell where `BoostedTrees*` have the same: a parameter, or a field of a choice."""

from __future__ import annotations

import pytest

from weald import BoostedTreesClassifier
from weald.pages import PAGES
from weald.params.declare import declared
from weald.training.boosting.parameters import FAMILIES


@pytest.mark.parametrize("system", ["xgboost", "lightgbm", "catboost"])
def test_the_names_of_boosted_trees_are_parameters_or_fields_of_choices(system: str) -> None:
    rows = [line.split(" | ") for line in PAGES[system]().splitlines() if line.startswith("| `")]
    said = {cells[-1].removesuffix(" |").strip("` ") for cells in rows} - {""}
    names = {name for names in said for name in names.split(", ")}
    assert {"n_jobs", "learning_rate", "bins.max_bins"} <= names
    for name in names:
        parameter, _, field = name.partition(".")
        assert parameter in declared(BoostedTreesClassifier), name
        assert not field or any(field in declared(kind) for kind in FAMILIES[parameter].classes), name
