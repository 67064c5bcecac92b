"""Choices as parameters of a real estimator: scikit-learn's rules, searches, files, the command line, and the help."""

from __future__ import annotations

import pickle
import pydoc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import weald
from model_bytes import as_if
from weald import BoostedTreesClassifier, BoostedTreesRegressor, Checkpoint
from weald.cli import app
from weald.data.files import write_file
from weald.forest import file as model_file
from weald.params.declare import declared
from weald.runtime.errors import InputError, ModelFileError
from weald.training.boosting.parameters import FAMILIES

X, Y = load_breast_cancer(return_X_y=True)
X = X[:, :6]
SMALL: dict[str, Any] = {"n_estimators": 4, "max_leaves": 4, "n_jobs": 1}
# An object of every class, with every field other than its default.
CHANGED: dict[str, list[Any]] = {
    "loss": [
        weald.losses.Quantile(alpha=[0.1, 0.9]),
        weald.losses.Huber(delta=2.0),
        weald.losses.PseudoHuber(delta=2.0),
        weald.losses.Fair(scale=2.0),
        weald.losses.Tweedie(power=1.25),
    ],
    "leaves": [weald.Leaves(method="newton", iterations=3), weald.Leaves(path_smooth=2.0)],
    "splits": [
        weald.Splits(
            score="cosine", noise=0.5, extra_trees=True, forced={"feature": 0, "threshold": 1.5, "left": {}}
        )
    ],
    "sampling": [
        weald.Uniform(frequency=3),
        weald.ByClass(positive=0.5, negative=0.25, frequency=2),
        weald.Goss(top_rate=0.3, other_rate=0.2),
        weald.Bayesian(temperature=0.5, frequency=2),
        weald.MinimalVariance(reg=0.5),
    ],
    "split_finder": [
        weald.Histogram(precision="wide"),
        weald.Approximate(eps=0.05, proposals="local", precision="wide"),
        weald.Exact(precision="wide"),
    ],
    "booster": [
        weald.Plain(parallel_trees=2),
        weald.Ordered(permutations=2, prefix_growth=3.0, parallel_trees=2),
        weald.Dart(
            rate_drop=0.5,
            skip_drop=0.25,
            one_drop=True,
            sample_type="weighted",
            normalize_type="forest",
            max_drop=3,
            parallel_trees=2,
        ),
        weald.Averaging(parallel_trees=2),
        weald.Linear(selector="greedy", top_k=2),
    ],
    "categories": [
        weald.AutoCategories(),
        weald.OneHot(),
        weald.Partition(max_onehot=2, max_threshold=32, smooth=10.0, l2=5.0, min_samples=3),
        weald.TargetStatistics(
            kind="greedy",
            max_onehot=2,
            max_combination=2,
            prior=[0.25, 0.5],
            prior_weight=2.0,
            bins=16,
            target_borders=2,
            counters=False,
        ),
        weald.TargetStatistics(permutations=2),
    ],
    "bins": [
        weald.Bins(
            max_bins=63,
            by_column={"x0": 15, 3: 7},
            max_categories=99,
            rare_categories=0.125,
            min_samples=2,
            sample=5_000,
            borders="median",
            forced={0: [0.5, 1.5]},
            use_missing=False,
            unstored="missing",
            bundling="degree",
            max_conflict_rate=0.25,
        ),
        weald.Bins(zero_as_missing=True),
    ],
    "device": [weald.OpenCL(devices="0,1", memory_limit="1 GB"), weald.Cpu()],
}
EVERY = [(part, choice) for part, choices in CHANGED.items() for choice in choices]
ALL = pytest.mark.parametrize(
    ("part", "choice"), EVERY, ids=[f"{part} {type(choice).__name__}" for part, choice in EVERY]
)
# No file says what a model was trained on; tests/unit/devices trains on devices.
IN_FILES = [(part, choice) for part, choice in EVERY if part != "device"]
SAVED = pytest.mark.parametrize(
    ("part", "choice"), IN_FILES, ids=[f"{part} {type(choice).__name__}" for part, choice in IN_FILES]
)


@pytest.fixture(scope="module")
def fitted() -> BoostedTreesRegressor:
    """A model to hang parameters on: files hold those of the estimator, whatever it was fitted with."""
    return BoostedTreesRegressor(**SMALL).fit(X, Y)


