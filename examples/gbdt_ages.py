"""The ages of four people by two trees of two leaves: gradient boosting small enough to follow by hand.

Run it as ``python examples/gbdt_ages.py [picture.png]``; it draws both trees.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import weald

PEOPLE = ["pupil, first year", "pupil, last year", "new graduate", "two years at work"]
# The question that a column answers, and what 0 and 1 mean.
COLUMNS = [("shopping", "little", "much"), ("questions", "asks", "answers")]
X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
AGES = np.array([14.0, 16.0, 24.0, 26.0])
PICTURE = Path(__file__).resolve().parent.parent / "docs" / "images" / "gbdt_ages.png"


def box(axes: Any, x: float, y: float, text: str, colour: str) -> None:
    """A node."""
    style = {"boxstyle": "round,pad=0.5", "facecolor": colour, "edgecolor": "#555555"}
    axes.text(x, y, text, ha="center", va="center", fontsize=11, bbox=style)


def draw_tree(axes: Any, step: Any, title: str, targets: np.ndarray, start: float) -> None:
    """A tree of two leaves, the people in each and what the leaf adds; ``start`` is the constant before the first."""
    feature = int(step.tree_.feature[0])
    column, low, high = COLUMNS[feature]
    axes.set_title(title, fontsize=12)
    axes.set(xlim=(0, 1), ylim=(0.1, 1))
    axes.axis("off")
    box(axes, 0.5, 0.85, f"{column}?", "#fff3cd")
    for x, value, answer in ((0.25, 0, low), (0.75, 1, high)):
        axes.annotate(
            "", (x, 0.53), (0.5, 0.79), arrowprops={"arrowstyle": "-|>", "color": "#555555"}, zorder=0
        )
        axes.text(x + (-0.1 if value else 0.1), 0.68, answer, ha="left" if value else "right", fontsize=11)
        here = X[:, feature] == value
        step_here = step.predict(X)[here][0]
        leaf = f"{start + step_here:g}" if start else f"{step_here:+g}"
        box(axes, x, 0.46, leaf, "#d8f0dc")
        lines = [
            f"{name}: {target:g}" for name, target in zip(np.array(PEOPLE)[here], targets[here], strict=True)
        ]
        axes.text(x, 0.3, "\n".join(lines), ha="center", va="top", fontsize=10)


def main() -> None:
    """Fit, say what comes out, draw."""
    model = weald.GradientBoostingRegressor(n_estimators=2, max_depth=1, learning_rate=1.0).fit(X, AGES)
    first, final = model.staged_predict(X)
    residuals = AGES - first
    print("after the first tree: ", ", ".join(f"{age:g}" for age in first))
    print("residuals:            ", ", ".join(f"{residual:g}" for residual in residuals))
    print("after the second tree:", ", ".join(f"{age:g}" for age in final))

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
    one, two = model.estimators_[:, 0]
    draw_tree(left, one, "First tree: fitted to the ages", AGES, float(AGES.mean()))
    draw_tree(right, two, "Second tree: fitted to the residuals", residuals, 0.0)
    figure.suptitle("Age = first tree + second tree", fontsize=13)
    figure.tight_layout()
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main()
