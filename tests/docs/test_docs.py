"""The documentation says what is so."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import quality_pages

from weald.params import PARAMETERS, parameter_table

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


def test_the_page_of_parameters_is_the_table_of_parameters() -> None:
    assert (ROOT / "docs" / "parameters.md").read_text() == parameter_table()
    assert len(PARAMETERS) > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("peer", quality_pages.SYSTEMS)
def test_the_tables_of_quality_are_the_results(peer: str) -> None:
    page = quality_pages.page_of(peer).read_text()
    assert page == quality_pages.written(page, peer), "python -m benchmarks.quality_pages"