def test_the_objects_above_are_of_every_class_and_change_every_field() -> None:
    assert list(CHANGED) == list(FAMILIES)
    for part, family in FAMILIES.items():
        assert {type(choice) for choice in CHANGED[part]} == set(family.classes)
        for kind in family.classes:
            changed = {
                name
                for choice in CHANGED[part]
                for name, known in declared(kind).items()
                if type(choice) is kind and getattr(choice, name) != known.default
            }
            assert changed == set(declared(kind))


# --- scikit-learn's rules -------------------------------------------------------------------------


@ALL
def test_a_clone_has_equal_choices_of_its_own(part: str, choice: Any) -> None:
    model = BoostedTreesClassifier(**{part: choice})
    copied = clone(model)
    assert getattr(model, part) is choice
    assert getattr(copied, part) == choice and getattr(copied, part) is not choice
    assert copied.get_params() == model.get_params()


@ALL
def test_fields_are_parameters_that_can_be_read_and_set(part: str, choice: Any) -> None:
    names = declared(type(choice))
    model = BoostedTreesClassifier(**{part: clone(choice)})
    deep, flat = model.get_params(), model.get_params(deep=False)
    assert set(deep) - set(flat) == {f"{part}__{name}" for name in names}
    for name, known in names.items():
        assert deep[f"{part}__{name}"] == getattr(choice, name)
        model.set_params(**{f"{part}__{name}": known.default})
    assert getattr(model, part) == type(choice)()


def test_a_name_becomes_an_object_when_a_field_is_set() -> None:
    model = BoostedTreesClassifier(booster="dart", bins=63, loss="auto")
    assert not [name for name in model.get_params() if "__" in name]
    assert model.set_params(booster__rate_drop=0.25, bins__use_missing=False) is model
    assert model.booster == weald.Dart(rate_drop=0.25)
    assert model.bins == weald.Bins(max_bins=63, use_missing=False)
    # The name and its fields at once, in whatever order.
    model.set_params(sampling__top_rate=0.5, sampling="goss", categories="greedy", categories__bins=8)
    assert model.sampling == weald.Goss(top_rate=0.5)
    assert model.categories == weald.TargetStatistics(kind="greedy", bins=8)
    model.set_params(booster="plain")
    assert model.booster == "plain"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"booster__rate_drop": 0.1},
            r"Plain has no parameter 'rate_drop'; use booster=weald\.Dart\(rate_drop",
        ),
        ({"bins__max_bin": 5}, "Bins has no parameter 'max_bin'; use max_bins"),
        ({"bosster__rate_drop": 0.1}, "no parameter 'bosster'; did you mean 'booster'"),
        ({"rate_drop": 0.1}, r"no parameter 'rate_drop'; use booster=weald\.Dart\(rate_drop"),
        ({"booster": "drat", "booster__rate_drop": 0.1}, r"not 'drat'; did you mean 'dart'\?"),
    ],
)
def test_a_field_that_is_not_there_is_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BoostedTreesClassifier().set_params(**params)


def test_setting_a_field_of_a_copy_leaves_the_original_as_it_was() -> None:
    model = BoostedTreesClassifier(booster=weald.Dart(rate_drop=0.25))
    other = clone(model).set_params(booster__rate_drop=0.5)
    assert model.booster == weald.Dart(rate_drop=0.25) and other.booster == weald.Dart(rate_drop=0.5)


def test_a_fit_changes_no_choice_and_a_choice_changes_no_fitted_model() -> None:
    booster, bins, sampling = weald.Dart(rate_drop=0.5), weald.Bins(max_bins=31), weald.Goss()
    model = BoostedTreesClassifier(booster=booster, bins=bins, sampling=sampling, **SMALL)
    before = clone(model)
    expected = model.fit(X, Y).predict_proba(X)
    assert (model.booster, model.bins, model.sampling) == (before.booster, before.bins, before.sampling)
    assert model.booster is booster and model.bins is bins and model.sampling is sampling
    model.set_params(bins__zero_as_missing=True, booster__rate_drop=0.0)
    assert model.predict_proba(X).tobytes() == expected.tobytes()


def test_a_name_and_its_object_train_the_same_trees() -> None:
    for params in (
        {"booster": ("dart", weald.Dart()), "sampling": ("uniform", weald.Uniform())},
        {"leaves": ("gradient", weald.Leaves(method="gradient")), "bins": (63, weald.Bins(max_bins=63))},
        {"split_finder": ("approx", weald.Approximate()), "splits": ("auto", weald.Splits())},
    ):
        by_name, by_object = (
            BoostedTreesClassifier(**{part: spellings[place] for part, spellings in params.items()}, **SMALL)
            for place in (0, 1)
        )
        assert by_name.fit(X, Y).forest_ == by_object.fit(X, Y).forest_


