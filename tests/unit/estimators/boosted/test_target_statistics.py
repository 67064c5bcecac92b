"""The encoder against the definitions, by hand, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_statistics
from weald import InputError, NotSupportedError, TargetStatisticsEncoder
from weald.encoding.targets import Targets, border_targets, class_targets, number_targets
from weald.runtime.random import HOLDOUT, ORDERS, permutation, stream_key

KINDS = ["greedy", "holdout", "leave_one_out", "ordered"]
COLORS = [["red"], ["blue"], ["red"], ["red"], ["blue"], [None]]
LABELS = [1, 0, 1, 0, 1, 1]


def held_out(n_rows: int, seed: int) -> list[int]:
    """The later half of a random order gives the statistics, as in a fit with categories="holdout"."""
    return sorted(permutation(n_rows, stream_key(seed, HOLDOUT))[(n_rows + 1) // 2 :].tolist())


def order_of(n_rows: int, seed: int, number: int = 0) -> list[int]:
    return permutation(n_rows, stream_key(seed, ORDERS, number)).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_a_worked_example(kind: str) -> None:
    """P = 0.5 and a = 1, so that a category with sum s and count n has (s + 0.5) / (n + 1)."""
    encoder = TargetStatisticsEncoder(kind, prior=0.5, random_state=3)
    found = encoder.fit_transform(COLORS, LABELS).ravel()
    new = encoder.transform([["red"], ["blue"], ["green"], [None]]).ravel()
    if kind == "greedy":
        assert found == pytest.approx([2.5 / 4, 1.5 / 3, 2.5 / 4, 2.5 / 4, 1.5 / 3, 1.5 / 2])
    elif kind == "leave_one_out":
        assert found == pytest.approx([1.5 / 3, 1.5 / 2, 1.5 / 3, 2.5 / 3, 0.5 / 2, 0.5])
    elif kind == "ordered":
        assert order_of(6, 3) == [1, 2, 4, 0, 5, 3]
        assert found == pytest.approx([1.5 / 2, 0.5, 0.5, 2.5 / 3, 0.5 / 2, 0.5])
    else:
        assert held_out(6, 3) == [0, 1, 5]
        assert encoder.training_rows_.tolist() == [2, 3, 4]
        assert found == pytest.approx([np.nan, np.nan, 1.5 / 2, 1.5 / 2, 0.5 / 2, np.nan], nan_ok=True)
        assert new == pytest.approx([1.5 / 2, 0.5 / 2, 0.5, 1.5 / 2])
        return
    assert new == pytest.approx([2.5 / 4, 1.5 / 3, 0.5, 1.5 / 2])


def _labels(task: str, n_rows: int) -> tuple[Any, Targets, dict[str, Any]]:
    rng = np.random.default_rng(1)
    if task == "binary":
        y = rng.integers(2, size=n_rows)
        return np.array(["no", "yes"])[y], class_targets(y, 2), {}
    if task == "multiclass":
        y = rng.integers(3, size=n_rows)
        return y, class_targets(y, 3), {}
    numbers = rng.normal(size=n_rows)
    if task == "continuous":
        return numbers, number_targets(numbers), {}
    numbers = rng.integers(3, size=n_rows).astype(np.float64)
    return numbers, border_targets(numbers, np.array([0.5, 1.5])), {"target_borders": 2}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["binary", "multiclass", "continuous", "borders"])
def test_every_kind_is_its_definition_bit_for_bit(kind: str, task: str) -> None:
    n_rows = 60
    X = np.random.default_rng(0).integers(8, size=(n_rows, 2))
    y, targets, more = _labels(task, n_rows)
    encoder = TargetStatisticsEncoder(
        kind, a=0.7, categorical_features=[0, 1], random_state=5, prior=0.3, **more
    )
    found = encoder.fit_transform(X, y)
    order = order_of(n_rows, 5)
    giving = held_out(n_rows, 5)
    column = 0
    for codes in X.T.tolist():
        for target in targets.values.tolist():
            for row in range(n_rows):
                rows = reference_statistics.rows_of(kind, row, codes, order, giving)
                expected = reference_statistics.statistic(rows, target, targets.scale, 0.3, 0.7)
                if kind == "holdout" and row in giving:
                    expected = np.nan
                assert found[row, column] == expected or np.isnan([found[row, column], expected]).all()
            column += 1
    assert column == found.shape[1]


def test_several_orders_are_averaged() -> None:
    X = np.random.default_rng(0).integers(4, size=(50, 1))
    y = np.random.default_rng(1).normal(size=50)
    found = TargetStatisticsEncoder(permutations=3, categorical_features=[0]).fit_transform(X, y)
    targets, codes = number_targets(y), X[:, 0].tolist()
    prior = float(targets.means()[0])
    for row in range(50):
        each = [
            reference_statistics.statistic(
                reference_statistics.rows_of("ordered", row, codes, order_of(50, 0, number), []),
                targets.values[0].tolist(),
                targets.scale,
                prior,
                1.0,
            )
            for number in range(3)
        ]
        assert found[row, 0] == sum(each) / 3


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_of_the_rows_that_count_is_the_prior(kind: str) -> None:
    encoder = TargetStatisticsEncoder(kind, random_state=2).fit(COLORS, LABELS)
    giving = np.setdiff1d(np.arange(6), encoder.training_rows_) if kind == "holdout" else np.arange(6)
    assert encoder.prior_.tolist() == [np.mean(np.array(LABELS)[giving])]
    assert encoder.transform([["unknown"]])[0, 0] == pytest.approx(encoder.prior_[0])


def test_numbers_pass_through_in_their_place() -> None:
    X = [[1.5, "a", None], [2.5, "b", 7.0]]
    found = TargetStatisticsEncoder(counters=True).fit_transform(X, [0, 1])
    assert np.array_equal(found, [[1.5, 0.5, 0.5, np.nan], [2.5, 0.5, 0.5, 7.0]], equal_nan=True)
    without = TargetStatisticsEncoder().fit([[1.0], [2.0]], [0, 1])
    assert without.transform([[3.0]]).tolist() == [[3.0]]
    assert without.encodings_ == []


def test_a_counter_is_the_share_of_rows_and_reads_no_labels() -> None:
    encoder = TargetStatisticsEncoder(counters=True)
    assert encoder.fit_transform(COLORS, LABELS)[:, 1].tolist() == [0.5, 2 / 6, 0.5, 0.5, 2 / 6, 1 / 6]
    assert encoder.transform([["red"], ["green"]])[:, 1].tolist() == [0.5, 0.0]


def test_columns_are_named_by_class_border_and_counter() -> None:
    X = {"city": np.array(["a", "b", "a"]), "age": np.array([1, 2, 3])}

    def names(y: Any, **parameters: Any) -> list[str]:
        return TargetStatisticsEncoder(**parameters).fit(X, y).get_feature_names_out().tolist()

    assert names([0, 1, 1]) == ["city", "age"]
    assert names(["u", "v", "w"], counters=True) == ["city_u", "city_v", "city_w", "city_counter", "age"]
    assert names([0, 1, 2], target_borders=2) == ["city_above_0.5", "city_above_1.5", "age"]
    unnamed = TargetStatisticsEncoder().fit([["a"], ["b"]], [0, 1])
    assert unnamed.get_feature_names_out(["city"]).tolist() == ["city"]
    with pytest.raises(InputError, match=r"number of features \(1\), got 2"):
        unnamed.get_feature_names_out(["city", "age"])


def test_whole_numbers_are_classes_unless_said_otherwise() -> None:
    assert TargetStatisticsEncoder().fit(COLORS, [3, 1, 2, 3, 1, 2]).target_type_ == "multiclass"
    continuous = TargetStatisticsEncoder(target_type="continuous").fit(COLORS, [3, 1, 2, 3, 1, 2])
    assert continuous.prior_.tolist() == [2.0]
    assert continuous.classes_ is None


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({"kind": "one_hot"}, LABELS, "kind must be one of"),
        ({"a": 0}, LABELS, "a must be a number above 0, not 0"),
        ({"prior": "median"}, LABELS, "prior must be 'mean' or a number, not 'median'"),
        ({"prior": np.nan}, LABELS, "prior must be 'mean' or a number, not nan"),
        ({"kind": "holdout", "holdout": 1.0}, LABELS, "holdout must be a number above 0 and at most 0.99"),
        ({"random_state": "x"}, LABELS, "random_state must be None, a whole number"),
        ({"target_type": "binary"}, [0, 1, 2, 0, 1, 2], "target_type='binary', but y has 3 classes"),
        ({"target_borders": 2}, [5.0] * 6, "y has only one value, 5"),
        ({}, [1] * 6, "y has only one class"),
        ({}, None, "requires y to be passed"),
        ({}, [[0, 1]] * 6, "Unknown label type: multilabel-indicator"),
        ({"categorical_features": ["size"]}, LABELS, "names the column 'size', which X does not have"),
    ],
)
def test_bad_input_is_named(parameters: dict[str, Any], labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TargetStatisticsEncoder(**parameters).fit_transform(COLORS, labels)


@pytest.mark.parametrize(
    "parameters",
    [
        {"kind": "greedy", "permutations": 2},
        {"kind": "ordered", "holdout": 0.3},
        {"target_type": "multiclass", "target_borders": 2},
    ],
)
def test_parameters_without_a_meaning_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(NotSupportedError, match="leave it at"):
        TargetStatisticsEncoder(**parameters).fit(COLORS, LABELS)


def test_a_sparse_table_is_refused() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(NotSupportedError, match=r"pass X\.toarray\(\) instead"):
        TargetStatisticsEncoder().fit(sparse.csr_array(np.eye(4)), [0, 1, 0, 1])


def test_a_second_fit_without_names_forgets_those_of_the_first() -> None:
    encoder = TargetStatisticsEncoder().fit({"color": np.array(["a", "b"])}, [0, 1])
    assert encoder.feature_names_in_.tolist() == ["color"]
    assert not hasattr(encoder.fit([["a"], ["b"]], [0, 1]), "feature_names_in_")
