"""Write the tables of quality into the pages of LightGBM's, XGBoost's and CatBoost's interfaces.

python -m benchmarks.versus.lightgbm_quality --json benchmarks/results/lightgbm_quality.json     measure, and so for the others
python -m benchmarks.quality_pages                                                               put the numbers into the pages
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- quality:begin -->", "<!-- quality:end -->"
SYSTEMS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}


def main() -> None:
    """Replace what stands between the marks of every page."""
    for peer in SYSTEMS:
        path = page_of(peer)
        path.write_text(written(path.read_text(), peer))


def page_of(peer: str) -> Path:
    """The page of an interface."""
    return ROOT / "docs" / f"{peer}.md"


def written(page: str, peer: str) -> str:
    """A page with the measurements between its marks."""
    head, rest = page.split(BEGIN)
    tail = rest.split(END)[1]
    content = json.loads((ROOT / "benchmarks" / "results" / f"{peer}_quality.json").read_text())
    return f"{head}{BEGIN}\n{section(peer, content)}{END}{tail}"


def section(peer: str, content: dict[str, Any]) -> str:
    """The measurements as Markdown: a sentence, and a table with a row a set."""
    sets: dict[str, dict[str, Any]] = content["results"]["results"]["defaults"]
    version, options = content["machine"]["versions"][peer], content["arguments"]
    most = f"at most {options['max_rows']:,} training rows, " if options["max_rows"] else ""
    system = SYSTEMS[peer]
    lines = [
        f"`python -m benchmarks.versus.{peer}_quality` runs the same script with both modules at the defaults of {system}:",
        f"{len(sets)} real data sets, {most}{options['seeds']} seeds.",
        _verdicts(sets),
        f"Below are means of the test metric, less is better, and Weald's difference to {system} with its standard error.",
        "",
        f"| set | rows | metric | Weald | {system} {version} | difference | |",
        "| --- | ---: | --- | ---: | ---: | ---: | --- |",
        *(_row(peer, name, entry) for name, entry in sets.items()),
    ]
    return "\n".join(lines) + "\n"


def _verdicts(sets: dict[str, dict[str, Any]]) -> str:
    """How many sets are equal, and which are not."""
    found: dict[str, list[str]] = {"equal within noise": [], "ahead": [], "behind": []}
    for name, entry in sets.items():
        found[entry["verdict"]].append(name)
    told = [f"Equal within noise on {len(found['equal within noise'])}"]
    for verdict in ("ahead", "behind"):
        names = found[verdict]
        told.append(f"Weald {verdict} on {len(names)}" + (f" ({', '.join(names)})" if names else ""))
    return "; ".join(told) + "."


def _row(peer: str, name: str, entry: dict[str, Any]) -> str:
    means = " | ".join(f"{entry['mean'][module]:.5g}" for module in ("weald", peer))
    difference = f"{100 * entry['difference']:+.1f} % ± {100 * entry['error']:.1f}".replace("-", "−")
    verdict = "" if entry["verdict"] == "equal within noise" else f"**{entry['verdict']}**"
    return f"| {name} | {entry['rows']:,} | {entry['metric']} | {means} | {difference} | {verdict} |"


if __name__ == "__main__":
    main()
