"""Evaluation, early stopping, checkpoints, warm starts, interruption."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, roc_auc_score

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor, Checkpoint, EarlyStopping, TimeBudget
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import InputError

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = slice(0, 400), slice(400, None)


def file_bytes(model: Any) -> bytes:
    return to_bytes(model, model._model)


def test_history_holds_every_metric_of_every_set_and_round() -> None:
    model = BoostedTreesClassifier(n_estimators=7, eval_metric=["auc", "logloss"])
    model.fit(
        X[TRAIN],
        Y[TRAIN],
        eval_set=[(X[TRAIN], Y[TRAIN]), (X[TEST], Y[TEST], np.ones(len(Y) - 400))],
        eval_names=["train", "test"],
    )
    assert {name: list(metrics) for name, metrics in model.history_.items()} == {
        "train": ["auc", "logloss"],
        "test": ["auc", "logloss"],
    }
    assert all(len(values) == 7 for metrics in model.history_.values() for values in metrics.values())
    probability = model.predict_proba(X[TEST])[:, 1]
    assert model.history_["test"]["logloss"][-1] == pytest.approx(log_loss(Y[TEST], probability))
    assert model.history_["test"]["auc"][-1] == pytest.approx(roc_auc_score(Y[TEST], probability))


def test_early_stopping_keeps_the_rounds_up_to_the_best() -> None:
    model = BoostedTreesClassifier(n_estimators=400, learning_rate=0.5, early_stopping_rounds=5)
    model.fit(X[TRAIN], Y[TRAIN], eval_set=[(X[TEST], Y[TEST])])
    losses = model.history_["valid_0"]["logloss"]
    assert len(losses) < 400
    assert model.best_iteration_ == int(np.argmin(losses)) == len(losses) - 6
    assert model.forest_.n_rounds == model.best_iteration_ + 1


def test_early_stopping_callback_can_watch_another_metric_and_set() -> None:
    model = BoostedTreesClassifier(n_estimators=60, eval_metric=["logloss", "auc"])
    stopping = EarlyStopping(3, metric="auc", on="b")
    sets = [(X[TRAIN], Y[TRAIN]), (X[TEST], Y[TEST])]
    model.fit(X[TRAIN], Y[TRAIN], eval_set=sets, eval_names=["a", "b"], callbacks=[stopping])
    assert model.best_iteration_ == int(np.argmax(model.history_["b"]["auc"]))
    assert model.forest_.n_rounds == model.best_iteration_ + 1


def test_early_stopping_without_a_set_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="early_stopping_rounds needs an eval_set"):
        BoostedTreesClassifier(early_stopping_rounds=3).fit(X, Y)


def test_time_budget_stops_after_a_round() -> None:
    model = BoostedTreesClassifier(n_estimators=100_000).fit(X, Y, callbacks=[TimeBudget(0.2)])
    assert 1 <= model.forest_.n_rounds < 100_000


def test_callbacks_see_the_round_and_can_stop() -> None:
    seen: list[int] = []

    def stop_at_three(state: Any) -> None:
        seen.append(state.number)
        assert state.forest().n_rounds == state.number + 1
        if state.number == 3:
            state.stop("enough")

    model = BoostedTreesRegressor(n_estimators=50).fit(X, Y, callbacks=[stop_at_three])
    assert seen == [0, 1, 2, 3]
    assert model.forest_.n_rounds == 4


def test_resuming_gives_the_bytes_of_an_uninterrupted_run(tmp_path: Path) -> None:
    fit: dict[str, Any] = {"eval_set": [(X[TEST], Y[TEST])]}
    params: dict[str, Any] = {
        "n_estimators": 12,
        "subsample": 0.8,
        "colsample_bynode": 0.5,
        "random_state": 5,
    }
    whole = BoostedTreesClassifier(**params).fit(X[TRAIN], Y[TRAIN], **fit)
    path = tmp_path / "checkpoint.weald"

    class Killed(Exception):
        pass

    def die(state: Any) -> None:
        if state.number == 7:
            raise Killed

    with pytest.raises(Killed):
        BoostedTreesClassifier(**params).fit(
            X[TRAIN], Y[TRAIN], callbacks=[Checkpoint(path, every=3), die], **fit
        )
    assert weald.load(path).forest_.n_rounds == 6
    resumed = BoostedTreesClassifier(**params).fit(X[TRAIN], Y[TRAIN], resume_from=path, **fit)
    assert file_bytes(resumed) == file_bytes(whole)


def test_resuming_after_kill_9_gives_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.weald"
    program = textwrap.dedent(
        f"""
        import sys, time
        from sklearn.datasets import load_breast_cancer
        from weald import BoostedTreesClassifier, Checkpoint
        X, y = load_breast_cancer(return_X_y=True)
        slow = lambda state: time.sleep(0.05)
        BoostedTreesClassifier(n_estimators=200).fit(X, y, callbacks=[Checkpoint({str(path)!r}, every=2), slow])
        """
    )
    process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ})
    deadline = time.monotonic() + 120
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    reached = weald.load(path).forest_.n_rounds
    assert 0 < reached < 200
    rounds = reached + 10
    resumed = BoostedTreesClassifier(n_estimators=rounds).fit(X, Y, resume_from=path)
    whole = BoostedTreesClassifier(n_estimators=rounds).fit(X, Y)
    assert file_bytes(resumed) == file_bytes(whole)


def test_resuming_another_training_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.weald"
    BoostedTreesClassifier(n_estimators=4).fit(X, Y, callbacks=[Checkpoint(path, every=2)])
    with pytest.raises(InputError, match="max_leaves=31"):
        BoostedTreesClassifier(n_estimators=8, max_leaves=5).fit(X, Y, resume_from=path)
    with pytest.raises(InputError, match="resume_from needs y of the interrupted fit"):
        BoostedTreesClassifier(n_estimators=8).fit(X, np.roll(Y, 1) * 0 + (X[:, 0] > 14), resume_from=path)
    weights = np.random.default_rng(3).random(len(X))
    with pytest.raises(InputError, match="resume_from needs sample_weight of the interrupted fit"):
        BoostedTreesClassifier(n_estimators=8).fit(X, Y, weights, resume_from=path)
    with pytest.raises(InputError, match=f"needs the {len(X)} rows of the interrupted fit, but X has {len(X) - 1}"):
        BoostedTreesClassifier(n_estimators=8).fit(X[:-1], Y[:-1], resume_from=path)
    with pytest.raises(InputError, match="resume_from needs y of the interrupted fit"):  # with the same first score
        BoostedTreesClassifier(n_estimators=8).fit(X, Y[::-1], resume_from=path)
    with pytest.raises(InputError, match="not a BoostedTreesRegressor"):
        BoostedTreesRegressor(n_estimators=8).fit(X, Y, resume_from=path)


def test_warm_start_goes_on_to_the_bytes_of_one_fit() -> None:
    once = BoostedTreesClassifier(n_estimators=10).fit(X, Y)
    twice = BoostedTreesClassifier(n_estimators=4, warm_start=True).fit(X, Y)
    twice.set_params(n_estimators=10).fit(X, Y)
    assert twice.forest_ == once.forest_


def test_warm_start_cannot_go_back() -> None:
    model = BoostedTreesClassifier(n_estimators=4, warm_start=True).fit(X, Y)
    with pytest.raises(InputError, match="cannot go back"):
        model.set_params(n_estimators=2).fit(X, Y)


def test_a_failed_fit_leaves_a_clearly_unfitted_estimator() -> None:
    model = BoostedTreesClassifier(n_estimators=3).fit(X, Y)

    def interrupt(state: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, callbacks=[interrupt])
    with pytest.raises(NotFittedError, match="not fitted"):
        model.predict(X)
    assert not [name for name in vars(model) if name.endswith("_")]


def test_ctrl_c_is_answered_at_once(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import numpy as np
        from weald import BoostedTreesRegressor
        from sklearn.exceptions import NotFittedError
        rng = np.random.default_rng(0)
        X = rng.standard_normal((300_000, 10)); y = X[:, 0]
        model = BoostedTreesRegressor(n_estimators=2).fit(X, y).set_params(n_estimators=100_000)
        print("started", flush=True)
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            try:
                model.predict(X)
            except NotFittedError:
                print("unfitted", flush=True)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "unfitted\n"
    assert process.wait(timeout=60) == 0


def test_pickle_and_joblib_go_through_the_model_file(tmp_path: Path) -> None:
    model = BoostedTreesClassifier(n_estimators=3).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    assert file_bytes(again) == file_bytes(loaded) == file_bytes(model)
    assert file_bytes(model) in pickle.dumps(model)


def test_threads_of_python_can_fit_and_predict_at_once() -> None:
    expected = BoostedTreesClassifier(n_estimators=5, n_jobs=2).fit(X, Y)
    results: list[bytes] = []

    def work() -> None:
        model = BoostedTreesClassifier(n_estimators=5, n_jobs=2).fit(X, Y)
        assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))
        results.append(file_bytes(model))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [file_bytes(expected)] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_can_fit_after_its_parent_used_threads() -> None:
    program = textwrap.dedent(
        """
        import os
        import numpy as np
        from weald import BoostedTreesRegressor
        from weald.estimators.shared.persistence import to_bytes
        rng = np.random.default_rng(0)
        X = rng.standard_normal((70_000, 4)); y = X[:, 0]
        fit = lambda: BoostedTreesRegressor(n_estimators=2, n_jobs=2).fit(X, y)
        parent = fit()
        child = os.fork()
        if child == 0:
            again = fit()
            os._exit(0 if to_bytes(again, again._model) == to_bytes(parent, parent._model) else 1)
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    result = subprocess.run([sys.executable, "-c", program], timeout=300, env={**os.environ})
    assert result.returncode == 0


