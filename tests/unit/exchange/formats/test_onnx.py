from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import weald
from exchange_models import CASES, Case, case, coded, hard_rows, scores_of, table_for
from weald.exchange.formats.onnx import onnx_model

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")


def run(model: Any, given: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # several threads share the trees of few rows, and add in another order
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))


def check(one: Case, found: dict[str, NDArray[Any]], rows: Any, tolerance: float) -> None:
    """Labels are equal; scores by the bit without a tolerance; probabilities by the last bits of exp."""
    estimator, table = one.estimator, table_for(one.model, rows)
    with np.errstate(invalid="ignore", over="ignore"):
        expected, labels = scores_of(estimator, table), estimator.predict(table)
        decided = estimator.decision_function(table) if hasattr(estimator, "decision_function") else None
    if expected is not None:
        values = found["probabilities" if hasattr(estimator, "classes_") else "values"].reshape(
            expected.shape
        )
        most = np.nanmax(np.abs(expected[np.isfinite(expected)]))
        assert np.allclose(
            values, expected, rtol=max(tolerance, 1e-13), atol=tolerance * most + 1e-15, equal_nan=True
        )
    if hasattr(estimator, "classes_") and not tolerance:
        assert found["label"].tolist() == labels.tolist()
    if decided is not None and one.model.answer.scores and one.name != "blending" and not tolerance:
        assert np.array_equal(found["scores"].reshape(decided.shape), decided, equal_nan=True)


@pytest.mark.parametrize("name", CASES)
def test_onnxruntime_computes_the_scores_to_the_bit(name: str) -> None:
    one = case(name)
    rows = hard_rows(one.model, 150)
    check(one, run(onnx_model(one.model), {"rows": coded(one.model, rows)}), rows, 0.0)


@pytest.mark.parametrize("name", ["regressor", "three_classes", "sets", "forest_classes", "averaged"])
def test_the_operators_of_old_runtimes_add_in_float32(name: str) -> None:
    one = case(name)
    rows = hard_rows(one.model, 150)
    check(one, run(onnx_model(one.model, version=3), {"rows": coded(one.model, rows)}), rows, 1e-6)


@pytest.mark.parametrize("name", ["sets", "statistics", "voting_soft"])
def test_categories_are_given_by_their_names(name: str) -> None:
    one = case(name)
    rows = hard_rows(one.model, 150)
    given = {}
    for column in one.model.schema.columns:
        cells = rows[column.name].to_numpy()
        is_text = column.kind == "categorical"
        given[column.name] = (
            np.array(["" if cell is None else cell for cell in cells], dtype=object)
            if is_text
            else cells.astype(float)
        )[:, None]
    check(one, run(onnx_model(one.model, "names"), given), rows, 0.0)


def test_numbers_that_are_categories_are_told_by_their_values() -> None:
    random = np.random.default_rng(0)
    X = np.column_stack([random.choice([1.5, 2.0, 7.0, 11.0], 300), random.normal(size=300)])
    estimator = weald.BoostedTreesRegressor(
        n_estimators=5, categories=weald.Partition(features=[0]) if hasattr(weald.Partition, "features") else "partition",
        bins=weald.Bins(categorical_features=[0]) if hasattr(weald.Bins, "categorical_features") else "auto",
    )  # fmt: skip
    estimator.fit(X, np.isin(X[:, 0], [1.5, 11.0]) + X[:, 1])
    model = estimator._exchanged()
    rows = np.array([[1.5, 0.0], [2.0, 1.0], [3.0, 0.0], [np.nan, 0.5], [11.0, -1.0]])
    given = {name: rows[:, [place]] for place, name in enumerate(model.schema.names)}
    assert np.array_equal(run(onnx_model(model, "names"), given)["values"][:, 0], estimator.predict(rows))


def test_options_are_checked() -> None:
    with pytest.raises(weald.InputError, match="categories must be"):
        onnx_model(case("sets").model, "words")  # type: ignore[arg-type]
    with pytest.raises(weald.InputError, match="version must be"):
        onnx_model(case("sets").model, version=4)
