"""Writes the table of formats and model features in docs/exchange.md: ``PYTHONPATH=src:tests python -m exchange_table``.

Every feature is a model of `exchange_models`, which the tests of a format compare with the format's own evaluators; a
cell says whether the format took it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from exchange_models import case
from weald.exchange.writing import WRITERS
from weald.runtime.errors import NotSupportedError

PAGE = Path(__file__).parent.parent / "docs" / "exchange.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->"
#: what the table calls a feature -> a model that has it
FEATURES = {
    "regression, missing values": "regressor",
    "counts (link exp)": "poisson",
    "two classes": "two_classes",
    "several classes (softmax)": "three_classes",
    "several classes, one against the rest": "one_vs_rest",
    "several numbers a row (quantiles)": "quantiles",
    "averaged rounds": "averaged",
    "symmetric trees": "oblivious",
    "linear booster": "linear",
    "zeros are missing": "zeros_missing",
    "splits by sets of categories": "sets",
    "one-hot splits": "onehot",
    "target statistics": "statistics",
    "random forest, regression": "forest",
    "random forest, several classes": "forest_classes",
    "bagging of trees": "bagging",
    "bagging of boosted trees": "bagged_boosting",
    "AdaBoost, classes": "adaboost",
    "AdaBoost, regression (median)": "adaboost_values",
    "gradient boosting": "gradient_boosting",
    "voting, soft": "voting_soft",
    "voting, majority with refusal": "voting_majority",
    "stacking": "stacking",
    "blending, logistic regression on top": "blending",
}
#: how near a format's scores are to those of `predict`
NEARNESS = {"xgboost": "float32"}


def table() -> str:
    """The table as Markdown."""
    lines = ["| model | " + " | ".join(WRITERS) + " |", "| --- |" + " --- |" * len(WRITERS)]
    for feature, name in FEATURES.items():
        cells = [_cell(name, format) for format in WRITERS]
        lines.append(f"| {feature} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(name: str, format: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        try:
            case(name, denormals=False).estimator.export(Path(folder) / "model.out", format=format)
        except NotSupportedError:
            return "–"
    return NEARNESS.get(format, "yes")


def written(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + table() + END + after


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
