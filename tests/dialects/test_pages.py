"""The pages of other systems' parameters are their tables, and tell where `BoostedTrees*` have the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from weald import BoostedTreesClassifier
from weald.pages import PAGES
from weald.params.catboost import CATBOOST_PARAMETERS
from weald.params.declare import declared
from weald.params.lightgbm import LIGHTGBM_PARAMETERS
from weald.params.xgboost import XGBOOST_PARAMETERS
from weald.training.boosting.flat import FLAT_NAMES
from weald.training.boosting.parameters import FAMILIES

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
TABLES = {"xgboost": XGBOOST_PARAMETERS, "lightgbm": LIGHTGBM_PARAMETERS, "catboost": CATBOOST_PARAMETERS}
ENTRIES = [(system, name) for system, table in TABLES.items() for name in table]


@pytest.mark.parametrize("system", TABLES)
def test_the_page_is_written_by_the_table(system: str) -> None:
    page = DOCS / f"{system}_parameters.md"
    assert page.read_text() == PAGES[system](), f"python -m weald.pages {system} > docs/{page.name}"


@pytest.mark.parametrize(("system", "name"), ENTRIES)
def test_an_entry_says_what_it_is_or_what_to_use(system: str, name: str) -> None:
    table = TABLES[system]
    entry = table[name]
    if entry.standing in ("refused", "ignored"):
        assert entry.note.endswith(".")
        return
    assert entry.help.endswith(".")
    assert entry.standing == "same" or entry.note.endswith(".")
    assert not entry.native or entry.native in {*FLAT_NAMES, "device", "column_weights"}
    if entry.default is not None and entry.default == entry.default:  # NaN is not
        assert table.read(name, entry.default) == entry.default
    if entry.of is not None:
        owner, values = entry.of
        assert all(table.read(owner, value) == value for value in values if value is not None)


@pytest.mark.parametrize("system", TABLES)
def test_no_name_means_two_parameters(system: str) -> None:
    names = [name for entry in TABLES[system].values() for name in (entry.name, *entry.aliases)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("system", TABLES)
def test_the_names_of_boosted_trees_are_parameters_or_fields_of_choices(system: str) -> None:
    rows = [line.split(" | ") for line in PAGES[system]().splitlines() if line.startswith("| `")]
    said = {cells[-1].removesuffix(" |").strip("` ") for cells in rows} - {""}
    names = {name for names in said for name in names.split(", ")}
    assert {"n_jobs", "learning_rate", "bins.max_bins"} <= names
    for name in names:
        parameter, _, field = name.partition(".")
        assert parameter in declared(BoostedTreesClassifier), name
        assert not field or any(field in declared(kind) for kind in FAMILIES[parameter].classes), name
