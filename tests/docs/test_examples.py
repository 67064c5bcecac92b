"""The examples run, show what they claim, and the pages that quote them say the same."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import (
    bias_variance,
    category_split,
    decision_regions,
    growth,
    hr_attrition,
    monotone,
    prediction_shift,
    proposals,
    target_statistics,
)
from examples.common import pyplot, write_into_page

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def assert_drawn(path: Path) -> None:
    """The file is a picture with something in it, and small enough for a page."""
    image = pytest.importorskip("matplotlib.image").imread(path)
    assert image.shape[0] > 300
    assert image.shape[1] > 900
    assert len(np.unique(image.reshape(-1, image.shape[2]), axis=0)) > 50
    assert path.stat().st_size < 300_000


def quoted_rows(page: str, program: str) -> list[list[str]]:
    """The cells of the tables that a program wrote into a page, without their headers."""
    text = (DOCS / page).read_text(encoding="utf-8")
    between = text.split(f"<!-- {program}:begin -->")[1].split(f"<!-- {program}:end -->")[0]
    tables = re.findall(r"(?:^\|.*\n)+", between, re.MULTILINE)
    assert tables
    lines = [line for table in tables for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def copy_of_page(page: str, folder: Path) -> Path:
    copy = folder / page
    copy.write_text((DOCS / page).read_text(encoding="utf-8"), encoding="utf-8")
    return copy


def test_decision_regions_are_drawn_and_every_classifier_knows_iris(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "regions.png", copy_of_page("examples.md", tmp_path)
    results = decision_regions.main(["--quick", "--out", str(out), "--page", str(page)])
    assert_drawn(out)
    assert len(results) == 8
    for result in results:
        assert result.accuracies.mean() > 0.88, result.name
        assert f"| {result.name} | {result.accuracies.mean():.3f} |" in page.read_text(encoding="utf-8")


def test_the_forest_beats_the_tree_on_simulated_staff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("WEALD_DATA", raising=False)
    out = tmp_path / "staff.png"
    study = hr_attrition.main(["--quick", "--out", str(out)])
    assert_drawn(out)
    auc = {name: scores["roc_auc"] for name, scores in study.scores.items()}
    assert (auc["random forest"] > auc["decision tree"]).all()
    assert (auc["boosted trees"] > auc["decision tree"]).all()
    matter = {item.name for item in study.importances[:5]}
    assert matter == {
        "satisfaction_level",
        "last_evaluation",
        "number_project",
        "average_montly_hours",
        "time_spend_company",
    }


def test_copies_of_rows_are_dropped_before_the_study() -> None:
    columns = hr_attrition.simulate(50)
    twice = {name: np.concatenate([values, values]) for name, values in columns.items()}
    once, both = (hr_attrition.as_staff("", table) for table in (columns, twice))
    assert np.array_equal(once.table, both.table)
    assert np.array_equal(once.left, both.left)


def test_parallel_ensembles_reduce_variance_and_sequential_ones_bias(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "parts.png", copy_of_page("which_ensemble.md", tmp_path)
    results = bias_variance.main(["--quick", "--out", str(out), "--page", str(page)])
    assert_drawn(out)
    parallel, stumps, deeper, unlike = results.values()
    tree, *averaged = parallel.values()
    assert all(parts.variance < 0.3 * tree.variance for parts in averaged)
    stump, *boosted = stumps.values()
    assert boosted[-1].bias < 0.6 * stump.bias
    single, *_, last = deeper.values()
    assert last.bias < 0.6 * single.bias
    *members, average, stack = unlike.values()
    assert average.variance < np.mean([parts.variance for parts in members])
    assert stack.error < min(parts.error for parts in members)
    assert f"| one deep tree | {tree.bias:.2f} | {tree.variance:.2f} |" in page.read_text(encoding="utf-8")


def test_a_constrained_price_never_falls(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "monotone.png", copy_of_page("constraints.md", tmp_path)
    study = monotone.main(["--quick", "--out", str(out), "--page", str(page)])
    assert_drawn(out)
    free, constrained = study.results.values()
    assert (free.falls > 0).all()
    assert (constrained.falls == 0).all()
    assert constrained.errors.mean() < 1.05 * free.errors.mean()
    assert f"| free | {free.errors.mean():.0f} |" in page.read_text(encoding="utf-8")


def test_few_local_candidates_do_what_global_ones_need_many_for(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "proposals.png", copy_of_page("split_finders.md", tmp_path)
    results = proposals.main(["--quick", "--out", str(out), "--page", str(page)])
    assert_drawn(out)
    exact, local, many, few = (areas[-1] for areas in results.values())
    assert local > few + 0.008
    assert local > many - 0.002
    assert local > exact - 0.004
    assert f"| {local:.4f} |" in page.read_text(encoding="utf-8")


def test_of_all_sets_of_colours_the_best_is_a_cut_of_the_order(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "colours.png", copy_of_page("categories.md", tmp_path)
    study = category_split.main(["--out", str(out), "--page", str(page)])
    assert_drawn(out)
    assert study.order == ["yellow", "green", "red", "blue"]
    assert len(study.gains) == 7
    assert study.found == set(max(study.gains, key=lambda left: study.gains[left])) == {"yellow", "green"}
    assert page.read_text(encoding="utf-8") == (DOCS / "categories.md").read_text(encoding="utf-8")


def test_greedy_and_leave_one_out_statistics_know_labels_that_nothing_can_tell(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "statistics.png", copy_of_page("target_statistics.md", tmp_path)
    study = target_statistics.main(["--quick", "--out", str(out), "--page", str(page)])
    assert_drawn(out)
    leaks = {("unique", "greedy"), ("constant", "leave_one_out")}
    for pair, accuracies in study.accuracies.items():
        on_training, on_new = accuracies.mean(axis=0)
        assert on_training == 1.0 if pair in leaks else on_training < 0.65, pair
        assert 0.45 < on_new < 0.55, pair
    assert "| ordered |" in page.read_text(encoding="utf-8")


def test_ordered_boosting_takes_gradients_as_of_new_rows(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "shift.png", copy_of_page("ordered_boosting.md", tmp_path)
    study = prediction_shift.main(["--quick", "--out", str(out), "--page", str(page)])
    assert_drawn(out)
    last = {pair: (study.training[pair][:, -1].mean(), study.new[pair][:, -1].mean()) for pair in study.new}
    known, new = last["drawn splits", "ordered"]
    assert abs(known - new) < 0.012
    known, new = last["drawn splits", "plain"]
    assert known < new - 0.03
    assert last["chosen splits", "plain"][0] < last["chosen splits", "ordered"][0] - 0.02
    assert "| ordered |" in page.read_text(encoding="utf-8")


def test_leafwise_trees_fit_better_and_overfit_few_rows(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out, page = tmp_path / "growth.png", copy_of_page("growth.md", tmp_path)
    study = growth.main(["--quick", "--out", str(out), "--page", str(page)])
    assert_drawn(out)
    leafwise, depthwise = study.trees
    assert (leafwise <= depthwise).all()
    assert (leafwise[2:] < depthwise[2:]).all()
    deep, _, limited = study.boosted.values()
    assert deep.known[-1] < 0.6 * limited.known[-1]
    assert deep.new[-1] > 1.01 * limited.new[-1]
    assert f"| {limited.new[-1]:.3f} |" in page.read_text(encoding="utf-8")


def test_bias_and_variance_add_up_to_the_error() -> None:
    class Guess(bias_variance.LinearRegression):
        """Predicts the mean label: its bias and variance are known."""

        def fit(self, X: Any, y: Any) -> Guess:
            self.mean_ = float(np.mean(y))
            return self

        def predict(self, X: Any) -> Any:
            return np.full(len(X), self.mean_)

    parts = bias_variance.measure(Guess(), 200)
    new = np.random.default_rng(0).random((bias_variance.N_TEST, bias_variance.N_COLUMNS))
    spread = bias_variance.truth(new).var()
    assert parts.variance == pytest.approx((spread + bias_variance.NOISE) / bias_variance.N_TRAIN, rel=0.25)
    assert parts.bias == pytest.approx(spread, rel=0.02)


def test_the_page_has_the_numbers_of_the_program() -> None:
    quoted = {row[0]: row[1:] for row in quoted_rows("which_ensemble.md", "bias_variance")}
    contestants = bias_variance.contestants(quick=False)
    assert list(quoted) == [name for models in contestants.values() for name in models]
    single = {"one deep tree", "one stump", "one tree of depth 3", "linear regression", "nearest neighbours"}
    for models in contestants.values():
        for name in single & set(models):
            parts = bias_variance.measure(models[name], bias_variance.N_SAMPLES)
            numbers = [parts.bias, parts.variance, bias_variance.NOISE, parts.error]
            assert [float(cell) for cell in quoted[name]] == pytest.approx(numbers, abs=0.011), name


def test_the_pages_claims_hold_in_their_numbers() -> None:
    parts = {
        row[0]: [float(cell) for cell in row[1:3]]
        for row in quoted_rows("which_ensemble.md", "bias_variance")
    }
    for name in ("bagging, 100 trees", "random forest, 100 trees", "extra trees, 100 trees"):
        assert parts[name][1] < 0.2 * parts["one deep tree"][1]
    assert parts["boosted stumps, 1,000 rounds"][0] < 0.2 * parts["one stump"][0]
    assert parts["boosted trees, 1,000 rounds"][0] < 0.3 * parts["one tree of depth 3"][0]
    auc = {row[0]: float(row[1].split("±")[0]) for row in quoted_rows("examples.md", "hr_attrition")[:3]}
    assert auc["random forest"] > auc["decision tree"] + 0.02
    assert len(quoted_rows("examples.md", "decision_regions")) == 8
    errors = {row[0]: float(row[1]) for row in quoted_rows("constraints.md", "monotone")}
    assert errors["constrained"] < errors["free"]
    exact, local, many, few = (float(row[-1]) for row in quoted_rows("split_finders.md", "proposals"))
    assert few < many < local < exact + 0.002
    trees, boosted = quoted_rows("growth.md", "growth")[:2], quoted_rows("growth.md", "growth")[2:]
    assert all(
        float(leafwise) <= float(depthwise) for leafwise, depthwise in list(zip(*trees, strict=True))[1:]
    )
    assert float(boosted[2][2]) < min(float(row[2]) for row in boosted[:2])
    for image in (
        "decision_regions",
        "hr_attrition",
        "bias_variance",
        "monotone",
        "proposals",
        "category_split",
        "growth",
        "target_statistics",
    ):
        assert_drawn(DOCS / "images" / f"{image}.png")


def test_a_missing_matplotlib_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **options: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SystemExit, match=r"pip install 'weald\[plots\]'"):
        pyplot()


def test_writing_into_a_page_leaves_the_rest_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a:begin -->\nold\n<!-- a:end -->\nafter\n")
    write_into_page(page, "a", "new")
    assert page.read_text() == "before\n<!-- a:begin -->\nnew\n<!-- a:end -->\nafter\n"


def test_the_index_of_the_documentation_lists_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    missing = [
        str(page.relative_to(DOCS))
        for page in sorted(DOCS.rglob("*.md"))
        if page.name != "README.md" and f"({page.relative_to(DOCS).as_posix()})" not in index
    ]
    assert not missing, f"docs/README.md does not list {', '.join(missing)}"
