"""Finds the topics, runs them with both modules, and writes the page."""

from __future__ import annotations

import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tools.side_by_side import data
from tools.surface import SYSTEMS, title_of

Metrics = dict[str, float]

#: where the two differ by design, after a system's table
_BY_DESIGN = {
    "lightgbm": [
        "LightGBM's first tree holds the mean label, and dart scales it with the tree when that is dropped; Weald keeps the",
        "mean apart. Labels less their mean show the two without that.",
    ],
    "catboost": [
        "Splits are scored by `NewtonL2` or `L2` where nothing else is said, and CatBoost takes `Cosine`: [what",
        "differs](catboost.md#what-differs). The topic without rows or noise that are drawn gives both the same score.",
    ],
}


@dataclass(frozen=True)
class Topic:
    """A script of a system, which takes the module that it is to run with."""

    system: str
    script: Callable[[Any], Metrics]

    @property
    def name(self) -> str:
        """The name of the script's function."""
        return self.script.__name__

    @property
    def title(self) -> str:
        """What the script is about."""
        return (inspect.getdoc(self.script) or "").rstrip(".")

    def run(self, module: str) -> Metrics:
        """The metrics with a module, by its name."""
        return self.script(importlib.import_module(module))


def topics_of(system: str) -> list[Topic]:
    """The topics of a system, in the order of their file.

    >>> [topic.name for topic in topics_of("xgboost")][:2]
    ['first_steps', 'estimators']
    """
    home = _home(system)
    found = [
        script for name, script in inspect.getmembers(home, inspect.isfunction) if not name.startswith("_")
    ]
    own = [script for script in found if script.__module__ == home.__name__]
    return [
        Topic(system, script) for script in sorted(own, key=lambda script: script.__code__.co_firstlineno)
    ]


def _home(system: str) -> Any:
    return importlib.import_module(f"tools.side_by_side.for_{system}")


def page() -> str:
    """The page as Markdown: a table of metrics for every system, then its scripts."""
    lines = [
        "# The same scripts, side by side",
        "",
        "Written by `python -m tools.side_by_side`. Each topic of the originals' documentation is one script, and is run",
        "twice: with the original, and with Weald's module in its place. Nothing else is changed. The metrics are of rows that",
        "were not trained on, where nothing else is said, and have three digits.",
        "",
        "The tables are small and the rounds few. Rows, columns, orders and folds are drawn otherwise by the two, and some",
        "borders of bins lie elsewhere: the last digits tell of that, and not of quality, which [another page](quality.md)",
        "measures.",
    ]
    for system in SYSTEMS:
        lines += _section(system)
    lines += ["", "## The tables", "", *_folded("The rows that the scripts load", inspect.getsource(data))]
    return "\n".join(lines) + "\n"


def _section(system: str) -> Iterator[str]:
    topics = topics_of(system)
    name = title_of(system)
    yield from (
        "",
        f"## {name}",
        "",
        f"| topic | metric | {name.split()[0]} | Weald |",
        "| --- | --- | ---: | ---: |",
    )
    for topic in topics:
        theirs, ours = topic.run(system), topic.run(f"weald.{system}")
        for place, metric in enumerate(theirs):
            title = "" if place else topic.title
            yield f"| {title} | {metric} | {_rounded(theirs[metric])} | {_rounded(ours[metric])} |"
    if system in _BY_DESIGN:
        yield from ("", *_BY_DESIGN[system])
    yield from ("", "Every script begins with this:", "", "```python", _beginning(system), "```")
    for topic in topics:
        yield from ("", *_folded(topic.title, inspect.getsource(topic.script)))


def _beginning(system: str) -> str:
    """The imports and constants of the file, without the line that only the annotations need."""
    text = inspect.getsource(_home(system)).split('"""', 2)[2].split("\n\n\ndef ")[0]
    return text.replace("from __future__ import annotations\n", "").strip()


def _folded(title: str, text: str) -> list[str]:
    summary = re.sub(r"`([^`]*)`", r"<code>\1</code>", title)
    return [
        "<details>",
        f"<summary>{summary}</summary>",
        "",
        "```python",
        text.strip(),
        "```",
        "",
        "</details>",
    ]


def _rounded(value: float) -> str:
    """Three digits that count, and no exponent; whole numbers as they are.

    >>> _rounded(0.81249), _rounded(1234.5), _rounded(0.0), _rounded(0.98)
    ('0.812', '1230', '0', '0.980')
    """
    number = float(f"{value:.3g}")
    if number == int(number):
        return f"{number:.0f}"
    return f"{number:.{max(0, 2 - math.floor(math.log10(abs(number))))}f}"
