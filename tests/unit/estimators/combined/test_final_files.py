"""Stacks in model files: all members ours, one file; otherwise a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

import weald
from weald import (
    BlendingClassifier,
    BlendingRegressor,
    BoostedTreesClassifier,
    BoostedTreesRegressor,
    ModelFileError,
    NotSupportedError,
    StackingClassifier,
    StackingRegressor,
)
from weald.estimators.combined.final_files import stack_from_parts, stack_parts
from weald.estimators.shared.composite import composite_bytes


def trees(n: int) -> BoostedTreesClassifier:
    return BoostedTreesClassifier(n_estimators=n)


def values(n: int) -> BoostedTreesRegressor:
    return BoostedTreesRegressor(n_estimators=n)


MODELS: list[tuple[Any, Any, bool]] = [
    (StackingClassifier([("a", trees(2)), ("b", trees(3))], trees(2), cv=2), load_iris, True),
    (
        StackingClassifier(
            [[("a", trees(2)), ("gone", "drop")], [("b", trees(3))]],
            trees(2),
            cv=2,
            refit=False,
            passthrough=True,
        ),
        load_breast_cancer,
        False,
    ),
    (StackingRegressor([("a", values(2)), ("b", values(3))], values(2), cv=2), load_diabetes, True),
    (BlendingClassifier([("a", trees(2))], trees(2), stack_method="predict"), load_iris, True),
    (BlendingRegressor([("a", values(2))], values(2), holdout=0.3), load_diabetes, False),
]


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_a_loaded_stack_predicts_the_same(number: int, tmp_path: Path) -> None:
    template, load, as_frame = MODELS[number]
    data = load(as_frame=as_frame)
    names = getattr(data, "target_names", None)
    y = data.target if names is None or number == 3 else names[np.asarray(data.target)]
    model = clone(template).fit(data.data, y)
    model.save(tmp_path / "model.weald")
    again = weald.load(tmp_path / "model.weald")
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(data.data), model.predict(data.data))
    np.testing.assert_array_equal(again.transform(data.data), model.transform(data.data))
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
    assert again.n_features_in_ == model.n_features_in_
    assert again.stack_method_ == model.stack_method_
    assert hasattr(again, "feature_names_in_") == as_frame
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(again.classes_, model.classes_)
        np.testing.assert_array_equal(again.predict_proba(data.data), model.predict_proba(data.data))
    again.save(tmp_path / "again.weald")
    assert (tmp_path / "again.weald").read_bytes() == (tmp_path / "model.weald").read_bytes()
    refitted = clone(again).fit(data.data, y)
    np.testing.assert_array_equal(refitted.predict(data.data), model.predict(data.data))


def test_a_stack_with_a_member_of_others_is_refused_by_name(tmp_path: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(NotSupportedError, match=r"member 'ridge' is a Ridge.*joblib or pickle"):
        StackingRegressor([("ridge", Ridge())], values(2), cv=2).fit(X, y).save(tmp_path / "no.weald")
    with pytest.raises(NotSupportedError, match="member 'final_estimator' is a RidgeCV"):
        StackingRegressor([("a", values(2))], cv=2).fit(X, y).save(tmp_path / "no.weald")
    with pytest.raises(NotFittedError):
        StackingRegressor([("a", values(2))]).save(tmp_path / "no.weald")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": []}, "layers must be lists"),
        ({"layers": [[["a", "fly", 1], ["b", "predict_proba", 1]]]}, "no known method"),
        ({"layers": [[["a", "predict", 1]]]}, "more members than its layers"),
        ({"layers": [[["a", "predict", 1], ["c", "predict", 1]]]}, "models of member 'c' are missing"),
        ({"widths": [3]}, "a number of columns for every member"),
        ({"widths": [3, 0]}, "must be positive"),
        ({"n_features_in": 9}, "another number of columns"),
        ({"feature_names": ["a"]}, "other columns"),
        ({"classes": np.array([1])}, "at least two labels"),
        ({"classes": np.array([1, 2])}, "another number of classes"),
        ({"more": 1}, "does not have the fields"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = clone(MODELS[0][0]).fit(X, y)
    members, extra = stack_parts(model)
    assert composite_bytes(model, members, extra)
    with pytest.raises(ModelFileError, match=message):
        stack_from_parts(StackingClassifier, {"cv": 2}, list(members), extra | change)


def test_a_final_estimator_of_another_task_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    members, extra = stack_parts(clone(MODELS[0][0]).fit(X, y))
    final = values(2).fit(X, y)
    with pytest.raises(ModelFileError, match="final estimator does not fit its task"):
        stack_from_parts(StackingClassifier, {}, [*members[:-1], ("final_estimator", final)], extra)
    with pytest.raises(ModelFileError, match="last member must be the final estimator"):
        stack_from_parts(StackingClassifier, {}, list(members[:-1]), extra)
