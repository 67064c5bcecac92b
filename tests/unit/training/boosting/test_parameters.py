"""The parameters of boosting: boosters as choices, and a declaration that estimators inherit."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_parameters_default_constructible

from weald.binning.parameters import Bins, Histogram
from weald.devices.parameters import Cpu
from weald.encoding.parameters import AutoCategories, TargetStatistics
from weald.estimators.shared.plain import plain, restored
from weald.losses.parameters import Quantile
from weald.params.choice import Choice, anything, declared, documented
from weald.params.stored import from_json, to_json
from weald.runtime.errors import InputError
from weald.sampling.parameters import Goss, Uniform
from weald.training.boosting.dart import DropRules
from weald.training.boosting.parameters import (
    BOOSTERS,
    FAMILIES,
    Averaging,
    BoostingParameters,
    Dart,
    Linear,
    Ordered,
    Plain,
    ResolvedBoosting,
)
from weald.tree.parameters import Leaves, Splits

CHOICES = [choice for family in FAMILIES.values() for choice in family.classes]


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class Toy(ClassifierMixin, BoostingParameters):  # type: ignore[misc]
    """A classifier that predicts zeros."""

    class_weight: Annotated[Any, anything("A weight for every class.")] = None

    def fit(self, X: Any, y: Any) -> Toy:
        self.parts_ = self.resolved()
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)


@pytest.mark.parametrize("kind", CHOICES)
def test_every_choice_is_valid_copied_and_documented(kind: type[Choice]) -> None:
    choice = kind()
    choice.validate()
    check_parameters_default_constructible(kind.__name__, choice)
    assert clone(choice) == copy.deepcopy(choice) == pickle.loads(pickle.dumps(choice)) == choice
    assert repr(choice) == f"{kind.__name__}()"
    assert vars(choice).keys() == set(declared(kind)) == set(choice.get_params())
    text = inspect.getdoc(kind) or ""
    assert ">>> " in text
    for name, parameter in declared(kind).items():
        parameter.check(parameter.default)
        assert parameter.help.endswith(".")
        assert f"\n{name} : " in text


def test_a_class_has_one_name_in_files() -> None:
    names = [choice.__name__ for choice in CHOICES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("kind", CHOICES)
def test_every_choice_is_json(kind: type[Choice]) -> None:
    data = json.loads(json.dumps(to_json(kind(), plain)))
    assert from_json(data, FAMILIES.values(), restored) == kind()


def test_dicts_and_arrays_in_choices_are_json() -> None:
    bins = Bins(by_column={"age": 7, 2: 9}, forced={"age": [20.0, 40.0]})
    data = json.loads(json.dumps(to_json(bins, plain)))
    assert from_json(data, FAMILIES.values(), restored) == bins
    data = json.loads(json.dumps(to_json(Quantile(np.array([0.1, 0.9])), plain)))
    assert from_json(data, FAMILIES.values(), restored) == Quantile([0.1, 0.9])


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_every_name_is_its_shortest(family: Any) -> None:
    for name in family.names:
        resolved = family.resolve(name)
        assert not isinstance(resolved, Choice) or family.shortest(resolved) == name


def test_order_and_number_of_parameters() -> None:
    names = list(inspect.signature(BoostingParameters).parameters)
    assert len(names) == 36
    assert names[:4] == ["loss", "n_estimators", "learning_rate", "growth"]
    assert names == list(declared(BoostingParameters))
    assert set(FAMILIES) <= set(names)


def test_only_the_loss_may_be_positional() -> None:
    kinds = {name: argument.kind for name, argument in inspect.signature(Toy).parameters.items()}
    assert kinds.pop("loss") is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert set(kinds.values()) == {inspect.Parameter.KEYWORD_ONLY}
    assert Toy("hinge").loss == "hinge"


def test_an_estimator_shows_its_signature_and_parameters() -> None:
    signature = inspect.signature(Toy)
    assert str(signature.parameters["n_estimators"]) == "n_estimators: int = 100"
    assert list(signature.parameters)[-1] == "class_weight"
    text = inspect.getdoc(Toy) or ""
    assert text.startswith("A classifier that predicts zeros.") and "class_weight : see its meaning" in text


def test_an_estimator_is_constructed_and_cloned() -> None:
    check_parameters_default_constructible("Toy", Toy())
    model = Toy("hinge", booster=Dart(rate_drop=0.2), bins=63)
    copied = clone(model)
    assert copied.booster == model.booster and copied.booster is not model.booster
    assert vars(Toy()).keys() == set(declared(Toy))
    assert repr(copied) == "Toy(bins=63, booster=Dart(rate_drop=0.2), loss='hinge')"


def test_all_parts_are_resolved() -> None:
    assert Toy().resolved() == ResolvedBoosting(
        "auto", Leaves(), Splits(), Uniform(), Histogram(), Plain(), AutoCategories(), Bins(), Cpu()
    )
    parts = Toy(Quantile(0.9), booster="dart", bins=63, leaves="gradient").resolved()
    assert (parts.loss, parts.booster, parts.bins) == (Quantile(0.9), Dart(), Bins(max_bins=63))
    assert parts.leaves == Leaves("gradient")


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"n_estimators": 0}, r"^n_estimators must be a whole number of at least 1"),
        ({"growth": "up"}, r"^growth must be one of"),
        (
            {"booster": Dart(rate_drop=2)},
            r"^booster\.rate_drop must be a number of at least 0 and at most 1, not 2\.$",
        ),
        ({"booster": Linear(top_k=3)}, r"^booster\.top_k=3 belongs to selector='greedy' and 'thrifty'"),
        ({"booster": Goss()}, r"^booster must be 'plain', .* not Goss\(\)\.$"),
        ({"booster": Ordered(permutations=0)}, r"^booster\.permutations must be"),
        (
            {"booster": "ordered", "categories": TargetStatistics(permutations=5)},
            r"^categories\.permutations=5 and booster\.permutations=3 are the same orders",
        ),
    ],
)
def test_all_parameters_are_checked(params: dict[str, Any], sentence: str) -> None:
    model = Toy(**params)
    with pytest.raises(InputError, match=sentence):
        model.resolved()


@pytest.mark.parametrize(
    ("params", "permutations"),
    [
        ({}, 3),
        ({"categories": "onehot"}, 0),
        ({"booster": "ordered"}, 3),
        ({"booster": Ordered(permutations=5), "categories": "ordered"}, 5),
        ({"booster": Ordered(permutations=5), "categories": TargetStatistics(permutations=5)}, 5),
        ({"booster": Ordered(permutations=2), "categories": "greedy"}, 2),
        ({"categories": "ordered"}, 3),
        ({"categories": TargetStatistics(permutations=0)}, 0),
        ({"categories": "greedy"}, 0),
    ],
)
def test_orders_of_the_rows(params: dict[str, Any], permutations: int) -> None:
    assert BoostingParameters(**params).resolved().permutations == permutations


def test_fields_are_set_also_where_the_choice_is_a_name() -> None:
    model = Toy(booster="dart").set_params(booster__rate_drop=0.3, n_estimators=5)
    assert model.booster == Dart(rate_drop=0.3) and model.n_estimators == 5
    model.set_params(booster="ordered", booster__permutations=1)
    assert model.booster == Ordered(permutations=1)
    assert Toy(bins=63).set_params(bins__use_missing=False).bins == Bins(max_bins=63, use_missing=False)
    with pytest.raises(ValueError, match="Dart has no parameter 'permutations'"):
        Toy(booster="dart").set_params(booster__permutations=1)
    with pytest.raises(ValueError, match="boster"):
        Toy().set_params(boster__permutations=1)


def test_a_search_over_fields_and_objects() -> None:
    X, y = np.zeros((8, 2)), [0, 1] * 4
    search = GridSearchCV(Toy(booster=Dart()), {"booster__rate_drop": [0.2, 0.5]}, cv=2).fit(X, y)
    assert search.best_estimator_.parts_.booster == Dart(rate_drop=0.2)
    search = GridSearchCV(
        Toy(), {"sampling": [Goss(0.3), "uniform"], "booster": ["plain", Ordered()]}, cv=2
    ).fit(X, y)
    assert list(search.cv_results_["param_sampling"]) == [Goss(0.3), "uniform"] * 2
    assert search.best_params_ == {"booster": "plain", "sampling": Goss(0.3)}


def test_boosters_say_what_they_are() -> None:
    assert [BOOSTERS.resolve(name).has_trees for name in BOOSTERS.names] == [True, True, True, True, False]
    assert [choice for choice in BOOSTERS.classes if choice.averages] == [Averaging]
    assert Linear().parallel_trees == 1 and "parallel_trees" not in Linear().get_params()


def test_rules_of_dropout() -> None:
    assert Dart(0.2, 0.3, True, "weighted", "paper", 4).rules == DropRules(
        0.2, 0.3, True, "weighted", "paper", 4
    )
