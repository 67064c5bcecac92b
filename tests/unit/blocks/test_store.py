"""A store gives the model of the table in memory, whatever it was built from and however it is cut."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unit.blocks.rows import (
    ARRAYS,
    BATCH,
    CLASSES,
    SOURCES,
    WEIGHT,
    X,
    Y,
    bytes_of,
    classifier,
    frame,
    in_memory,
    numbers,
    regressor,
)
from weald import Bins, BlockStore
from weald.runtime.errors import InputError
from weald.runtime.row_memory import MappedFiles


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_model_of_the_table_in_memory(name: str, tmp_path: Path) -> None:
    if name == "LazyFrame":
        pytest.importorskip("polars")
    rows = tmp_path / "rows"
    rows.mkdir()
    source = SOURCES[name](rows)
    model = regressor()
    store = BlockStore.build(
        source, tmp_path / "store", target="y", drop=["kind", "weight"], estimator=model, block_rows=500
    )
    assert store.shape == (len(Y), 6) and len(list((tmp_path / "store").glob("block-*"))) == 3
    assert bytes_of(model.fit(store)) == in_memory()


@pytest.mark.parametrize("block_rows", [1, 7, 999, 5000])
@pytest.mark.parametrize("compression", ["auto", "none", "lz4", "zstd"])
def test_blocks_of_any_size_and_codec_give_the_same_model(block_rows: int, compression: str, tmp_path: Path) -> None:
    n_rows = 60 if block_rows == 1 else len(Y)
    folders = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    store = BlockStore.build(X[:n_rows], folders, target=Y[:n_rows], block_rows=block_rows, compression=compression)
    found = regressor().fit(store)
    assert bytes_of(found) == bytes_of(regressor().fit(X[:n_rows], Y[:n_rows]))
    if block_rows < n_rows // 3:
        assert all(list(folder.glob("block-*")) for folder in folders)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_and_sparse_matrices_are_taken(name: str, tmp_path: Path) -> None:
    table = ARRAYS[name]()
    store = BlockStore.build(table, tmp_path, target=Y, block_rows=400)
    assert bytes_of(regressor().fit(store)) == bytes_of(regressor().fit(table, Y))


def test_batches_of_pairs_and_triples_are_taken_and_rows_of_no_weight_left_out(tmp_path: Path) -> None:
    def pairs() -> Any:
        for first in range(0, len(Y), BATCH):
            here = slice(first, first + BATCH)
            yield X[here], CLASSES[here], WEIGHT[here]

    store = BlockStore.build(pairs, tmp_path, block_rows=100)
    assert store.n_rows == (WEIGHT > 0).sum()
    expected = classifier().fit(X, CLASSES, WEIGHT)
    assert bytes_of(classifier().fit(store)) == bytes_of(expected)


@pytest.mark.parametrize("labels", [CLASSES, (Y > 0.0), np.digitize(Y, [0.0, 1.0])], ids=["text", "bools", "numbers"])
def test_classes_are_those_of_the_table_in_memory(labels: Any, tmp_path: Path) -> None:
    store = BlockStore.build(X, tmp_path, target=labels, block_rows=333)
    found = classifier().fit(store)
    assert bytes_of(found) == bytes_of(classifier().fit(X, labels))
    assert found.classes_.dtype == np.unique(labels).dtype


def test_a_sample_for_the_cuts_is_that_of_the_table_in_memory(tmp_path: Path) -> None:
    model = regressor(bins=Bins(sample=1000), random_state=5)
    weight = np.where(WEIGHT + np.arange(len(Y)) % 3 > 0, 1.0 + WEIGHT, 0.0)
    assert 1000 < (weight > 0).sum() < len(Y)
    store = BlockStore.build(X, tmp_path, target=Y, weight=weight, estimator=model, block_rows=300)
    assert bytes_of(model.fit(store)) == bytes_of(regressor(bins=Bins(sample=1000), random_state=5).fit(X, Y, weight))


def test_bins_of_two_bytes_are_stored(tmp_path: Path) -> None:
    model = regressor(bins=700)
    store = BlockStore.build(X, tmp_path, target=Y, estimator=model, block_rows=300)
    assert store.table().bins.codes == np.uint16
    assert bytes_of(model.fit(store)) == bytes_of(type(model)(**model.get_params(deep=False)).fit(X, Y))


def test_threads_reading_ahead_and_mapped_numbers_change_nothing(tmp_path: Path) -> None:
    BlockStore.build(X, tmp_path, target=Y, block_rows=100)
    expected = bytes_of(regressor().fit(X, Y))
    for limit in (None, 2**33):
        for reads_ahead in (False, True):
            store = BlockStore.open(tmp_path, memory_limit=limit, reads_ahead=reads_ahead)
            for n_jobs in (1, 2):
                model = regressor().set_params(n_jobs=n_jobs).fit(store)
                assert bytes_of(model.set_params(n_jobs=1)) == expected


def test_labels_are_looked_at_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MappedFiles, "piece_rows", 100)
    counts = np.where(np.arange(len(Y)) < 250, 0.0, np.floor(np.abs(Y)))
    store = BlockStore.build(X, tmp_path / "counts", target=counts, memory_limit=2**33)
    assert bytes_of(regressor(loss="poisson").fit(store)) == bytes_of(regressor(loss="poisson").fit(X, counts))
    with pytest.raises(InputError, match=r"y must be above 0 .*, but row 0 has 0\.0"):
        regressor(loss="gamma").fit(store)
    wrong = np.abs(Y) + 1.0
    wrong[777] = -3.0
    store = BlockStore.build(X, tmp_path / "wrong", target=wrong, memory_limit=2**33)
    with pytest.raises(InputError, match=r"but row 777 has -3\.0"):
        regressor(loss="gamma").fit(store)
    store = BlockStore.build(X, tmp_path / "classes", target=CLASSES, memory_limit=2**33)
    at_once = classifier(class_weight="balanced").fit(BlockStore.open(tmp_path / "classes"))
    assert bytes_of(classifier(class_weight="balanced").fit(store)) == bytes_of(at_once)


def test_evaluation_sets_may_be_stores(tmp_path: Path) -> None:
    table = frame().drop(columns=["kind", "weight"])
    train, valid = table[:900], table[900:]
    model = regressor()
    store = BlockStore.build(train, tmp_path / "train", target="y", estimator=model, block_rows=200)
    other = BlockStore.build(valid, tmp_path / "valid", target="y", like=store, block_rows=90)
    model.fit(store, eval_set=[other], eval_names=["valid"])
    expected = regressor().fit(
        train.drop(columns="y"), train["y"], eval_set=[(valid.drop(columns="y"), valid["y"])], eval_names=["valid"]
    )
    assert model.history_ == expected.history_ and bytes_of(model) == bytes_of(expected)


def test_a_store_of_other_bins_is_refused(tmp_path: Path) -> None:
    store = BlockStore.build(X, tmp_path, target=Y)
    with pytest.raises(InputError, match=r"The store was built with max_bins=255, but BoostedTreesRegressor has max_bins=15"):
        regressor(bins=15).fit(store)
    with pytest.raises(InputError, match="other categorical columns"):
        regressor(categorical_features=[0]).fit(store)
    with pytest.raises(InputError, match="y comes with a table in blocks"):
        regressor().fit(store, Y)
    with pytest.raises(InputError, match="but BoostedTreesRegressor has split_finder='exact'"):
        regressor(split_finder="exact").fit(store)


REFUSED: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "an iterator": ("can be read only once", iter([(X, Y)]), {}),
    "no labels": ("have no labels: target", X, {}),
    "no column": ("has no column 'z'; its columns are a, b", frame(), {"target": "z"}),
    "no rows": ("has no rows", lambda: iter([]), {}),
    "too few labels": ("target has 3 values, but the table has 1300 rows", X, {"target": Y[:3]}),
    "no table": ("source must be a folder or files", 3, {}),
    "no file": ("There is no file 'nowhere.parquet'", "nowhere.parquet", {"target": "y"}),
    "other file": ("cannot be read from 'rows.sas' in batches", "rows.sas", {"target": "y"}),
    "labels of files": ("target must be the name of a column", "rows.parquet", {"target": Y}),
    "compression": ("compression must be 'auto', 'none'", X, {"target": Y, "compression": "gzip"}),
    "block_rows": ("block_rows must be a whole number", X, {"target": Y, "block_rows": 0}),
    "limit": ("memory_limit must be a number of bytes", X, {"target": Y, "memory_limit": "much"}),
    "small limit": (r"memory_limit=100 MiB is too small.*give at least \d+ MiB", X, {"target": Y, "memory_limit": "100 MB"}),
    "some weights": ("Some batches have weights", lambda: iter([(X, Y), (X, Y, WEIGHT)]), {}),
    "strings and numbers": ("strings in some batches", lambda: iter([(X, Y), (X, CLASSES)]), {}),
    "other columns": ("Part 1 of X has 2 columns, but part 0 has 5", lambda: iter([(X, Y), (X[:, :2], Y)]), {}),
    "exact": ("split_finder is 'hist'", X, {"target": Y, "estimator": regressor(split_finder="exact")}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_stored_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    message, source, settings = REFUSED[name]
    with pytest.raises(InputError, match=message):
        BlockStore.build(source, tmp_path, **settings)


def test_a_source_that_changes_between_passes_is_refused(tmp_path: Path) -> None:
    seeds = iter(range(10))

    def source() -> Any:
        values = numbers(seed=next(seeds))
        yield values, values[:, 0]

    with pytest.raises(InputError, match="gave other rows, or rows in another order"):
        BlockStore.build(source, tmp_path)


def test_a_folder_with_a_store_is_left_alone_unless_asked(tmp_path: Path) -> None:
    BlockStore.build(X, tmp_path, target=Y)
    with pytest.raises(InputError, match=f"{re.escape(str(tmp_path))}' has a store already"):
        BlockStore.build(X[:50], tmp_path, target=Y[:50])
    assert BlockStore.open(tmp_path).n_rows == len(Y)
    assert BlockStore.build(X[:50], tmp_path, target=Y[:50], overwrite=True).n_rows == 50
