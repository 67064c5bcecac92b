"""Estimators that are built before scikit-learn is loaded, and what they are after it."""

from __future__ import annotations

import subprocess
import sys

import pytest

FITTED = """
import sys
import numpy as np
import weald
X = np.random.default_rng(0).normal(size=(60, 2))
y = (X[:, 0] > 0).astype(int)
model = weald.BoostedTreesClassifier(n_estimators=2, booster=weald.Dart(), n_jobs=1).fit(X, y)
number = weald.BoostedTreesRegressor(n_estimators=2, n_jobs=1).fit(X, X[:, 0])
assert "sklearn" not in sys.modules
"""


DESCRIBE = """
import sklearn, weald
for name in ("BoostedTreesClassifier", "BoostedTreesRegressor", "Dart"):
    described = getattr(weald, name)
    print([(base.__module__, base.__qualname__) for base in described.__mro__], sorted(dir(described)))
"""


def run(program: str, before: str = FITTED) -> str:
    done = subprocess.run([sys.executable, "-c", before + program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_models_that_are_older_than_scikit_learn_are_its_estimators() -> None:
    run(
        """
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
assert isinstance(model, BaseEstimator) and isinstance(model, ClassifierMixin) and is_classifier(model)
assert isinstance(number, BaseEstimator) and isinstance(number, RegressorMixin) and is_regressor(number)
assert isinstance(model.booster, BaseEstimator)
assert clone(model).booster == model.booster
"""
    )


def test_bases_and_methods_are_those_of_classes_that_are_younger_than_scikit_learn() -> None:
    assert run(DESCRIBE) == run(DESCRIBE, before="")


@pytest.mark.parametrize(
    "question",
    [
        "assert model.get_params()['booster__rate_drop'] == 0.1",
        "assert model.set_params(booster__rate_drop=0.5).booster.rate_drop == 0.5",
        "assert repr(model).startswith('BoostedTreesClassifier(booster=Dart(), n_')",
        "assert model.score(X, y) > 0.9",
        "assert number.score(X, X[:, 0]) > 0",
        "assert 'BoostedTreesClassifier' in model._repr_html_()",
        "assert model.get_metadata_routing() is not None",
        "assert callable(model.set_fit_request)",
    ],
)
def test_a_question_that_only_scikit_learn_can_answer_loads_it(question: str) -> None:
    run(f"{question}\nassert 'sklearn' in sys.modules")


def test_names_of_parameters_are_the_same_before_and_after() -> None:
    run(
        """
names, shallow = model._get_param_names(), model.get_params(deep=False)
assert "sklearn" not in sys.modules
import sklearn
assert names == model._get_param_names()
assert shallow == model.get_params(deep=False)
"""
    )


def test_a_missing_attribute_is_an_error_in_the_words_of_the_class() -> None:
    run(
        """
for name, words in (("colour", "no attribute 'colour'"), ("forest__", "no attribute 'forest__'")):
    try:
        getattr(model, name)
    except AttributeError as error:
        assert words in str(error)
    else:
        raise AssertionError(name)
assert "sklearn" not in sys.modules
"""
    )


def test_the_import_system_is_as_it_was_once_scikit_learn_is_loaded() -> None:
    run(
        """
import sklearn.base
assert not any(type(finder).__module__.startswith("weald") for finder in sys.meta_path)
assert not type(sklearn.base.__loader__).__module__.startswith("weald")
assert sklearn.base.__spec__.loader is sklearn.base.__loader__
"""
    )


def test_an_import_of_scikit_learn_that_fails_can_be_tried_again() -> None:
    run(
        """
sys.modules["joblib"] = None
try:
    import sklearn
except ImportError:
    del sys.modules["joblib"]
for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
    del sys.modules[name]
from sklearn.base import BaseEstimator
assert isinstance(model, BaseEstimator)
"""
    )
