"""learning_rate="auto": what it comes to, where it is kept, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from weald import BoostedTreesRegressor
from weald.params.declare import declared
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.learning_rate import automatic_learning_rate

X = np.arange(90.0).reshape(-1, 1)
Y = np.sqrt(X[:, 0])
TINY: dict[str, Any] = {"max_leaves": 2, "n_jobs": 1}


def test_the_model_is_that_of_the_number_it_comes_to(tmp_path: Path) -> None:
    model = BoostedTreesRegressor(n_estimators=40, learning_rate="auto", **TINY).fit(X, Y)
    rate = automatic_learning_rate("squared", 90, 40)
    assert model.learning_rate_ == rate == 0.383244
    plain = BoostedTreesRegressor(n_estimators=40, learning_rate=rate, **TINY).fit(X, Y)
    assert plain.forest_ == model.forest_ and plain.learning_rate_ == rate
    model.save(tmp_path / "model.weald")
    loaded = weald.load(tmp_path / "model.weald")
    assert loaded.learning_rate == "auto" and loaded.learning_rate_ == rate
    assert loaded.refit(X, Y + 1.0).learning_rate_ == rate


def test_rows_without_weight_and_the_start_count() -> None:
    half = np.arange(90) % 2 == 0
    rates = [
        BoostedTreesRegressor(n_estimators=40, learning_rate="auto", base_score=start, **TINY)
        .fit(X, Y, sample_weight=weight)
        .learning_rate_
        for start, weight in ((None, half.astype(float)), (0.0, None))
    ]
    assert rates == [
        automatic_learning_rate("squared", 45, 40),
        automatic_learning_rate("squared", 90, 40, from_constant=False),
    ]


def test_losses_without_a_rule_have_catboosts_default_and_large_rates_end_at_a_half() -> None:
    assert (
        BoostedTreesRegressor("absolute", n_estimators=2, learning_rate="auto", **TINY)
        .fit(X, Y)
        .learning_rate_
        == 0.03
    )
    assert automatic_learning_rate("squared", 10**6, 2) == 0.5


def test_a_checkpoint_goes_on_at_its_own_rate(tmp_path: Path) -> None:
    path = tmp_path / "model.weald"
    whole = BoostedTreesRegressor(n_estimators=60, learning_rate="auto", **TINY).fit(
        X, Y, callbacks=[weald.Checkpoint(path, every=5)]
    )
    resumed = BoostedTreesRegressor(n_estimators=60, learning_rate="auto", **TINY).fit(X, Y, resume_from=path)
    assert resumed.forest_ == whole.forest_
    with pytest.raises(InputError, match="resume with n_estimators and eval_set of the interrupted fit"):
        BoostedTreesRegressor(n_estimators=80, learning_rate="auto", **TINY).fit(X, Y, resume_from=path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"learning_rate": "slow"},
            InputError,
            "learning_rate must be a number above 0 or 'auto', not 'slow'",
        ),
        (
            {"booster": "linear"},
            NotSupportedError,
            "'auto' is a rule for trees; give booster='linear' a number",
        ),
        (
            {"booster": "averaging", "subsample": 0.5},
            NotSupportedError,
            "no meaning with booster='averaging'",
        ),
    ],
)
def test_bad_values_are_refused(options: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        BoostedTreesRegressor(**{"n_estimators": 2, "learning_rate": "auto", **options}).fit(X, Y)


def test_the_command_line_reads_the_word() -> None:
    rate = declared(BoostedTreesRegressor)["learning_rate"]
    assert rate.parse("auto") == "auto" and rate.parse("0.2") == 0.2
