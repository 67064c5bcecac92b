"""Details that scripts come to rely on: each test runs with both modules, and both do the same."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

QUIET: dict[str, Any] = {"nthread": 1}
OBJECTIVES = {
    "reg:squarederror": {},
    "reg:absoluteerror": {},
    "reg:pseudohubererror": {},
    "reg:squaredlogerror": {},
    "reg:quantileerror": {"quantile_alpha": 0.3},
    "reg:logistic": {},
    "binary:logistic": {},
    "binary:logitraw": {},
    "binary:hinge": {},
    "multi:softmax": {"num_class": 2},
    "multi:softprob": {"num_class": 2},
    "count:poisson": {},
    "reg:gamma": {},
    "reg:tweedie": {},
}


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_trains_without_evaluation_sets(xgb: Any, two_classes: Any, objective: str) -> None:
    X, y = two_classes
    label = y + 1.0 if objective == "reg:gamma" else y
    dtrain = xgb.DMatrix(X, label)
    bst = xgb.train({"objective": objective, **OBJECTIVES[objective], **QUIET}, dtrain, 3)
    assert len(bst.predict(dtrain)) == 300
    model = xgb.XGBRegressor(objective=objective, n_estimators=3, n_jobs=1, **OBJECTIVES[objective])
    assert len(model.fit(X, label).predict(X)) == 300


# --- early stopping -------------------------------------------------------------------------------


class Script:
    """A custom metric whose values are written beforehand."""

    def __init__(self, name: str, values: list[float]) -> None:
        self.name, self.values = name, iter(values)

    def __call__(self, predictions: Any, matrix: Any) -> tuple[str, float]:
        return self.name, next(self.values)


def test_early_stopping_counts_the_rounds_that_are_there(xgb: Any, numbers: Any) -> None:
    dtrain = xgb.DMatrix(*numbers)
    first = xgb.train(QUIET, dtrain, 5)
    for save_best, kept in ((False, 10), (True, 8)):
        stop = xgb.callback.EarlyStopping(rounds=2, save_best=save_best, metric_name="custom")
        more = xgb.train(
            QUIET,
            dtrain,
            20,
            xgb_model=first,
            evals=[(dtrain, "t")],
            custom_metric=Script("custom", [3.0, 2.0, 1.0, 4.0, 5.0]),
            callbacks=[stop],
            verbose_eval=False,
        )
        assert (more.best_iteration, more.best_score) == (7, 1.0)
        assert more.num_boosted_rounds() == kept


@pytest.mark.parametrize(
    ("name", "best"), [("precision", 1), ("mapping", 1), ("mape", 0), ("error_of_mine", 0), ("auc_mine", 1)]
)
def test_larger_is_better_by_the_beginning_of_the_name(xgb: Any, numbers: Any, name: str, best: int) -> None:
    dtrain = xgb.DMatrix(*numbers)
    bst = xgb.train(
        QUIET,
        dtrain,
        5,
        evals=[(dtrain, "t")],
        custom_metric=Script(name, [0.5, 0.75, 0.625, 0.625, 0.625]),
        early_stopping_rounds=9,
        verbose_eval=False,
    )
    assert bst.best_iteration == best


def test_a_linear_model_that_stopped_early_predicts(xgb: Any, numbers: Any) -> None:
    X = np.nan_to_num(numbers[0])
    y = X @ [1.0, -2.0, 0.5, 0.0]
    model = xgb.XGBRegressor(
        booster="gblinear", n_estimators=60, early_stopping_rounds=2, n_jobs=1, updater="coord_descent"
    )
    model.fit(X[:200], y[:200], eval_set=[(X[200:], -y[200:])], verbose=False)
    assert model.best_iteration < 59
    assert np.allclose(model.predict(X), model.get_booster().predict(xgb.DMatrix(X)))


# --- parameters and functions ---------------------------------------------------------------------


def test_whole_numbers_may_be_numpys(xgb: Any, two_classes: Any) -> None:
    from sklearn.model_selection import GridSearchCV

    X, y = two_classes
    search = GridSearchCV(
        xgb.XGBClassifier(n_jobs=1), {"n_estimators": np.arange(1, 3), "max_depth": np.arange(2, 4)}, cv=2
    )
    assert search.fit(X, y).best_params_["n_estimators"] in (1, 2)
    assert xgb.train(QUIET, xgb.DMatrix(X, y), np.int64(3)).num_boosted_rounds() == 3
    assert len(xgb.cv(QUIET, xgb.DMatrix(X, y), np.int32(2), nfold=2)) == 2
    forest = xgb.XGBRFClassifier(n_estimators=np.int64(4), n_jobs=1).fit(X, y)
    assert len(forest.get_booster().get_dump()) == 4


def test_an_objective_of_the_estimators_gets_its_weight_by_name(xgb: Any, numbers: Any) -> None:
    X, y = numbers
    weight = np.linspace(0.5, 1.5, 300)

    def squared(labels: Any, predt: Any, scale: float = 1.0, *, sample_weight: Any = None) -> Any:
        assert scale == 1.0
        factor = 1.0 if sample_weight is None else sample_weight
        return factor * (predt - labels), factor * np.ones_like(predt)

    own = xgb.XGBRegressor(objective=squared, n_estimators=5, n_jobs=1).fit(X, y, sample_weight=weight)
    plain = xgb.XGBRegressor(n_estimators=5, n_jobs=1, base_score=0.5).fit(X, y, sample_weight=weight)
    assert np.allclose(own.predict(X), plain.predict(X), atol=1e-3)

    def without(labels: Any, predt: Any) -> Any:
        return predt - labels, np.ones_like(predt)

    with pytest.raises(ValueError, match="sample_weight"):
        xgb.XGBRegressor(objective=without, n_estimators=1, n_jobs=1).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("base_score", [0.3, -0.2])
def test_the_first_prediction_of_a_hinge_is_its_margin(xgb: Any, two_classes: Any, base_score: float) -> None:
    dtrain = xgb.DMatrix(*two_classes)
    params = {"objective": "binary:hinge", "base_score": base_score, **QUIET}
    assert np.allclose(xgb.train(params, dtrain, 0).predict(dtrain, output_margin=True), base_score)
    assert np.mean(xgb.train(params, dtrain, 20).predict(dtrain) == two_classes[1]) > 0.9


# --- margins --------------------------------------------------------------------------------------


@pytest.mark.parametrize("of_training", [False, True])
@pytest.mark.parametrize("base_score", [None, 0.3])
@pytest.mark.parametrize("booster", ["gbtree", "dart", "gblinear"])
def test_every_set_starts_from_its_own_margin(
    xgb: Any, two_classes: Any, of_training: bool, base_score: float | None, booster: str
) -> None:
    X, y = two_classes
    X = np.nan_to_num(X)
    margin = np.linspace(-1.0, 1.0, 300)
    dtrain = xgb.DMatrix(X, y, base_margin=margin if of_training else None)
    plain, moved = xgb.DMatrix(X, y), xgb.DMatrix(X, y, base_margin=margin[::-1])
    params = {"objective": "binary:logistic", "booster": booster, "eval_metric": "logloss", **QUIET}
    if base_score is not None:
        params["base_score"] = base_score
    evals = [(plain, "plain"), (moved, "moved")]
    before: Any = None
    for _ in range(2):  # the second time training goes on
        found: dict[str, Any] = {}
        before = xgb.train(
            params, dtrain, 3, evals=evals, evals_result=found, verbose_eval=False, xgb_model=before
        )
        for matrix, name in evals:
            p = before.predict(matrix).astype(float)
            loss = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
            assert found[name]["logloss"][-1] == pytest.approx(loss, rel=1e-5)
    ours = before.predict(plain, output_margin=True) - before.predict(moved, output_margin=True)
    base = 0.3 if base_score is not None else np.mean(y)
    assert np.allclose(ours, np.log(base / (1 - base)) - margin[::-1], atol=1e-5)


def test_margins_of_several_classes(xgb: Any, three_classes: Any) -> None:
    X, y = three_classes
    margin = np.random.default_rng(0).normal(size=(300, 3))
    dtrain, moved = xgb.DMatrix(X, y), xgb.DMatrix(X, y, base_margin=margin)
    params = {"objective": "multi:softprob", "num_class": 3, **QUIET}
    found: dict[str, Any] = {}
    bst = xgb.train(params, dtrain, 3, evals=[(moved, "m")], evals_result=found, verbose_eval=False)
    picked = bst.predict(moved)[np.arange(300), y]
    assert found["m"]["mlogloss"][-1] == pytest.approx(-np.mean(np.log(picked)), rel=1e-4)


# --- files of estimators --------------------------------------------------------------------------


def test_an_estimators_file_says_what_it_is_of(xgb: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    frame = pd.DataFrame({"size": rng.integers(0, 9, 200), "colour": pd.Categorical(colour)})
    y = 2.0 * (colour == "red") + 0.1 * frame["size"].to_numpy() + 0.1
    model = xgb.XGBRegressor(
        n_estimators=5, enable_categorical=True, tree_method="hist", objective="reg:gamma", n_jobs=1
    ).fit(frame, y)
    model.save_model(tmp_path / "model.ubj")
    again = xgb.XGBRegressor(n_jobs=1)
    again.load_model(tmp_path / "model.ubj")
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert (again.objective, again.booster, again.enable_categorical) == ("reg:gamma", "gbtree", True)
    assert again.feature_types == ["int", "c"]


@pytest.mark.parametrize("several", [False, True])
def test_a_boosters_file_is_read_by_a_classifier(
    xgb: Any, two_classes: Any, three_classes: Any, several: bool, tmp_path: Path
) -> None:
    X, y = three_classes if several else two_classes
    params = {"objective": "multi:softprob", "num_class": 3} if several else {"objective": "binary:logistic"}
    xgb.train({**params, **QUIET}, xgb.DMatrix(X, y), 5).save_model(tmp_path / "model.ubj")
    model = xgb.XGBClassifier(n_jobs=1)
    model.load_model(tmp_path / "model.ubj")
    assert (model.n_classes_, list(model.classes_)) == (len(set(y)), sorted(set(y)))
    assert model.score(X, y) > 0.9
    assert model.objective == params["objective"]


# --- parameters that callbacks set ----------------------------------------------------------------


@pytest.mark.parametrize("when", ["before_iteration", "after_iteration"])
def test_a_callback_sets_parameters_of_the_rounds_to_come(xgb: Any, numbers: Any, when: str) -> None:
    seen: list[int] = []

    class Deeper(xgb.callback.TrainingCallback):  # type: ignore[misc,name-defined]
        def _set(self, model: Any, epoch: int, evals_log: Any) -> bool:
            seen.append(epoch)
            if epoch == 2:
                model.set_param({"max_depth": 1})
            return False

    setattr(Deeper, when, Deeper._set)
    dtrain = xgb.DMatrix(*numbers)
    found: dict[str, Any] = {}
    params = {"max_depth": 4, "base_score": 0.5, **QUIET}
    bst = xgb.train(
        params,
        dtrain,
        5,
        callbacks=[Deeper()],
        evals=[(dtrain, "t")],
        evals_result=found,
        verbose_eval=False,
    )
    assert seen == list(range(5))
    assert len(found["t"]["rmse"]) == 5
    leaves = bst.trees_to_dataframe().query("Feature == 'Leaf'").groupby("Tree").size().tolist()
    shallow = 2 if when == "before_iteration" else 3
    assert all(count > 2 for count in leaves[:shallow])
    assert leaves[shallow:] == [2] * (5 - shallow)
    plain = xgb.train(params, dtrain, shallow)
    assert np.allclose(bst.predict(dtrain, iteration_range=(0, shallow)), plain.predict(dtrain), atol=1e-5)


# --- names of columns -----------------------------------------------------------------------------


def test_columns_go_by_their_places_and_names_are_checked_only_when_asked(xgb: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    y = (frame["a"] - frame["b"] > 0).astype(int)
    model = xgb.XGBClassifier(n_estimators=3, n_jobs=1).fit(frame, y)
    array, turned = frame.to_numpy(), frame[["c", "b", "a"]]
    bst = model.get_booster()
    for predict in (model.predict, model.predict_proba):
        assert np.array_equal(
            predict(turned, validate_features=False),
            predict(turned.to_numpy(), validate_features=False),
        )
        with pytest.raises(ValueError, match="feature_names mismatch"):
            predict(turned)
        with pytest.raises(ValueError, match="c"):
            predict(frame[["a", "b"]], validate_features=True)
        with pytest.raises(ValueError, match=r"2\b"):
            predict(array[:, :2], validate_features=False)
    whole = bst.predict(xgb.DMatrix(frame))
    for table in (frame, array, frame.set_axis(list("xyz"), axis=1)):
        assert np.array_equal(bst.inplace_predict(table, validate_features=False), whole)
    assert np.array_equal(bst.inplace_predict(array), whole)
    with pytest.raises(ValueError, match="feature_names mismatch"):
        bst.inplace_predict(turned)
    with pytest.raises(ValueError, match="feature"):
        bst.predict(xgb.DMatrix(array))
    with pytest.raises(ValueError, match=r"2\b"):
        bst.inplace_predict(array[:, :2])


# --- contributions --------------------------------------------------------------------------------


@pytest.mark.parametrize("booster", ["gbtree", "dart", "gblinear"])
@pytest.mark.parametrize("classes", [2, 3])
def test_contributions_add_up_to_the_margins(
    xgb: Any, two_classes: Any, three_classes: Any, booster: str, classes: int
) -> None:
    X, y = three_classes if classes == 3 else two_classes
    params = (
        {"objective": "multi:softprob", "num_class": 3} if classes == 3 else {"objective": "binary:logistic"}
    )
    bst = xgb.train({**params, "booster": booster, **QUIET}, xgb.DMatrix(X, y), 6)
    shape = (300, 3, 5) if classes == 3 else (300, 5)
    rounds: list[Any] = [(0, 0)] if booster == "gblinear" else [(0, 0), (0, 2)]
    margins = np.random.default_rng(0).normal(size=(300, 3) if classes == 3 else 300)
    for matrix in (xgb.DMatrix(X), xgb.DMatrix(X, base_margin=margins)):
        for iteration_range in rounds:
            parts = bst.predict(matrix, pred_contribs=True, iteration_range=iteration_range)
            whole = bst.predict(matrix, output_margin=True, iteration_range=iteration_range)
            assert (parts.shape, parts.dtype) == (shape, np.float32)
            assert np.allclose(parts.sum(axis=-1), whole, atol=1e-4)
    strict = bst.predict(xgb.DMatrix(X), pred_contribs=True, strict_shape=True)
    assert strict.shape == (300, 3 if classes == 3 else 1, 5)


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic", "multi:softprob"])
def test_contributions_are_those_of_xgboost(objective: str) -> None:
    """On a real table with few enough values for the same trees, whose nodes are weighed by hessians."""
    pytest.importorskip("xgboost", minversion="3.0")
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    label = y if objective == "multi:softprob" else (y == 1) * 1.0
    params: dict[str, Any] = {"objective": objective, "max_depth": 3, "eta": 0.5, "base_score": 0.5, **QUIET}
    if objective == "multi:softprob":
        params |= {"num_class": 3, "base_score": 0.0}
    found = []
    for name in ("xgboost", "weald.xgboost"):
        module = importlib.import_module(name)
        bst = module.train(params, module.DMatrix(X, label), 4)
        matrix = module.DMatrix(X)
        found.append((bst.predict(matrix, output_margin=True), bst.predict(matrix, pred_contribs=True)))
    assert np.allclose(found[0][0], found[1][0], atol=1e-4)
    assert np.allclose(found[0][1], found[1][1], atol=2e-4)