def test_a_search_reaches_fields_inside_a_pipeline() -> None:
    rates = [0.0, 0.5, 1.0]
    steps = [("scale", StandardScaler()), ("trees", BoostedTreesClassifier(booster="dart", **SMALL))]
    grid = {"trees__booster__rate_drop": rates}
    search = GridSearchCV(Pipeline(steps), grid, scoring="neg_log_loss", cv=2, error_score="raise").fit(X, Y)
    scores = search.cv_results_["mean_test_score"]
    assert len(set(scores)) == 3  # the rates were used
    best = search.best_params_["trees__booster__rate_drop"]
    assert best == rates[int(np.argmax(scores))]
    assert search.best_estimator_.named_steps["trees"].booster == weald.Dart(rate_drop=best)
    assert steps[1][1].booster == "dart"
    single = Pipeline(steps).set_params(trees__booster__rate_drop=best).fit(X, Y)
    assert np.array_equal(single.predict_proba(X), search.predict_proba(X))


def test_a_search_chooses_among_whole_choices() -> None:
    choices = ["plain", weald.Dart(rate_drop=0.5), weald.Plain(parallel_trees=2)]
    search = GridSearchCV(BoostedTreesClassifier(**SMALL), {"booster": choices}, cv=2, error_score="raise")
    search.fit(X, Y)
    assert search.best_params_["booster"] in choices
    assert [params["booster"] for params in search.cv_results_["params"]] == choices


# --- what is shown --------------------------------------------------------------------------------


def test_repr_shows_what_was_changed() -> None:
    assert repr(BoostedTreesClassifier()) == "BoostedTreesClassifier()"
    model = BoostedTreesClassifier(booster=weald.Dart(rate_drop=0.2), bins=63)
    assert repr(model) == "BoostedTreesClassifier(bins=63, booster=Dart(rate_drop=0.2))"
    loss = weald.losses.Quantile(alpha=[0.1, 0.9])
    assert repr(BoostedTreesRegressor(loss)) == "BoostedTreesRegressor(loss=Quantile(alpha=[0.1, 0.9]))"
    assert eval(repr(model), vars(weald)).get_params() == model.get_params()
    assert "Dart" in model._repr_html_()


@pytest.mark.parametrize("kind", [BoostedTreesClassifier, BoostedTreesRegressor])
def test_there_are_few_parameters_and_the_help_lists_them(kind: Any) -> None:
    parameters = declared(kind)
    assert set(kind().get_params()) == set(parameters) and len(parameters) <= 38
    text = pydoc.plain(pydoc.render_doc(kind))
    assert text.index("Parameters\n") < text.index("Examples\n")
    for name, known in parameters.items():
        assert f"{name} : " in text and known.help in text and f", default {known.default!r}" in text
    for part in FAMILIES:
        assert all(repr(name) in text for name in parameters[part].choices)


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "again",
    [
        lambda model, path: pickle.loads(pickle.dumps(model)),
        lambda model, path: (model.save(path), weald.load(path))[1],
    ],
    ids=["pickle", "file"],
)
@SAVED
def test_choices_come_back_as_objects(
    fitted: BoostedTreesRegressor, part: str, choice: Any, again: Callable[..., Any], tmp_path: Path
) -> None:
    model = as_if(pickle.loads(pickle.dumps(fitted)), **{part: choice})
    copied = again(model, tmp_path / "model.weald")
    found = FAMILIES[part].resolve(getattr(copied, part))  # a file writes what a name stands for by that name
    assert type(found) is type(choice) and found == choice and found is not choice
    copied.set_params(**{part: found})
    assert repr(copied) == repr(clone(model).set_params(n_jobs=copied.n_jobs))
    assert copied._to_bytes() == model._to_bytes()
    if part != "bins":  # of which a file's model knows how a table is read
        assert copied.predict(X).tobytes() == fitted.predict(X).tobytes()


