"""Unknown parameters: one sentence, with the name that means the same here."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
from sklearn.base import clone

import weald
from weald.params.catboost import CATBOOST_PARAMETERS
from weald.params.choice import Choice
from weald.params.declare import declared
from weald.params.flat_names import FIELDS, KEPT
from weald.params.lightgbm import LIGHTGBM_PARAMETERS
from weald.params.other_names import places_of
from weald.params.settings import parse_settings
from weald.params.xgboost import XGBOOST_PARAMETERS
from weald.runtime.errors import InputError
from weald.training.boosting.parameters import FAMILIES

MEMBERS = [("forest", weald.RandomForestRegressor())]
NAMED = {
    f"{family}{task}" for family in ("Voting", "Stacking", "Blending") for task in ("Classifier", "Regressor")
}
EVERY = sorted({*weald.ESTIMATOR_HOMES, "TargetStatisticsEncoder"})


def sentence_of(name: str, **given: Any) -> str:
    with pytest.raises(TypeError) as caught:
        getattr(weald, name)(*([MEMBERS] if name in NAMED else []), **given)
    assert isinstance(caught.value, InputError)
    return str(caught.value)


@pytest.mark.parametrize(
    ("owner", "name", "hint"),
    [
        ("BoostedTreesClassifier", "num_leaves", "use max_leaves."),
        ("BoostedTreesRegressor", "eta", "use learning_rate."),
        ("BoostedTreesRegressor", "l2_leaf_reg", "use reg_lambda."),
        ("BoostedTreesRegressor", "l2_regularization", "use reg_lambda."),
        ("BoostedTreesRegressor", "rate_drop", "use booster=weald.Dart(rate_drop=...)."),
        ("BoostedTreesRegressor", "max_bin", "use bins=weald.Bins(max_bins=...)."),
        ("BoostedTreesRegressor", "alpha", "use reg_alpha or loss=weald.losses.Quantile(alpha=...)."),
        ("BoostedTreesRegressor", "max_depht", "did you mean 'max_depth'?"),
        ("BoostedTreesRegressor", "zzzzz", "help(weald.BoostedTreesRegressor) lists all."),
        ("RandomForestClassifier", "num_leaves", "use max_leaf_nodes."),
        ("ExtraTreesRegressor", "thread_count", "use n_jobs."),
        ("DecisionTreeClassifier", "seed", "use random_state."),
        ("BaggingClassifier", "base_estimator", "use estimator."),
        ("AdaBoostRegressor", "iterations", "use n_estimators."),
        ("GradientBoostingRegressor", "early_stopping_rounds", "use n_iter_no_change."),
        ("StackingRegressor", "meta_regressor", "use final_estimator."),
        ("VotingRegressor", "weigths", "did you mean 'weights'?"),
        ("TargetStatisticsEncoder", "priro", "did you mean 'prior'?"),
        ("Dart", "drop_rate", "use rate_drop."),
        ("Dart", "learning_rate", "learning_rate belongs to the estimator."),
        ("Ordered", "zzzzz", "it has permutations, prefix_growth and parallel_trees."),
        ("OneHot", "zzzzz", "it takes none."),
    ],
)
def test_the_sentence_says_what_to_use(owner: str, name: str, hint: str) -> None:
    assert sentence_of(owner, **{name: 1}) == f"{owner} has no parameter {name!r}; {hint}"


@pytest.mark.parametrize("name", EVERY)
def test_no_estimator_has_a_bare_error(name: str) -> None:
    assert sentence_of(name, qqqqq=1).startswith(f"{name} has no parameter 'qqqqq'; ")
    model = getattr(weald, name)(*([MEMBERS] if name in NAMED else []))
    with pytest.raises(ValueError, match=f"^{name} has no parameter 'qqqqq'; "):
        model.set_params(qqqqq=1)
    assert list(inspect.signature(getattr(weald, name)).parameters) == list(declared(getattr(weald, name)))
    assert type(pickle.loads(pickle.dumps(clone(model)))) is type(model)


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: str(family.name))
def test_no_choice_has_a_bare_error(family: Any) -> None:
    for choice in family.classes:
        with pytest.raises(TypeError, match=f"^{choice.__name__} has no parameter 'qqqqq'; "):
            choice(qqqqq=1)
        with pytest.raises(ValueError, match=f"^{choice.__name__} has no parameter 'qqqqq'; "):
            choice().set_params(qqqqq=1)


@pytest.mark.parametrize("table", [XGBOOST_PARAMETERS, LIGHTGBM_PARAMETERS, CATBOOST_PARAMETERS])
def test_every_name_of_the_other_systems_that_is_here_is_found(table: Any) -> None:
    known = declared(weald.BoostedTreesClassifier)
    for entry in table.values():
        for name in (entry.name, *entry.aliases) if entry.native else ():
            assert name in known or places_of(weald.BoostedTreesClassifier, name), name


def test_every_flat_name_of_the_first_version_is_found() -> None:
    known = declared(weald.BoostedTreesClassifier)
    assert set(KEPT) <= set(known)
    for field in FIELDS:
        found = places_of(weald.BoostedTreesClassifier, field.name)
        assert field.name in known or (field.part, field.field) in {
            (place.parameter, place.field) for place in found
        }
    assert all(
        place.choice is None or issubclass(place.choice, Choice)
        for place in places_of(weald.BoostedTreesClassifier, "precision")
    )


def test_nested_names_are_answered_by_the_part_that_they_name() -> None:
    model = weald.BoostedTreesRegressor(booster="dart")
    with pytest.raises(InputError, match=r"^Dart has no parameter 'drop_rate'; use rate_drop\.$"):
        model.set_params(booster__drop_rate=0.5)
    with pytest.raises(
        InputError, match=r"^Plain has no parameter 'rate_drop'; use booster=weald.Dart\(rate_drop=...\)\.$"
    ):
        weald.BoostedTreesRegressor().set_params(booster__rate_drop=0.5)
    voting = weald.VotingRegressor(MEMBERS)
    with pytest.raises(
        InputError, match=r"^RandomForestRegressor has no parameter 'num_leaves'; use max_leaf_nodes"
    ):
        voting.set_params(forest__num_leaves=3)
    assert voting.set_params(forest__max_leaf_nodes=3).get_params()["forest__max_leaf_nodes"] == 3


def test_a_class_of_ones_own_keeps_its_own_arguments() -> None:
    class Mine(weald.BoostedTreesRegressor):
        def __init__(self, leaves_wanted: int = 7) -> None:
            super().__init__(max_leaves=leaves_wanted)
            self.leaves_wanted = leaves_wanted

    assert Mine(leaves_wanted=5).set_params(leaves_wanted=6).leaves_wanted == 6
    with pytest.raises(TypeError):
        Mine(num_leaves=5)  # type: ignore[call-arg]


def test_the_command_line_says_the_same() -> None:
    for setting, hint in (
        ("num_leaves=3", "use max_leaves"),
        ("rate_drop=1", "use booster.rate_drop of booster=dart"),
    ):
        with pytest.raises(InputError, match=f"there is no parameter {setting.split('=')[0]!r}; {hint}$"):
            parse_settings(weald.BoostedTreesClassifier, [setting])


def test_help_lists_every_parameter() -> None:
    for name in EVERY:
        text = inspect.getdoc(getattr(weald, name)) or ""
        assert all(f"\n{parameter} : " in text for parameter in declared(getattr(weald, name)))