def test_verbose_reports_on_stderr_and_silence_is_the_default(capfd: pytest.CaptureFixture[str]) -> None:
    BoostedTreesRegressor(n_estimators=10).fit(*load_diabetes(return_X_y=True))
    assert capfd.readouterr() == ("", "")
    BoostedTreesRegressor(n_estimators=10, verbose=1).fit(*load_diabetes(return_X_y=True))
    out, err = capfd.readouterr()
    assert out == ""
    assert "10/10" in err


@pytest.mark.parametrize("kind", [BoostedTreesRegressor, weald.GradientBoostingRegressor])
def test_a_warm_start_reads_other_rows_with_the_categories_that_it_knows(kind: Any) -> None:
    first, later = (
        [[colour, float(k)] for k, colour in enumerate(colours * 20)]
        for colours in (["red", "red", "blue"], ["blue", "blue", "red", "green"])
    )
    labels = [np.array([3.0 * (row[0] == "blue") for row in rows]) for rows in (first, later)]
    model = kind(n_estimators=5, warm_start=True).fit(first, labels[0])
    before = model.predict(first)
    model.set_params(n_estimators=10).fit(later, labels[1])
    assert model._model.schema.columns[0].categories == ("red", "blue")
    assert np.array_equal(kind(n_estimators=5).fit(first, labels[0]).predict(first), before)
    assert model.predict([["blue", 0.0]]) > model.predict([["red", 0.0]])
    with pytest.raises(InputError, match="warm_start needs the columns of the earlier fit"):
        model.set_params(n_estimators=12).fit([row[::-1] for row in later], labels[1])


def test_a_warm_start_reads_missing_values_as_before() -> None:
    model = BoostedTreesRegressor(n_estimators=2, bins=weald.Bins(zero_as_missing=True), warm_start=True).fit(
        X[TRAIN], Y[TRAIN]
    )
    model.set_params(n_estimators=4, bins__zero_as_missing=False)
    with pytest.raises(InputError, match=r"needs bins\.use_missing and bins\.zero_as_missing"):
        model.fit(X[TRAIN], Y[TRAIN])
