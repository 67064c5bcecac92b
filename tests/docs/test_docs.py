"""The documentation says what is so."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import quality_pages
from benchmarks.versus import quality

from weald.estimators.boosted.boosted import BoostedTreesClassifier
from weald.pages import PAGES as WRITTEN
from weald.params.declare import declared
from weald.params.flat_names import FIELDS
from weald.training.boosting.parameters import FAMILIES

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


EXAMPLES = [page for page in PAGES if ">>> " in page.read_text()]


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.name)
def test_examples_in_the_documentation_run(page: Path) -> None:
    failures, attempted = doctest.testfile(str(page), module_relative=False)
    assert attempted > 0
    assert failures == 0


def test_the_readme_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert example is not None
    names: dict[str, object] = {}
    exec(example[1], names)
    assert (tmp_path / "adult.weald").exists()
    assert "same" in names


def test_the_picture_of_the_ages_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "ages.png"
    command = [sys.executable, str(ROOT / "examples" / "gbdt_ages.py"), str(target)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert target.stat().st_size > 10_000
    assert "14, 16, 24, 26" in run.stdout


@pytest.mark.parametrize("name", WRITTEN)
def test_the_pages_of_parameters_are_as_they_are_written(name: str) -> None:
    page = ROOT / "docs" / f"{name}_parameters.md".removeprefix("_")
    assert page.read_text() == WRITTEN[name](), f"python -m weald.pages {name} > docs/{page.name}"


def test_the_page_of_parameters_has_every_choice() -> None:
    page = (ROOT / "docs" / "parameters.md").read_text()
    for family in FAMILIES.values():
        assert f"\n## {family.name}\n" in page
        for choice in family.classes:
            assert f"\n### {choice.__name__}\n" in page


def test_the_page_of_choices_has_every_choice_and_its_names() -> None:
    table = (ROOT / "docs" / "choices.md").read_text().split("## A name is an object")[0]
    for family in FAMILIES.values():
        assert f"| `{family.name}` |" in table
        for choice in family.classes:
            home = "weald.losses" if family.name == "loss" else "weald"
            assert f"`{home}.{choice.__name__}(" in table, choice
            assert all(f'`"{name}"`' in table for name in family.names_of(choice)), choice


def test_the_page_of_choices_says_where_every_flat_name_went() -> None:
    page = (ROOT / "docs" / "choices.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page.split("## Before and now")[1], re.MULTILINE))
    assert set(rows) == {field.name for field in FIELDS}
    for field in FIELDS:
        assert f"`{field.part}`" in rows[field.name], field
        assert re.search(rf"\b{field.field}\b", rows[field.name]), field


def test_the_page_of_choices_counts_the_parameters() -> None:
    page = (ROOT / "docs" / "choices.md").read_text()
    assert f"{len(declared(BoostedTreesClassifier))} parameters" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_paths_of_the_code_are_there(page: str) -> None:
    for path in re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", (ROOT / page).read_text()):
        homes = [ROOT / home for home in ("", "src", "src/weald", "src/weald/training/boosting")]
        assert any((home / path).exists() for home in homes), f"{page} names {path}"


def test_the_picture_of_the_pipeline_has_the_order_of_the_imports() -> None:
    picture = (ROOT / "ARCHITECTURE.md").read_text().split("```")[1].splitlines()[1]
    contract = (ROOT / "pyproject.toml").read_text().split("layers = [")[1].split("]")[0]
    order = [name for name in re.findall(r'"weald\.(\w+)"', contract)][::-1]
    assert ["runtime", "params", *re.findall(r"─► (\w+)", picture)] == order


def test_the_page_of_quality_has_the_table_of_the_results() -> None:
    results = json.loads((ROOT / "benchmarks" / "results" / "quality.json").read_text())["results"]["sets"]
    page = (ROOT / "docs" / "quality.md").read_text()
    for row in quality.table_rows(results):
        assert f"| {' | '.join(row)} |\n" in page, row[0]
    assert page.count("\n| ") == len(quality.table_rows(results)) + 2


@pytest.mark.parametrize("peer", quality_pages.SYSTEMS)
def test_the_tables_of_quality_are_the_results(peer: str) -> None:
    page = quality_pages.page_of(peer).read_text()
    assert page == quality_pages.written(page, peer), "python -m benchmarks.quality_pages"
