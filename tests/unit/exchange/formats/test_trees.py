"""Forests in the formats of other tree libraries, which load them and predict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import weald
from exchange_models import CASES, Case, case, coded, hard_rows
from weald.data import Column, Schema
from weald.exchange.evaluate import evaluate
from weald.exchange.exchanged import ExchangedModel
from weald.exchange.model import Answer, Builder, Output, Trees
from weald.exchange.plain import at_most_single, below_single
from weald.forest.builder import ForestBuilder
from weald.forest.predict import raw_scores

Floats = NDArray[np.float64]
PLAIN = [
    "regressor",
    "poisson",
    "two_classes",
    "three_classes",
    "exponential",
    "quantiles",
    "averaged",
    "oblivious",
    "oblivious_classes",
    "sets",
    "sets_three",
    "onehot",
    "tree",
    "forest",
    "forest_classes",
    "forest_two",
    "gradient_boosting",
]
# Columns of the tables of numbers hold values below 1e-35, where LightGBM sees zeros, and float32 has few bits.
TINY = 2


def rows_of(one: Case, single: bool, finite: bool = False) -> Floats:
    rows = coded(one.model, hard_rows(one.model, 200, single=single))
    if not one.model.schema.has_categories:
        rows[:, TINY] = np.where(np.abs(rows[:, TINY]) < 1e-30, 0.0, rows[:, TINY])
    return np.where(np.isinf(rows), 1e30, rows) if finite else rows


def own_scores(one: Case, rows: Floats) -> Floats:
    """What the trees say, before the link."""
    trees = next(step for step in one.model.steps if isinstance(step, Trees))
    return raw_scores(trees.forest, [(0, np.ascontiguousarray(rows))], len(rows)).T / trees.divisor


@pytest.mark.parametrize("name", PLAIN)
def test_lightgbm_loads_the_text_and_computes_the_same_bits(name: str, tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    one = case(name, denormals=False)
    one.estimator.export(tmp_path / "model.txt", format="lightgbm")
    booster = lightgbm.Booster(model_file=str(tmp_path / "model.txt"))
    rows = rows_of(one, single=False)
    expected = own_scores(one, rows)
    # Of an average, LightGBM's raw scores are the sum.
    is_mean = name == "averaged" or name.startswith(("forest", "tree"))
    found = booster.predict(rows, raw_score=not is_mean).reshape(expected.shape)
    if is_mean:
        assert np.allclose(found, expected, rtol=1e-14, atol=1e-14 * np.abs(expected).max())
    else:
        assert np.array_equal(found, expected)
    values = evaluate(one.model, rows).values[0]
    predicted = booster.predict(rows).reshape(len(rows), -1)
    assert np.allclose(
        predicted, values[:, -1:] if predicted.shape[1] == 1 else values, rtol=1e-12, atol=1e-300
    )


@pytest.mark.parametrize("suffix", ["json", "ubj"])
@pytest.mark.parametrize("name", PLAIN)
def test_xgboost_loads_the_file_and_decides_every_float32_alike(
    name: str, suffix: str, tmp_path: Path
) -> None:
    xgboost = pytest.importorskip("xgboost")
    one = case(name, denormals=False)
    path = tmp_path / f"model.{suffix}"
    one.estimator.export(path, format="xgboost")
    booster = xgboost.Booster(model_file=str(path))
    rows = rows_of(one, single=True, finite=True)
    schema = one.model.schema
    kinds = ["c" if column.kind == "categorical" else "float" for column in schema.columns]
    data = xgboost.DMatrix(
        rows.astype(np.float32),
        feature_types=kinds,
        feature_names=list(schema.names) if schema.named else None,
        enable_categorical=True,
    )
    values = evaluate(one.model, rows).values[0]
    found = np.asarray(booster.predict(data), np.float64).reshape(len(rows), -1)
    wanted = values[:, -1:] if found.shape[1] == 1 else values
    assert np.abs(found - wanted).max() <= 2e-6 * np.abs(wanted).max()
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["oblivious", "oblivious_classes"])
def test_catboost_loads_symmetric_trees(name: str, tmp_path: Path) -> None:
    catboost = pytest.importorskip("catboost")
    one = case(name, denormals=False)
    path = tmp_path / "model.json"
    one.estimator.export(path, format="catboost")
    model = catboost.CatBoost().load_model(str(path), format="json")
    rows = rows_of(one, single=True, finite=True)
    expected = own_scores(one, rows)
    found = model.predict(rows.astype(np.float32), prediction_type="RawFormulaVal").reshape(expected.shape)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_catboost_holds_no_other_trees(tmp_path: Path) -> None:
    with pytest.raises(weald.NotSupportedError, match="symmetric trees"):
        case("regressor").estimator.export(tmp_path / "m.json", format="catboost")
    with pytest.raises(weald.NotSupportedError, match="sets of categories"):
        case("sets").estimator.export(tmp_path / "m.json", format="catboost")


@pytest.mark.parametrize("name", PLAIN)
def test_treelite_computes_the_same_in_float64(name: str, tmp_path: Path) -> None:
    treelite = pytest.importorskip("treelite")
    one = case(name)
    one.estimator.export(tmp_path / "model.tl", format="treelite")
    model = treelite.Model.deserialize(str(tmp_path / "model.tl"))
    rows = coded(one.model, hard_rows(one.model, 200))
    expected = own_scores(one, rows)
    found = treelite.gtil.predict(model, rows, nthread=1, pred_margin=True).reshape(expected.shape)
    if name in ("averaged", "forest_classes"):
        assert np.allclose(found, expected, rtol=1e-14)
    else:
        assert np.array_equal(found, expected)
    values = evaluate(one.model, rows).values[0]
    predicted = treelite.gtil.predict(model, rows, nthread=1).reshape(len(rows), -1)
    wanted = values[:, -1:] if predicted.shape[1] == 1 else values
    assert np.allclose(predicted, wanted, rtol=1e-6)


@pytest.mark.parametrize("format", ["lightgbm", "xgboost", "catboost", "treelite"])
@pytest.mark.parametrize("name", sorted(set(CASES) - set(PLAIN)))
def test_models_that_are_more_than_a_forest_are_refused(name: str, format: str, tmp_path: Path) -> None:
    if format == "treelite":
        pytest.importorskip("treelite")
    try:
        case(name).estimator.export(tmp_path / "model", format=format)
    except weald.NotSupportedError as error:
        assert str(error).endswith(".")
        assert not list(tmp_path.iterdir())
    else:
        assert name in ("bagging", "statistics")  # joined to one forest; or no statistic was worth a split


def test_lightgbm_is_not_given_splits_that_it_cannot_see(tmp_path: Path) -> None:
    builder = ForestBuilder(n_features=1, n_outputs=1, base_score=[0.0])
    builder.append(
        feature=[0, -1, -1], threshold=[1e-300, 0, 0], left=[1, 0, 0], missing_left=[True, False, False],
        category_set=[-1] * 3, value=[0, 1, 2], gain=[1, 0, 0], cover=[2, 1, 1], count=[2, 1, 1],
    )  # fmt: skip
    steps = Builder(Schema((Column("x", "numeric"),), named=True))
    scores = steps.add(Trees((0,), builder.build()))
    model = ExchangedModel(steps.model("Trees", Answer(scores, (Output(scores),))))
    with pytest.raises(weald.NotSupportedError, match="1e-35"):
        model.export(tmp_path / "m.txt", format="lightgbm")


def test_names_that_lightgbms_text_cannot_hold_become_numbers(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    case("sets").estimator.export(tmp_path / "m.txt", format="lightgbm")
    names = lightgbm.Booster(model_file=str(tmp_path / "m.txt")).feature_name()
    assert names == [f"Column_{place}" for place in range(5)]


def test_columns_of_xgboosts_file_keep_their_names(tmp_path: Path) -> None:
    case("sets").estimator.export(tmp_path / "m.json", format="xgboost")
    found = json.loads((tmp_path / "m.json").read_text())
    assert found["learner"]["feature_names"] == list(case("sets").model.schema.names)


@pytest.mark.parametrize(("rounded", "compare"), [(at_most_single, np.less_equal), (below_single, np.less)])
def test_rounded_thresholds_decide_every_float32_alike(
    rounded: Callable[[Floats], NDArray[np.float32]], compare: Callable[..., Any]
) -> None:
    random = np.random.default_rng(0)
    thresholds = np.concatenate(
        [random.normal(size=500), random.normal(size=100) * 1e-42, [0.0, -0.0, 1e30, 5e-324]]
    )
    near = thresholds.astype(np.float32)
    for values in (near, np.nextafter(near, np.float32(9e9)), np.nextafter(near, np.float32(-9e9))):
        assert (compare(values, rounded(thresholds)) == (values.astype(np.float64) <= thresholds)).all()