def test_a_fitted_model_with_many_choices_comes_back(tmp_path: Path) -> None:
    table = {"number": X[:, 0], "letter": np.array(list("abcdef"))[np.arange(len(X)) % 6]}
    model = BoostedTreesClassifier(
        booster=weald.Ordered(permutations=1),
        categories=weald.TargetStatistics(max_onehot=2, max_combination=1),
        sampling=weald.Bayesian(temperature=np.float64(0.5)),
        bins=weald.Bins(by_column={"number": np.int64(15)}),
        **SMALL,
    ).fit(table, Y)
    model.save(tmp_path / "model.weald")
    for again in (weald.load(tmp_path / "model.weald"), pickle.loads(pickle.dumps(model))):
        assert again.booster == model.booster and again.categories == model.categories
        assert again.sampling == model.sampling and again.bins == model.bins
        assert again.predict_proba(table).tobytes() == model.predict_proba(table).tobytes()
        assert again.fit(table, Y)._to_bytes() == model._to_bytes()


@pytest.mark.parametrize(
    ("part", "first", "later"),
    [
        ("booster", "dart", weald.Dart()),
        ("booster", weald.Dart(), "dart"),
        ("bins", 63, weald.Bins(max_bins=63)),
        ("bins", "auto", 255),
    ],
)
def test_a_checkpoint_goes_on_however_a_choice_is_spelt(
    part: str, first: Any, later: Any, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.weald"
    whole = BoostedTreesClassifier(**{part: first}, **SMALL).fit(X, Y, callbacks=[Checkpoint(path, every=3)])
    resumed = BoostedTreesClassifier(**{part: later}, **SMALL).fit(X, Y, resume_from=path)
    assert weald.load(path).forest_.n_rounds == 3
    assert resumed.forest_ == whole.forest_
    with pytest.raises(InputError, match=r"was trained with booster='?[dDp].*, not Dart\(rate_drop=0\.5\)"):
        BoostedTreesClassifier(**{**SMALL, part: later, "booster": weald.Dart(rate_drop=0.5)}).fit(
            X, Y, resume_from=path
        )


def damaged(model: Any, **params: Any) -> bytes:
    """A model's file with other parameters in its header, sealed anew."""
    forest, header = model_file.loads(model._to_bytes())
    assert set(params) <= set(header["params"])
    return model_file.dumps(forest, header | {"params": header["params"] | params})


GOOD = {"choice": "Dart", "params": {"rate_drop": 0.5}}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"booster": {"choice": "Dartt", "params": {}}}, "the choice 'Dartt', which is not known"),
        ({"booster": {"choice": "os.system", "params": {}}}, "the choice 'os.system', which is not known"),
        (
            {"booster": {"choice": "Dart", "params": {"rate": 0.5}}},
            "Dart in the file has the parameter 'rate'",
        ),
        (
            {"booster": {"choice": "Dart", "params": {"rules": 0.5}}},
            "Dart in the file has the parameter 'rules'",
        ),
        ({"booster": {"choice": "Dart", "params": {"rate_drop": 1.5}}}, r"Dart\.rate_drop must be a number"),
        (
            {"booster": {"choice": "Dart", "params": {"rate_drop": 10**400}}},
            r"Dart\.rate_drop must be a number",
        ),
        ({"booster": {"choice": "Dart", "params": {"rate_drop": GOOD}}}, r"Dart\.rate_drop must be a number"),
        (
            {"booster": {"choice": "Dart", "params": {"sample_type": ["a"]}}},
            r"Dart\.sample_type must be one of",
        ),
        ({"booster": {"choice": "Linear", "params": {"top_k": 3}}}, r"Linear\.top_k=3 belongs to selector"),
        ({"booster": {"choice": "Dart"}}, "must have a name and parameters"),
        ({"booster": {"choice": "Dart", "params": {}, "more": 1}}, "must have a name and parameters"),
        ({"booster": {"choice": ["Dart"], "params": {}}}, "must have a name and parameters"),
        ({"booster": {"choice": "Goss", "params": {}}}, "the choice 'Goss' as booster, which it cannot be"),
        ({"max_leaves": GOOD}, "the choice 'Dart' as max_leaves, which it cannot be"),
        (
            {"loss": {"choice": "Quantile", "params": {"alpha": 10**400}}},
            r"Quantile\.alpha must be between 0 and 1",
        ),
        ({"loss": {"choice": "Tweedie", "params": {"power": 2}}}, r"Tweedie\.power must lie below 2"),
        ({"bins": {"choice": "Bins", "params": {"max_bins": 1}}}, r"Bins\.max_bins must be a whole number"),
        ({"bins": {"choice": "Bins", "params": {"by_column": 3}}}, "by_column must be a list or a dict"),
        ({"bins": {"choice": "Bins", "params": {"forced": {"pairs": 1}}}}, "not in a known form"),
        ({"bins": 1}, "bins must be a whole number of at least 2"),
        ({"bins": "many"}, "bins must be 'auto' or a whole number"),
        ({"categories": {"choice": "TargetStatistics", "params": {"prior": "max"}}}, "prior must be 'mean'"),
        ({"splits": {"choice": "Splits", "params": {"forced": [1]}}}, r"Splits\.forced must be a dict"),
    ],
)
def test_a_damaged_choice_in_a_file_is_refused(
    fitted: BoostedTreesRegressor, params: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(damaged(fitted, **params))
    with pytest.raises(ModelFileError, match=message):
        weald.load(path)
    with pytest.raises(ModelFileError, match=message):
        BoostedTreesRegressor(n_estimators=6).fit(X, Y, resume_from=path)


def test_an_intact_choice_in_a_file_is_read_and_fields_that_are_not_there_have_their_defaults(
    fitted: BoostedTreesRegressor, tmp_path: Path
) -> None:
    path = tmp_path / "model.weald"
    path.write_bytes(damaged(fitted, booster=GOOD))
    assert weald.load(path).booster == weald.Dart(rate_drop=0.5)


# --- the command line -----------------------------------------------------------------------------


def test_the_command_line_trains_with_choices(tmp_path: Path) -> None:
    columns = {f"x{number}": X[:, number] for number in range(6)}
    write_file(tmp_path / "table.csv", columns | {"y": np.where(Y == 1, "yes", "no").astype(object)})
    settings = ["booster=dart", "booster.rate_drop=0.1", "bins=63", "sampling.frequency=2"]
    result = CliRunner().invoke(
        app,
        [
            *(
                "train",
                str(tmp_path / "table.csv"),
                "--target",
                "y",
                "--model",
                str(tmp_path / "model.weald"),
            ),
            *(word for text in ("n_estimators=30", *settings) for word in ("--set", text)),
        ],
    )
    assert result.exit_code == 0, result.output
    model = weald.load(tmp_path / "model.weald")
    assert (model.booster, model.bins) == ("dart", 63)  # which drops a tenth
    assert model.sampling == weald.Uniform(frequency=2)
    twin = BoostedTreesClassifier(
        n_estimators=30, booster=weald.Dart(rate_drop=0.1), bins=63, sampling=weald.Uniform(frequency=2)
    ).fit(columns, np.where(Y == 1, "yes", "no"))
    assert (twin.forest_.tree_weights < 1.0).any()
    assert model.predict_proba(columns).tobytes() == twin.predict_proba(columns).tobytes()


def test_what_is_set_after_the_fit_does_not_spoil_the_file(tmp_path: Path) -> None:
    model = BoostedTreesRegressor(n_estimators=2, n_jobs=1).fit(X, X[:, 0])
    model.set_params(booster=weald.Dart(rate_drop=5))
    model.save(tmp_path / "model.weald")
    loaded, copied = weald.load(tmp_path / "model.weald"), pickle.loads(pickle.dumps(model))
    assert loaded.booster == "plain" and copied.booster == weald.Dart(rate_drop=5)
    for again in (loaded, copied):
        assert again.predict(X).tobytes() == model.predict(X).tobytes()


def test_parameters_that_no_file_could_be_read_with_are_refused_when_it_is_saved(tmp_path: Path) -> None:
    model = BoostedTreesRegressor(n_estimators=2, n_jobs=1).fit(X, X[:, 0])
    model = as_if(model, booster=weald.Dart(rate_drop=5))
    with pytest.raises(InputError, match=r"booster\.rate_drop must be"):
        model.save(tmp_path / "model.weald")
    with pytest.raises(InputError, match=r"booster\.rate_drop must be"):
        pickle.dumps(model)


@pytest.mark.parametrize("given", [{"loss__alpha": 0.3}, {"booster": None, "booster__rate_drop": 0.1}])
def test_a_field_of_what_has_none_is_refused_in_a_sentence(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"loss='auto' has no parameters|booster must be"):
        BoostedTreesRegressor().set_params(**given)


def test_truth_values_of_numpy_are_truth_values() -> None:
    settings = {"n_estimators": 3, "n_jobs": 1}
    ours, theirs = (
        BoostedTreesRegressor(booster=weald.Dart(one_drop=value), **settings).fit(X, X[:, 0])
        for value in (True, np.bool_(True))
    )
    assert ours.forest_ == theirs.forest_
