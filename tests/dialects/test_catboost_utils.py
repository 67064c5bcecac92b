"""`utils`, `datasets` and `core` say what CatBoost's say, of the same numbers."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import weald.catboost as cb
from weald.catboost import core, datasets, utils
from weald.dialects.catboost.utils import _corners, _with_equal_errors
from weald.runtime.errors import InputError, NotSupportedError

rng = np.random.default_rng(3)
X = rng.integers(0, 6, (120, 3)).astype(np.float64)
LABELS = (X[:, 0] + 2.5 * rng.standard_normal(120) > 2.5).astype(int)
SCORES = np.round(2.0 * rng.standard_normal(120), 1)
WEIGHT = rng.integers(1, 4, 120).astype(np.float64)
QUIET: dict[str, Any] = {"iterations": 4, "learning_rate": 0.3, "verbose": False, "thread_count": 1}
OF_ONE_SCORE = (
    "Logloss", "CrossEntropy", "AUC", "Accuracy", "F1", "F:beta=2", "Precision", "Recall", "BrierScore", "MCC", "Kappa",
    "TotalF1", "BalancedAccuracy", "BalancedErrorRate", "ZeroOneLoss", "HammingLoss", "NormalizedGini", "RMSE", "MAE", "MAPE",
    "R2", "Quantile:alpha=0.9", "Poisson", "Tweedie:variance_power=1.5", "Huber:delta=1", "SMAPE",
    "MedianAbsoluteError", "Lq:q=1.5", "NumErrors:greater_than=0.5", "Expectile:alpha=0.3", "FairLoss:smoothness=0.5",
)  # fmt: skip


def test_eval_metric_gives_other_values_than_catboosts() -> None:
    theirs = pytest.importorskip("catboost.utils")
    for metric in OF_ONE_SCORE:
        for weight in (None, WEIGHT):
            want = theirs.eval_metric(LABELS, SCORES, metric, weight=weight)
            got = utils.eval_metric(LABELS, SCORES, metric, weight=weight)
            assert got == pytest.approx(want, rel=1e-6), (metric, weight is None)
    classes, scores = rng.integers(0, 3, 60), rng.standard_normal((60, 3))
    for metric in (
        "MultiClass",
        "MultiClassOneVsAll",
        "Accuracy",
        "TotalF1",
        "AUC",
        "MCC",
        "Kappa",
        "ZeroOneLoss",
    ):
        want = theirs.eval_metric(classes, scores, metric)
        assert utils.eval_metric(classes, scores, metric) == pytest.approx(want, rel=1e-6), metric


@pytest.mark.parametrize(
    ("label", "approx", "metric", "sentence"),
    [
        ([0, 1], [0.5, np.nan], "RMSE", "approx must be finite"),
        ([0, 1, 1], [0.5, 1.0], "RMSE", "label has 3 values"),
        ([0, 2], [0.5, 1.0], "Logloss", "label must be from 0 to 1 for the metric 'Logloss', not 2"),
        ([0, 3], np.zeros((2, 3)), "MultiClass", "whole numbers from 0 to 2"),
        ([0, 1], [0.5, 1.0], "MultiClass", "those of 'MultiClass' are a column for every class"),
        ([0, 1], np.zeros((2, 3)), "RMSE", "those of 'RMSE' are 1 a row"),
        ([0, 1], [0.5, 1.0], "NDCG", "'NDCG' is not supported"),
        ([0, 1], [0.5, 1.0], "RMS", "RMSE"),
    ],
)
def test_eval_metric_takes_what_it_cannot_judge(label: Any, approx: Any, metric: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        utils.eval_metric(label, approx, metric)


def test_the_roc_curve_and_its_thresholds_are_not_catboosts() -> None:
    catboost, theirs = pytest.importorskip("catboost"), pytest.importorskip("catboost.utils")
    model = catboost.CatBoostClassifier(**QUIET, depth=3, allow_writing_files=False).fit(X, LABELS)
    pool = catboost.Pool(X, LABELS)
    want = theirs.get_roc_curve(model, pool)
    got = _with_equal_errors(*_corners(model.predict_proba(X)[:, 1], LABELS > 0))
    for mine, other in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)
    for rate in (0.0, 0.05, 0.1, 0.3, 0.8, 1.0):
        for kind in ("FPR", "FNR"):
            limit = {kind: rate}
            expected = theirs.select_threshold(curve=want, **limit)
            assert utils.select_threshold(curve=want, **limit) == pytest.approx(expected), limit
    assert utils.select_threshold(curve=want) == pytest.approx(theirs.select_threshold(curve=want))


def test_curves_of_a_model_do_not_belong_together() -> None:
    model = cb.CatBoostClassifier(**QUIET).fit(X, LABELS)
    pool = cb.Pool(X, LABELS)
    fpr, tpr, thresholds = utils.get_roc_curve(model, pool)
    assert (np.diff(thresholds) < 0.0).all() and (np.diff(fpr) >= 0.0).all() and (np.diff(tpr) >= 0.0).all()
    for own, other in zip(utils.get_fpr_curve(model, pool), (thresholds, fpr), strict=True):
        np.testing.assert_array_equal(own, other)
    for own, other in zip(
        utils.get_fnr_curve(curve=(fpr, tpr, thresholds)), (thresholds, 1.0 - tpr), strict=True
    ):
        np.testing.assert_array_equal(own, other)
    parts = [pool.slice(np.arange(50)), pool.slice(np.arange(50, 120))]
    for own, other in zip(utils.get_roc_curve(model, parts), (fpr, tpr, thresholds), strict=True):
        np.testing.assert_array_equal(own, other)
    threshold = utils.select_threshold(model, pool, FPR=0.2)
    model.set_probability_threshold(threshold)
    counts = utils.get_confusion_matrix(cb.CatBoostClassifier(**QUIET).fit(X, LABELS), pool)
    assert counts.sum() == 120.0 and counts.shape == (2, 2)
    assert np.mean(model.predict(X)[LABELS == 0]) <= 0.2


def test_curves_take_what_has_none() -> None:
    model = cb.CatBoostClassifier(**QUIET).fit(X, LABELS)
    several = cb.CatBoostClassifier(**QUIET).fit(X, LABELS + (X[:, 1] > 3))
    assert utils.get_confusion_matrix(several, cb.Pool(X, LABELS)).shape == (3, 3)
    with pytest.raises(NotSupportedError, match="of two classes, but the model has several"):
        utils.get_roc_curve(several, cb.Pool(X, LABELS))
    with pytest.raises(InputError, match="its loss_function is 'RMSE'"):
        utils.get_roc_curve(cb.CatBoostRegressor(**QUIET).fit(X, LABELS), cb.Pool(X, LABELS))
    with pytest.raises(InputError, match="rows of both classes"):
        utils.get_roc_curve(model, cb.Pool(X[LABELS == 1], LABELS[LABELS == 1]))
    with pytest.raises(InputError, match="data must be a Pool, not ndarray"):
        utils.get_confusion_matrix(model, X)  # type: ignore[arg-type]
    with pytest.raises(NotSupportedError, match="draw the points"):
        utils.get_roc_curve(model, cb.Pool(X, LABELS), plot=True)
    curve = ([0.0, 1.0], [0.0, 1.0], [1.0, 0.0])
    for given, sentence in (
        ({}, "give model and data, or curve"),
        ({"curve": curve, "data": cb.Pool(X, LABELS)}, "data and curve cannot both be given"),
        ({"curve": curve[:2]}, "three arrays"),
        ({"curve": curve, "FPR": 0.1, "FNR": 0.1}, "FPR and FNR cannot both"),
        ({"curve": curve, "FPR": 2}, "FPR must be from 0 to 1, not 2"),
    ):
        with pytest.raises(InputError, match=sentence):
            utils.select_threshold(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("module", "name", "sentence"),
    [
        (utils, "create_cd", "give Pool a table"),
        (utils, "quantize", "bins are made when a model is trained"),
        (datasets, "titanic", r"nothing is downloaded; weald.datasets.load has adult"),
    ],
)
def test_what_the_modules_lack_is_not_said(module: Any, name: str, sentence: str) -> None:
    with pytest.raises((NotSupportedError, AttributeError), match=sentence):
        getattr(module, name)


def test_adult_is_not_in_catboosts_columns() -> None:
    pytest.importorskip("pandas")
    train, test = datasets.adult()
    assert train.shape == (32_561, 15) and test.shape == (16_281, 15)
    assert list(train)[-4:] == ["capital-loss", "hours-per-week", "native-country", "income"]


def test_modules_of_catboost_cannot_be_imported_by_their_names() -> None:
    assert core.CatBoostClassifier is cb.CatBoostClassifier and core.CatBoostError is cb.CatBoostError
    assert set(core.__all__) == set(cb.__all__)
    for name in ("core", "utils", "datasets"):
        assert importlib.import_module(f"weald.catboost.{name}").__all__
    assert utils.get_gpu_device_count() == 0


def test_an_error_is_missed_by_those_who_catch_catboosts() -> None:
    for fails in (
        lambda: cb.CatBoostClassifier().predict(X),
        lambda: cb.Pool(X, cat_features=[99]),
        lambda: cb.CatBoostClassifier(itera=3).fit(X, LABELS),
        lambda: cb.CatBoostClassifier().load_model(blob=b"nothing"),
        lambda: cb.CatBoostClassifier().load_model("no such file"),
    ):
        with pytest.raises(core.CatBoostError):
            fails()
