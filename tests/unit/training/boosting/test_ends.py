"""The beginning and the end of a fit: before the first round, and after the last."""

from __future__ import annotations

import gc
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from weald.runtime.errors import InputError

X = np.random.default_rng(2).random((120, 2))


class Before:
    """A callback that looks at a round before it begins."""

    def __init__(self, look: Any) -> None:
        self._look = look

    def before_round(self, state: Any) -> None:
        self._look(state)

    def __call__(self, state: Any) -> None:
        pass


@pytest.mark.parametrize("booster", ["plain", "linear", "dart"])
def test_a_training_may_be_stopped_before_its_first_round(booster: str) -> None:
    model = weald.BoostedTreesRegressor(booster=booster, n_estimators=5, n_jobs=1)
    model.fit(X, X[:, 0], eval_set=[(X, X[:, 0])], callbacks=[Before(lambda state: state.stop("enough"))])
    assert np.allclose(model.predict(X), X[:, 0].mean())
    assert model.history_ == {"valid_0": {}}


@pytest.mark.parametrize("booster", ["plain", "linear"])
def test_evaluation_sets_have_their_scores_before_the_first_round(booster: str) -> None:
    seen: list[Any] = []
    model = weald.BoostedTreesRegressor(booster=booster, n_estimators=2, warm_start=True, n_jobs=1)
    model.fit(X, X[:, 0])
    expected = model.predict(X[:7])
    model.set_params(n_estimators=3)
    model.fit(
        X,
        X[:, 0],
        eval_set=[(X[:7], X[:7, 0])],
        callbacks=[Before(lambda state: seen.append(state.evaluations[0].scores[0].copy()))],
    )
    assert seen[0].tobytes() == expected.tobytes()


def test_a_checkpoint_forgets_the_session_when_the_fit_ends(tmp_path: Path) -> None:
    seen: list[Any] = []
    checkpoint = weald.Checkpoint(tmp_path / "model.weald", every=1)
    model = weald.BoostedTreesRegressor(n_estimators=2, n_jobs=1)
    model.fit(X, X[:, 0], callbacks=[checkpoint, lambda state: seen.append(weakref.ref(state._session))])
    gc.collect()
    assert len(seen) == 2 and all(session() is None for session in seen)
    assert pickle.loads(pickle.dumps(checkpoint)).every == 1


def test_an_array_is_no_eval_set_and_is_refused_in_a_sentence() -> None:
    model = weald.BoostedTreesRegressor(early_stopping_rounds=2)
    with pytest.raises(InputError, match="eval_set must be a list of pairs"):
        model.fit(X, X[:, 0], eval_set=np.zeros((2, 2)))
