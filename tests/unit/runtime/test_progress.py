"""Progress on stderr."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

from weald.runtime.progress import RoundLines, TrainingProgress, progress


def test_nothing_is_printed_when_progress_is_off(capfd: pytest.CaptureFixture[str]) -> None:
    with progress(10, "training", enabled=False) as bar:
        for _ in range(10):
            bar.advance({"logloss": 0.5})
    assert capfd.readouterr() == ("", "")


def test_a_log_file_gets_one_line_per_tenth_and_stdout_stays_clean(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress(1000, "training") as bar:
        for done in range(1000):
            bar.advance({"logloss": done / 1000})
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 10
    assert lines[0].startswith("training: 100/1000") and lines[0].endswith("logloss 0.099")
    assert lines[-1].startswith("training: 1000/1000")


def test_few_steps_give_a_line_each_and_not_ten(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(3, "training") as bar:
        for _ in range(3):
            bar.advance()
    assert len(capsys.readouterr().err.splitlines()) == 3


def test_a_terminal_gets_a_bar_with_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress(2, "training") as bar:
        bar.advance({"valid logloss": 0.25})
        bar.advance()
    assert "training" in terminal.getvalue()
    assert "2/2" in terminal.getvalue()
    assert "valid logloss 0.25" in terminal.getvalue()


def test_a_round_of_training_is_one_step_with_the_latest_metrics() -> None:
    steps: list[object] = []
    callback = TrainingProgress(SimpleNamespace(advance=steps.append))
    callback(SimpleNamespace(history={"valid": {"logloss": [0.6, 0.5], "auc": []}}))
    callback(SimpleNamespace(history={}))
    assert steps == [{"valid logloss": 0.5}, {}]


def test_an_error_in_the_task_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError), progress(2, "training"):
        raise ZeroDivisionError


def test_every_nth_round_and_the_last_have_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    callback = RoundLines(2)
    for number in range(5):
        history = {"valid": {"rmse": [1.0 - 0.1 * number]}}
        callback(SimpleNamespace(number=number, n_rounds=5, stopped=False, history=history))
    callback(SimpleNamespace(number=6, n_rounds=50, stopped=True, history={}))
    lines = ["round 2/5  valid rmse 0.9", "round 4/5  valid rmse 0.7", "round 5/5  valid rmse 0.6", "round 7/50"]
    assert capsys.readouterr().err.splitlines() == lines
