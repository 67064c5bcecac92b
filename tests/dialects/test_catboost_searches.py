"""Searches of a model for its own parameters, sums of models, and what scikit-learn and Optuna do with CatBoost's estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

import weald.catboost as cb
from weald.runtime.errors import InputError, NotSupportedError

rng = np.random.default_rng(0)
X = rng.integers(0, 8, (150, 3)).astype(np.float64)
Y = X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(150)
LABELS = (Y > 0).astype(int)
QUIET: dict[str, Any] = {"iterations": 4, "verbose": False, "thread_count": 1, "bootstrap_type": "No"}
GRID = {"learning_rate": [0.01, 0.5], "depth": [2, 3]}


@pytest.mark.parametrize("by_split", [True, False])
def test_a_grid_search_does_not_leave_the_best_model(by_split: bool) -> None:
    model = cb.CatBoostClassifier(**QUIET)
    found = model.grid_search(GRID, X, LABELS, verbose=False, search_by_train_test_split=by_split)
    assert found["params"]["learning_rate"] == 0.5 and model.get_param("learning_rate") == 0.5
    assert len(found["cv_results"]["test-Logloss-mean"]) == 4
    again = cb.CatBoostClassifier(**QUIET, **found["params"]).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))


def test_a_search_has_other_keys_than_catboosts() -> None:
    catboost = pytest.importorskip("catboost")
    theirs = catboost.CatBoostRegressor(**QUIET, allow_writing_files=False)
    want = theirs.grid_search({"depth": [2]}, X, Y, verbose=False)
    got = cb.CatBoostRegressor(**QUIET).grid_search({"depth": [2]}, X, Y, verbose=False)
    assert set(got) == set(want) and set(got["cv_results"]) == set(want["cv_results"])
    model = cb.CatBoostRegressor(**QUIET)
    assert set(model.grid_search({"depth": [2]}, X, Y, verbose=False, calc_cv_statistics=False)) == {"params"}


def test_a_random_search_tries_too_many_or_forgets_eval_metric(capsys: pytest.CaptureFixture[str]) -> None:
    model = cb.CatBoostClassifier(**QUIET, eval_metric="AUC")
    pool = cb.Pool(X, LABELS)
    found = model.randomized_search(GRID, pool, n_iter=2, refit=False, calc_cv_statistics=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and all(line.partition("loss: ")[2][:2] in ("0.", "1.") for line in lines)
    assert set(found) == {"params"} and not model.is_fitted()
    table = model.grid_search(
        {"depth": [1, 3]}, pool, cv=KFold(2), search_by_train_test_split=False, verbose=2
    )
    assert table["params"] == {"depth": 3} and "test-AUC-mean" in table["cv_results"]
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_search_ignores_what_it_cannot_do() -> None:
    model = cb.CatBoostRegressor(**QUIET)
    for given, sentence in (
        ({"plot": True}, "there are no pictures"),
        ({"y": Y, "X": cb.Pool(X, Y)}, "X is a Pool, which has its own y"),
        ({"param_grid": {"dept": [2]}}, "did you mean 'depth'"),
    ):
        arguments: dict[str, Any] = {"param_grid": GRID, "X": X, "verbose": False, **given}
        arguments.setdefault("y", Y if arguments["X"] is X else None)
        with pytest.raises(InputError, match=sentence):
            model.grid_search(**arguments)


def test_a_sum_of_models_is_not_the_sum_of_their_scores() -> None:
    models = [
        cb.CatBoostClassifier(**QUIET, random_seed=seed, depth=seed + 2).fit(X, LABELS) for seed in (0, 1)
    ]
    summed = cb.sum_models(models, weights=[0.25, 0.75])
    scores = [model.predict(X, "RawFormulaVal") for model in models]
    np.testing.assert_allclose(summed.predict(X), 0.25 * scores[0] + 0.75 * scores[1], rtol=1e-12)
    assert summed.tree_count_ == 8 and summed.predict(X, "Probability").shape == (150, 2)
    assert set(summed.predict(X, "Class")) == {0, 1}
    blob = cb.CatBoost().load_model(blob=summed._trained().to_bytes({}))
    np.testing.assert_array_equal(blob.predict(X), summed.predict(X))


def test_models_that_mean_different_things_are_summed() -> None:
    model, other = cb.CatBoostRegressor(**QUIET).fit(X, Y), cb.CatBoostClassifier(**QUIET).fit(X, LABELS)
    with pytest.raises(InputError, match="sum models of one loss"):
        cb.sum_models([model, other])
    with pytest.raises(InputError, match="sum models of the same columns"):
        cb.sum_models([model, cb.CatBoostRegressor(**QUIET).fit(X[:, :2], Y)])
    with pytest.raises(InputError, match=r"has the classes \['a', 'b'\]"):
        cb.sum_models([other, cb.CatBoostClassifier(**QUIET).fit(X, np.where(LABELS, "a", "b"))])
    with pytest.raises(InputError, match="weights has 1 numbers, but there are 2 models"):
        cb.sum_models([model, model], weights=[1.0])
    with pytest.raises(InputError, match="models is empty"):
        cb.sum_models([])
    table = [[f"c{int(value)}", number] for value, number in X[:, :2]]
    of_categories = cb.CatBoostRegressor(**QUIET, cat_features=[0]).fit(table, Y)
    with pytest.raises(NotSupportedError, match="statistics of categories"):
        cb.sum_models([of_categories, of_categories])


class Named(cb.CatBoostClassifier):  # type: ignore[misc]
    """A parameter of its own, and CatBoost's as further keywords."""

    def __init__(self, extra: int = 1, **kwargs: Any) -> None:
        self.extra = extra
        super().__init__(**kwargs)


