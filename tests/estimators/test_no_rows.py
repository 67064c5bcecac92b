"""A table without rows has answers without rows: the other axes and the dtypes are those of a full table's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import weald
from weald.runtime.errors import InputError

# No other axis of an answer is as long.
N_ROWS = 17
N_COLUMNS = 4
NAMES = [f"x{position}" for position in range(N_COLUMNS)]
METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "apply",
    "decision_path",
    "shap_values",
    "transform",
    "refused",
    "staged_predict",
    "staged_predict_proba",
    "staged_decision_function",
)
CUT = ("predict", "predict_proba", "decision_function", "apply", "shap_values")

rng = np.random.default_rng(0)
X = rng.random((N_ROWS * 5, N_COLUMNS))
TWO = np.array(["no", "yes"])[(X[:, 0] > 0.5).astype(int)]
THREE = np.array(["low", "mid", "high"])[(X[:, 1] * 3).astype(int)]
NUMBER = X[:, 0] + X[:, 1]

BOOSTED: dict[str, Any] = {"n_estimators": 3, "max_leaves": 3, "n_jobs": 1}
GROWN: dict[str, Any] = {"n_estimators": 3, "max_depth": 2}


def members(task: str) -> list[tuple[str, Any]]:
    tree, boosted = getattr(weald, f"DecisionTree{task}"), getattr(weald, f"BoostedTrees{task}")
    return [("tree", tree(max_depth=2)), ("boosted", boosted(**BOOSTED))]


MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "two classes": (lambda: weald.BoostedTreesClassifier(**BOOSTED), TWO),
    "three classes": (lambda: weald.BoostedTreesClassifier(**BOOSTED), THREE),
    "numbers": (lambda: weald.BoostedTreesRegressor(**BOOSTED), NUMBER),
    "quantiles": (
        lambda: weald.BoostedTreesRegressor(loss=weald.losses.Quantile([0.1, 0.9]), **BOOSTED),
        NUMBER,
    ),
    "averaging": (lambda: weald.BoostedTreesClassifier(booster="averaging", subsample=0.5, **BOOSTED), THREE),
    "linear": (lambda: weald.BoostedTreesRegressor(booster="linear", n_estimators=3), NUMBER),
    "tree of classes": (lambda: weald.DecisionTreeClassifier(max_depth=2), THREE),
    "tree of numbers": (lambda: weald.DecisionTreeRegressor(max_depth=2), NUMBER),
    "forest of two classes": (lambda: weald.RandomForestClassifier(**GROWN), TWO),
    "forest of three classes": (lambda: weald.RandomForestClassifier(**GROWN), THREE),
    "forest of outputs": (lambda: weald.RandomForestClassifier(**GROWN), np.column_stack([TWO, THREE])),
    "forest of numbers": (lambda: weald.RandomForestRegressor(**GROWN), NUMBER),
    "extra trees": (lambda: weald.ExtraTreesRegressor(**GROWN), np.column_stack([NUMBER, -NUMBER])),
    "bagged classes": (lambda: weald.BaggingClassifier(n_estimators=3), THREE),
    "bagged boosting": (lambda: weald.BaggingClassifier(members("Classifier")[1][1], n_estimators=2), THREE),
    "bagged numbers": (lambda: weald.BaggingRegressor(n_estimators=3, max_features=0.5), NUMBER),
    "adaptive classes": (lambda: weald.AdaBoostClassifier(n_estimators=3), THREE),
    "adaptive boosting": (lambda: weald.AdaBoostClassifier(members("Classifier")[1][1], n_estimators=2), TWO),
    "adaptive numbers": (lambda: weald.AdaBoostRegressor(n_estimators=3), NUMBER),
    "gradients of two classes": (lambda: weald.GradientBoostingClassifier(**GROWN), TWO),
    "gradients of three classes": (lambda: weald.GradientBoostingClassifier(**GROWN), THREE),
    "gradients of numbers": (lambda: weald.GradientBoostingRegressor(**GROWN), NUMBER),
    "gradients from a model": (
        lambda: weald.GradientBoostingRegressor(init=members("Regressor")[0][1], **GROWN),
        NUMBER,
    ),
    "hard votes": (lambda: weald.VotingClassifier(members("Classifier"), ties="random"), THREE),
    "soft votes": (
        lambda: weald.VotingClassifier(members("Classifier"), voting="soft", flatten_transform=False),
        THREE,
    ),
    "majority": (
        lambda: weald.VotingClassifier(members("Classifier"), voting="majority", refusal_label="?"),
        THREE,
    ),
    "averages": (lambda: weald.VotingRegressor(members("Regressor")), NUMBER),
    "stacked classes": (
        lambda: weald.StackingClassifier(members("Classifier"), cv=2, passthrough=True),
        THREE,
    ),
    "stacked numbers": (lambda: weald.StackingRegressor(members("Regressor"), cv=2), NUMBER),
    "blended classes": (
        lambda: weald.BlendingClassifier(members("Classifier"), members("Classifier")[1][1]),
        TWO,
    ),
    "blended numbers": (
        lambda: weald.BlendingRegressor(members("Regressor"), members("Regressor")[1][1]),
        NUMBER,
    ),
    "statistics": (lambda: weald.TargetStatisticsEncoder(categorical_features=[2]), NUMBER),
}


# scikit-learn's final estimators, and a model as the start, are not in files.
SAVED = [name for name in MODELS if not name.startswith(("stacked", "gradients from", "statistics"))]


@cache
def fitted(name: str) -> Any:
    make, y = MODELS[name]
    return make().fit(np.round(X, 1), y)


def tables(kind: str) -> Any:
    """Rows of a table of that kind; none with 0."""
    if kind == "array":
        return lambda n_rows: X[:n_rows]
    if kind == "sparse":
        return lambda n_rows: sparse.csr_array(X[:n_rows])
    library = pytest.importorskip(kind)
    return lambda n_rows: library.DataFrame({name: X[:n_rows, place] for place, name in enumerate(NAMES)})


def arrays_of(answer: Any) -> Iterator[Any]:
    """The arrays of an answer, which may be a list or a generator of them."""
    if hasattr(answer, "dtype"):
        yield answer
        return
    for part in answer:
        yield from arrays_of(part)


def check_answers(model: Any, table: Any, methods: tuple[str, ...] = METHODS, **how: Any) -> int:
    """The number of methods that the model has."""
    there = [method for method in methods if hasattr(model, method)]
    for method in there:
        ask = getattr(model, method)
        full, none = list(arrays_of(ask(table(N_ROWS), **how))), list(arrays_of(ask(table(0), **how)))
        shapes = [tuple(0 if size == N_ROWS else size for size in array.shape) for array in full]
        assert [(array.shape, array.dtype) for array in none] == [
            (shape, array.dtype) for shape, array in zip(shapes, full, strict=True)
        ], method
    return len(there)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "sparse"])
@pytest.mark.parametrize("name", MODELS)
def test_no_rows_are_answered_by_arrays_of_no_rows(name: str, kind: str) -> None:
    if (name, kind) == ("statistics", "sparse"):
        pytest.skip("statistics make a dense table, so that sparse ones are refused")
    methods = METHODS
    if name == "linear":  # it has no trees to ask
        methods = ("predict",)
    assert check_answers(fitted(name), tables(kind), methods)


@pytest.mark.parametrize("name", ["two classes", "three classes", "numbers", "averaging"])
def test_no_rows_are_answered_by_the_first_rounds_too(name: str) -> None:
    assert check_answers(fitted(name), tables("array"), CUT, n_rounds=2)


@pytest.mark.parametrize("name", SAVED)
def test_a_loaded_model_answers_no_rows_as_the_saved_one(name: str, tmp_path: Path) -> None:
    fitted(name).save(tmp_path / "model")
    methods = ("predict",) if name == "linear" else METHODS
    assert check_answers(weald.load(tmp_path / "model"), tables("array"), methods)


@pytest.mark.parametrize("untyped", [False, True])
def test_no_rows_of_categories_and_dates_are_answered_whatever_the_types_of_the_columns(
    untyped: bool,
) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "colour": ["red", "blue", "green"] * 20,
            "size": pandas.Categorical(["S", "M", "L", "XL"] * 15),
            "when": pandas.date_range("2024-01-01", periods=60),
            "text": pandas.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d"),
            "price": np.arange(60.0),
        }
    )
    parts = weald.date_parts(frame, ["when", "text"])
    model = weald.BoostedTreesClassifier(**BOOSTED).fit(parts, np.arange(60) % 3)
    none = pandas.DataFrame(columns=list(frame)) if untyped else frame.iloc[:0]
    assert check_answers(model, lambda n_rows: frame.iloc[:n_rows] if n_rows else none)


def test_other_columns_are_refused_without_rows_too() -> None:
    with pytest.raises(InputError, match="X has 3 features, but BoostedTreesRegressor is expecting 4"):
        fitted("numbers").predict(X[:0, :3])
    with pytest.raises(InputError, match=r"Found array with 0 feature\(s\)"):
        fitted("numbers").predict(np.empty((0, 0)))


@pytest.mark.parametrize("use", ["fit", "eval_set", "refit", "loss_function_change"])
def test_what_learns_from_rows_or_measures_them_needs_one(use: str) -> None:
    none, model = (X[:0], NUMBER[:0]), fitted("numbers")
    with pytest.raises(InputError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 4\)\)"):
        if use == "eval_set":
            weald.BoostedTreesRegressor(**BOOSTED).fit(X, NUMBER, eval_set=[none])
        elif use == "fit":
            weald.BoostedTreesRegressor(**BOOSTED).fit(*none)
        else:
            getattr(model, use)(*none)
