"""The page of the originals' names is what the program writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import surface

PAGE = Path(__file__).parents[2] / "docs" / "surface.md"


def test_the_page_of_names_is_what_the_program_writes() -> None:
    for system in surface.SYSTEMS:
        pytest.importorskip(system)
    written = PAGE.read_text()
    if not all(f"## {surface.title_of(system)}\n" in written for system in surface.SYSTEMS):
        pytest.skip("the page was written for other versions of the originals")
    assert surface.page() == written