class Narrow(cb.CatBoostRegressor):  # type: ignore[misc]
    """A constructor that takes few of CatBoost's parameters, and sets others."""

    def __init__(self, *, depth: int = 3, own: str = "a") -> None:
        super().__init__(depth=depth, iterations=4, verbose=False)
        self.own = own


def test_a_clone_of_a_subclass_loses_parameters() -> None:
    copy = clone(Named(extra=3, **QUIET))
    assert (copy.extra, copy.get_params()) == (3, {**QUIET, "extra": 3})
    assert (
        copy.set_params(extra=4, depth=2).get_params() == {**QUIET, "extra": 4, "depth": 2}
        and copy.extra == 4
    )
    narrow = clone(Narrow(depth=2, own="b"))
    assert (narrow.own, narrow.get_param("iterations"), narrow.get_param("depth")) == ("b", 4, 2)
    assert narrow.fit(X, Y).tree_count_ == 4
    fitted = Named(extra=5, **QUIET).fit(X, LABELS)
    assert not clone(fitted).is_fitted() and clone(fitted).extra == 5


def test_a_search_of_scikit_learn_cannot_reach_parameters_of_catboosts_alone() -> None:
    grid: dict[str, Any] = {"extra": [1, 2], "random_strength": [0.0, 1.0], "rsm": [0.5]}
    found = GridSearchCV(Named(**QUIET), grid, cv=2, error_score="raise").fit(X, LABELS)
    assert found.best_params_["rsm"] == 0.5


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"bootstrap_type": "Bernoulli", "subsample": 0.5},
        {"grow_policy": "Lossguide", "max_leaves": 5},
        {"grow_policy": "Depthwise", "min_data_in_leaf": 4},
        {"early_stopping_rounds": 3},
        {"leaf_estimation_method": "Gradient"},
    ],
)
def test_a_model_cannot_be_made_again_of_all_its_params(more: dict[str, Any]) -> None:
    model = cb.CatBoostClassifier(**{**QUIET, **more}).fit(X, LABELS)
    again = cb.CatBoostClassifier(**model.get_all_params()).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert again.get_all_params() == model.get_all_params()


def test_optunas_callback_cannot_prune() -> None:
    optuna = pytest.importorskip("optuna", reason="optuna is not installed")
    integration = pytest.importorskip("optuna_integration", reason="optuna_integration is not installed")
    pytest.importorskip("catboost", reason="optuna's callback imports catboost, which is not installed")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: Any) -> float:
        pruning = integration.CatBoostPruningCallback(trial, "Logloss")
        model = cb.CatBoostClassifier(**QUIET, learning_rate=(0.5, 1e-4, 1e-4)[trial.number])
        model.fit(X[:100], LABELS[:100], eval_set=(X[100:], LABELS[100:]), callbacks=[pruning])
        pruning.check_pruned()
        return model.best_score_["validation"]["Logloss"]

    study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=1))
    study.optimize(objective, n_trials=3)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED", "PRUNED"]
    assert len(study.trials[1].intermediate_values) == 1
