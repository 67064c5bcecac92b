"""``weald evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from unit.cli.votes import save_vote
from weald.data.files import read_file, write_file


def metrics(result: Any) -> dict[str, float]:
    assert result.exit_code == 0, result.output
    rows = (line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    return {name.strip(): float(value.replace(",", "")) for name, value in rows}


def test_the_metrics_of_a_classifier_are_those_of_its_predictions(
    run: Any, flowers: Path, classifier: Path
) -> None:
    found = metrics(run("evaluate", flowers, "--model", classifier, "--target", "kind"))
    table, model = read_file(flowers), weald.load(classifier)
    predicted = model.predict({name: table[name] for name in model.feature_names_in_})
    assert set(found) == {"rows", "accuracy", "log loss", "ROC AUC"}
    assert found["rows"] == 240
    assert found["accuracy"] == pytest.approx((predicted == table["kind"]).mean(), abs=1e-6)
    assert found["ROC AUC"] > 0.9


def test_the_metrics_of_a_regressor_are_weighted_on_request(run: Any, flowers: Path, regressor: Path) -> None:
    plain = metrics(run("evaluate", flowers, "--model", regressor, "--target", "height"))
    weighted = metrics(
        run("evaluate", flowers, "--model", regressor, "--target", "height", "--weight", "weight")
    )
    table, model = read_file(flowers), weald.load(regressor)
    error = model.predict({name: table[name] for name in model.feature_names_in_}) - table["height"]
    assert set(plain) == {"rows", "RMSE", "MAE", "R²"}
    assert plain["RMSE"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-4)
    assert weighted["MAE"] == pytest.approx(np.average(np.abs(error), weights=table["weight"]), rel=1e-4)


def test_a_label_that_the_model_does_not_know_is_named(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path
) -> None:
    table = read_file(flowers)
    table["kind"][3] = "tulip"
    write_file(tmp_path / "tulips.csv", table)
    result = run("evaluate", tmp_path / "tulips.csv", "--model", classifier, "--target", "kind")
    assert result.exit_code == 2
    assert "'kind' holds 'tulip'" in result.stderr and "'daisy', 'rose'" in result.stderr


def test_a_table_with_a_single_class_has_no_area_under_the_curve_but_no_error(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path
) -> None:
    table = read_file(flowers)
    roses = table["kind"] == "rose"
    write_file(tmp_path / "roses.csv", {name: values[roses] for name, values in table.items()})
    found = metrics(run("evaluate", tmp_path / "roses.csv", "--model", classifier, "--target", "kind"))
    assert "ROC AUC" not in found and found["accuracy"] > 0.8


def test_a_vote_without_probabilities_has_its_accuracy_and_refusals(
    run: Any, flowers: Path, classifier: Path, tmp_path: Path
) -> None:
    path = save_vote(flowers, classifier, tmp_path, "majority")
    found = metrics(run("evaluate", flowers, "--model", path, "--target", "kind", "--weight", "weight"))
    table, model = read_file(flowers), weald.load(path)
    features = {name: table[name] for name in model.feature_names_in_}
    right = model.predict(features) == table["kind"]
    assert set(found) == {"rows", "accuracy", "refused"}
    assert found["accuracy"] == pytest.approx(np.average(right, weights=table["weight"]), abs=1e-6)
    assert found["refused"] == pytest.approx(
        np.average(model.refused(features), weights=table["weight"]), abs=1e-6
    )
    assert found["refused"] > 0
    hard = save_vote(flowers, classifier, tmp_path, "hard")
    assert set(metrics(run("evaluate", flowers, "--model", hard, "--target", "kind"))) == {"rows", "accuracy"}
