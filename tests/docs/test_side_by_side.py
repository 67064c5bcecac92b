"""The scripts of the page of topics run with Weald, and the page has all of them."""

from __future__ import annotations

import inspect
import math
import warnings
from pathlib import Path

import pytest

pytest.importorskip("pandas")

from tools.side_by_side import runner
from tools.surface import SYSTEMS

PAGE = Path(__file__).parents[2] / "docs" / "side_by_side.md"
TOPICS = [topic for system in SYSTEMS for topic in runner.topics_of(system)]


def test_there_are_thirty_topics_or_more() -> None:
    assert len(TOPICS) >= 30
    assert all(len(runner.topics_of(system)) >= 10 for system in SYSTEMS)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: f"{topic.system}-{topic.name}")
def test_a_script_runs_with_weald_in_the_place_of_the_original(topic: runner.Topic) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        metrics = topic.run(f"weald.{topic.system}")
    assert metrics
    assert all(math.isfinite(value) for value in metrics.values())
    page = PAGE.read_text().split(f"\n## {topic.system} ")[1].split("\n## ")[0]
    assert all(f"| {metric} | " in page for metric in metrics)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: f"{topic.system}-{topic.name}")
def test_the_page_has_every_script_as_it_is(topic: runner.Topic) -> None:
    page = PAGE.read_text().split(f"\n## {topic.system} ")[1].split("\n## ")[0]
    assert f"\n| {topic.title} | " in page
    assert inspect.getsource(topic.script) in page


def test_the_page_has_the_tables_as_they_are_drawn() -> None:
    assert inspect.getsource(runner.data).strip() in PAGE.read_text()


@pytest.mark.parametrize(
    "value, text",
    [
        (0.81249, "0.812"),
        (1234.5, "1230"),
        (0.0, "0"),
        (0.98, "0.980"),
        (-0.0123456, "-0.0123"),
        (1e-5, "0.0000100"),
    ],
)
def test_metrics_are_written_with_three_digits(value: float, text: str) -> None:
    assert runner._rounded(value) == text


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_script_runs_with_the_original(system: str) -> None:
    pytest.importorskip(system)
    topic = runner.topics_of(system)[1]
    theirs, ours = topic.run(system), topic.run(f"weald.{system}")
    assert list(theirs) == list(ours)
