"""A model file of an earlier version still predicts what it did, to the last bit.

``v0_1_0.weald`` is a classifier of three classes with categories and missing values, five rounds; ``v0_1_0.json``
has twenty rows and their probabilities as hexadecimal floats. Both were made so (``write`` is in this module):

    penguins = weald.datasets.load("penguins")
    model = weald.BoostedTreesClassifier(n_estimators=5).fit(penguins.data, penguins.target)
    write(model, penguins.data, range(3, 343, 17))
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

import weald
from weald.forest import container
from weald.forest.file import dumps, loads
from weald.training.boosting.parameters import FAMILIES

FOLDER = Path(__file__).parent
VERSION = "v0_1_0"


def write(model: Any, data: Mapping[str, NDArray[Any]], rows: Sequence[int]) -> None:
    """Make both files: the model, and some rows with their probabilities."""
    chosen = {name: values[list(rows)] for name, values in data.items()}
    stored = {
        "columns": {name: [_plain(value) for value in values.tolist()] for name, values in chosen.items()},
        "classes": model.classes_.tolist(),
        "probabilities": [[value.hex() for value in row] for row in model.predict_proba(chosen).tolist()],
    }
    model.save(FOLDER / f"{VERSION}.weald")
    (FOLDER / f"{VERSION}.json").write_text(json.dumps(stored, indent=1) + "\n")


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _stored() -> tuple[dict[str, NDArray[Any]], list[str], NDArray[np.float64]]:
    stored = json.loads((FOLDER / f"{VERSION}.json").read_text())
    columns = {}
    for name, values in stored["columns"].items():
        is_text = any(isinstance(value, str) for value in values)
        columns[name] = np.array(values, object if is_text else np.float64)
    probabilities = [[float.fromhex(value) for value in row] for row in stored["probabilities"]]
    return columns, stored["classes"], np.array(probabilities)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_old_model_predicts_the_same_bits(n_jobs: int) -> None:
    columns, classes, expected = _stored()
    model = weald.load(FOLDER / f"{VERSION}.weald").set_params(n_jobs=n_jobs)
    assert model.classes_.tolist() == classes
    assert model.predict_proba(columns).tolist() == expected.tolist()


def test_an_old_model_is_saved_with_its_old_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    old = (FOLDER / f"{VERSION}.weald").read_bytes()
    monkeypatch.setattr(container, "__version__", VERSION[1:].replace("_", "."))
    assert dumps(*loads(old)) == old


def test_the_rows_reach_missing_values_and_categories() -> None:
    columns, _, expected = _stored()
    assert {"island", "sex"} <= set(columns)
    assert any(value is None for value in columns["sex"])
    assert np.isnan(columns["bill_length_mm"]).any()
    assert expected.shape == (20, 3)
    assert len(np.unique(expected, axis=0)) > 5


@pytest.mark.parametrize("loaded", [False, True])
def test_training_again_gives_the_old_model(loaded: bool) -> None:
    penguins = weald.datasets.load("penguins")
    old = weald.load(FOLDER / f"{VERSION}.weald")
    new = clone(old) if loaded else weald.BoostedTreesClassifier(n_estimators=5)
    assert new.fit(penguins.data, penguins.target).forest_ == old.forest_
    assert new.predict_proba(penguins.data).tolist() == old.predict_proba(penguins.data).tolist()


def test_old_parameters_come_back_as_choices() -> None:
    stored = loads((FOLDER / f"{VERSION}.weald").read_bytes())[1]["params"]
    assert {"max_bins", "precision"} <= set(stored)  # flat
    model = weald.load(FOLDER / f"{VERSION}.weald")
    # Written out at the time, as the default of categories was that is another today.
    new = weald.BoostedTreesClassifier(n_estimators=5, reg_lambda=1.0, categories="onehot")
    assert model.get_params() == new.get_params()
    assert {name: getattr(model, name) for name in FAMILIES} == {
        **{"loss": "auto", "leaves": "auto", "splits": "auto", "sampling": "uniform", "split_finder": "hist"},
        **{"booster": "plain", "categories": "onehot", "bins": "auto", "device": "cpu"},
    }


def test_changed_old_parameters_come_back_as_choices_too(tmp_path: Path) -> None:
    forest, header = loads((FOLDER / f"{VERSION}.weald").read_bytes())
    # A share of trees to drop is not said: it was 0, and is not today.
    header["params"] |= {"booster": "dart", "skip_drop": 0.5, "num_parallel_tree": 2, "max_bins": 63}
    header["params"] |= {"sampling": "goss", "top_rate": 0.3, "precision": "wide", "leaf_iterations": 2}
    header["params"] |= {"categories": "partition", "cat_smooth": 5.0, "extra_trees": True}
    path = tmp_path / "changed.weald"
    path.write_bytes(dumps(forest, header))
    model = weald.load(path)
    expected = weald.BoostedTreesClassifier(
        n_estimators=5,
        reg_lambda=1.0,
        booster=weald.Dart(rate_drop=0.0, skip_drop=0.5, parallel_trees=2),
        bins=63,
        sampling=weald.Goss(top_rate=0.3),
        split_finder=weald.Histogram(precision="wide"),
        leaves=weald.Leaves(iterations=2),
        categories=weald.Partition(smooth=5.0),
        splits=weald.Splits(extra_trees=True),
    )
    assert repr(model) == repr(expected)
    penguins = weald.datasets.load("penguins")
    assert model.forest_ == forest
    again = model.fit(penguins.data, penguins.target)._to_bytes()
    assert again == expected.fit(penguins.data, penguins.target)._to_bytes()
