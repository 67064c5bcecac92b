"""Members that may be any estimator: their seeds, tables and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from weald.binning import bin_once
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.classical.bagging import MemberBags
from weald.training.classical.members import (
    codes_of,
    indexable,
    outputs_in_order,
    params_of_rows,
    probabilities_of,
    seeded_clone,
    take_columns,
    take_rows,
    takes_sample_weight,
)

ROWS = np.array([3, 0, 0])
VALUES = np.arange(12.0).reshape(4, 3)


def test_every_random_state_gets_its_own_seed() -> None:
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=1), LogisticRegression())
    params = seeded_clone(pipeline, 0, 0).get_params()
    seeds = [params["decisiontreeclassifier__random_state"], params["logisticregression__random_state"]]
    others = seeded_clone(pipeline, 0, 1).get_params()
    seeds += [others["decisiontreeclassifier__random_state"], others["logisticregression__random_state"]]
    assert len(set(seeds)) == 4
    assert all(isinstance(seed, int) and 0 <= seed < 2**31 for seed in seeds)
    assert pipeline.get_params()["decisiontreeclassifier__random_state"] == 1


def test_weights_are_taken_where_fit_has_them_or_routing_brings_them() -> None:
    assert takes_sample_weight(DecisionTreeClassifier())
    assert not takes_sample_weight(KNeighborsClassifier())
    assert not takes_sample_weight(make_pipeline(LogisticRegression()))
    with sklearn.config_context(enable_metadata_routing=True):
        assert takes_sample_weight(make_pipeline(LogisticRegression().set_fit_request(sample_weight=True)))


def tables() -> list[Any]:
    made: list[Any] = [VALUES, VALUES.tolist()]
    made += [getattr(scipy.sparse, f"{kind}_matrix")(VALUES) for kind in ("csr", "csc", "coo", "dok", "bsr")]
    for library in ("pandas", "polars"):
        frames = pytest.importorskip(library)
        made.append(frames.DataFrame({"a": VALUES[:, 0], "b": VALUES[:, 1], "c": VALUES[:, 2]}))
    return made


def as_array(table: Any) -> Any:
    if hasattr(table, "toarray"):
        return table.toarray()
    return table.to_numpy() if hasattr(table, "to_numpy") else np.asarray(table)


def test_every_kind_of_table_can_be_cut() -> None:
    for table in tables():
        cut = take_rows(indexable(table), ROWS)
        np.testing.assert_array_equal(as_array(cut), VALUES[ROWS])
        cut = take_columns(indexable(table), np.array([0, 2]))
        np.testing.assert_array_equal(as_array(cut), VALUES[:, [0, 2]])


def test_binned_tables_are_cut_to_rows() -> None:
    import weald

    table = bin_once(VALUES, [weald.BoostedTreesRegressor()])
    assert take_rows(table, ROWS).bins.columns.tolist() == [[3, 0, 0]] * 3


def test_a_dict_of_columns_is_refused_where_it_would_have_to_be_cut() -> None:
    table = indexable({"a": [1.0, 2.0]})
    for cut in (take_rows, take_columns):
        with pytest.raises(NotSupportedError, match="X is a dict of columns"):
            cut(table, np.array([0]))


def test_arguments_of_fit_are_cut_by_position_whatever_their_labels() -> None:
    pandas = pytest.importorskip("pandas")
    weights = pandas.Series([1.0, 2.0, 3.0, 4.0], index=[3, 2, 1, 0])
    given = {"sample_weight": weights, "groups": ["a", "b", "c", "d"], "names": ["p", "q"], "other": "abcd"}
    cut = params_of_rows(given, ROWS, 4)
    assert cut["sample_weight"].tolist() == [4.0, 1.0, 1.0]
    assert cut["groups"].tolist() == ["d", "a", "a"]
    assert cut["names"] == ["p", "q"] and cut["other"] == "abcd"


class Says:
    def __init__(self, labels: Any, probabilities: Any = None, classes: Any = None) -> None:
        self.labels, self.probabilities, self.classes_ = labels, probabilities, classes

    def predict(self, X: Any) -> Any:
        return self.labels

    def predict_proba(self, X: Any) -> Any:
        return np.array(self.probabilities)


CLASSES = np.array(["a", "b", "d"])


def test_labels_become_positions_among_the_classes() -> None:
    assert codes_of(Says(np.array(["d", "a", "b"])), None, CLASSES).tolist() == [2, 0, 1]
    assert codes_of(Says(np.array(["d", "a"], dtype=object)), None, CLASSES).tolist() == [2, 0]
    for strange in ("c", "e", "A"):
        with pytest.raises(InputError, match="must be a classifier, but Says predicted"):
            codes_of(Says(np.array(["a", strange])), None, CLASSES)


def test_probabilities_are_put_under_their_classes() -> None:
    member = Says(None, [[0.25, 0.75]], np.array(["a", "d"]))
    assert probabilities_of(member, None, CLASSES).tolist() == [[0.25, 0.0, 0.75]]


@pytest.mark.parametrize("jobs", [None, 1, 2, 5])
def test_outputs_come_in_the_order_of_the_members(jobs: int | None) -> None:
    assert list(outputs_in_order(lambda member: member * 10, range(7), jobs)) == [0, 10, 20, 30, 40, 50, 60]


def test_bags_follow_from_seed_and_number() -> None:
    options: dict[str, Any] = {"n_rows": 50, "n_draws": 50, "bootstrap": True}
    columns: dict[str, Any] = {"n_columns": 9, "n_chosen": 4, "bootstrap_features": False}
    one, same, other = (MemberBags(seed, **options, **columns) for seed in (1, 1, 2))
    for number in range(3):
        np.testing.assert_array_equal(one.rows(number), same.rows(number))
        assert (one.rows(number) != other.rows(number)).any()
        assert sorted({*one.rows(number), *one.unseen(number)}) == list(range(50))
        assert not set(one.rows(number)) & set(one.unseen(number))
        assert len(np.unique(one.columns(number))) == 4
    assert (one.rows(0) != one.rows(1)).any()
    assert len({tuple(one.columns(number)) for number in range(10)}) > 5
