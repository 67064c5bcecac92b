"""Models that are a forest and a link, nothing else: what the formats of other tree libraries can say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.exchange.model import (
    Constant,
    Floats,
    Label,
    Lookup,
    Map,
    Model,
    Normalise,
    Slots,
    Step,
    Trees,
    Weighted,
)
from weald.forest.forest import Forest
from weald.runtime.errors import NotSupportedError

Link = Literal["identity", "log", "logit", "half_logit", "softmax", "one_vs_rest", "sigmoids", "step"]


@dataclass(frozen=True)
class OutputTree:
    """A tree of which a leaf adds one number to one output: arrays with an entry for every node."""

    output: int
    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int64]
    missing_left: NDArray[np.bool_]
    categories_left: tuple[tuple[int, ...] | None, ...]
    value: Floats
    gain: Floats
    cover: Floats
    count: NDArray[np.int64]

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Which nodes are leaves."""
        return self.feature < 0


@dataclass(frozen=True)
class PlainModel:
    """Scores of a forest, divided by `divisor`, and the link from them to predictions."""

    schema: Schema
    forest: Forest
    divisor: float
    link: Link
    classes: tuple[Label, ...] | None

    @property
    def averaged(self) -> float:
        """What the sum of an output's trees is divided by."""
        return self.divisor * (max(self.forest.n_rounds, 1) if self.forest.averaged else 1)

    def trees(self) -> list[OutputTree]:
        """The trees, one number a leaf, with the base score in their leaves.

        An output's first tree has it, so that adding them up in their order gives the same bits; of an averaged forest each
        tree. A forest without trees gets one of a single leaf for every output.
        """
        forest = self.forest
        found = [one for number in range(forest.n_trees) for one in one_a_leaf(forest, number)]
        found = found or [single_leaf(output) for output in range(forest.n_outputs)]
        waiting = set(range(forest.n_outputs))
        based = []
        for tree in found:
            value = tree.value
            if forest.averaged or tree.output in waiting:
                value = np.where(tree.is_leaf, forest.base_score[tree.output] + value, value)
                waiting.discard(tree.output)
            based.append(replace(tree, value=value))
        return based


def plain_model(model: Model, format: str) -> PlainModel:
    """The forest and link of a model; anything else is refused by what it is."""
    forests = [step for step in model.steps if isinstance(step, Trees)]
    if len(forests) != 1 or forests[0].reads != tuple(range(model.schema.n_columns)):
        raise _refused(model, format)
    (trees,) = forests
    if model.missing != "nan":
        raise NotSupportedError(
            f"format={format!r} takes NaN alone for missing, but this model takes other numbers too; export it as 'json' or 'c'."
        )
    rest = [step for step in model.steps if step is not trees]
    scores = tuple(range(model.schema.n_columns, model.schema.n_columns + trees.n_outputs))
    link = _link(rest, scores)
    if link is None or len(model.answer.outputs) != 1:
        raise _refused(model, format)
    return PlainModel(model.schema, trees.forest, trees.divisor, link, model.answer.outputs[0].classes)


def _link(rest: list[Step], scores: Slots) -> Link | None:
    """The link that the steps behind the trees are; None where they are more."""
    kinds = []
    for step in rest:
        if isinstance(step, Map) or (isinstance(step, Normalise) and step.reads == scores):
            kinds.append(step.function)
        else:
            return None
    if kinds and kinds[-1] == "complement":
        kinds.pop()
    several: Link = "sigmoids" if len(scores) > 1 else "logit"
    links: dict[tuple[str, ...], Link] = {
        (): "identity",
        ("exp",): "log",
        ("sigmoid",): several,
        ("double", "sigmoid"): "half_logit",
        ("softmax",): "softmax",
        ("one_vs_rest",): "one_vs_rest",
        ("step",): "step",
    }
    return links.get(tuple(kinds))


def _refused(model: Model, format: str) -> NotSupportedError:
    if any(isinstance(step, Weighted) for step in model.steps):
        reason = "but this model is linear, or has a linear part"
    elif any(isinstance(step, Constant) for step in model.steps):
        reason = "but this model has a part that is the same for every row"
    elif any(isinstance(step, Lookup) for step in model.steps):
        reason = "but this model looks up statistics of categories"
    else:
        reason = f"but a {model.name} combines several models"
    return NotSupportedError(
        f"format={format!r} holds one forest and its link, {reason}; export it as 'json', 'c', 'python' or 'onnx'."
    )


def refuse_categories(plain: PlainModel, format: str) -> None:
    """Refuse splits by categories where a format has none."""
    by_set = plain.forest.category_set >= 0
    if by_set.any():
        name = plain.schema.names[plain.forest.feature[np.argmax(by_set)]]
        raise NotSupportedError(
            f"format={format!r} has no splits by sets of categories, as of column {name!r}; fit with categories as target "
            "statistics and export as 'onnx', or export as 'lightgbm' or 'xgboost'."
        )


def refuse_link(plain: PlainModel, format: str, links: tuple[Link, ...]) -> None:
    """Refuse a link that a format does not know."""
    if plain.link not in links:
        raise NotSupportedError(
            f"format={format!r} has no link {plain.link!r}, by which this model's scores become predictions; export it as "
            "'json', 'c', 'python', 'javascript' or 'onnx'."
        )


def one_a_leaf(forest: Forest, number: int) -> list[OutputTree]:
    """A tree; one with vector leaves as a tree for every output."""
    tree = forest.tree(number)
    parts: list[tuple[int, Floats]] = []
    if tree.output is None:
        for output in range(forest.n_outputs):
            value = np.zeros(tree.n_nodes)
            value[tree.feature < 0] = tree.vectors[:, output]
            parts.append((output, value))
    else:
        parts.append((tree.output, tree.value))
    return [
        OutputTree(
            output,
            tree.feature,
            tree.threshold,
            tree.left.astype(np.int64),
            tree.missing_left.astype(bool),
            tree.categories_left,
            value,
            tree.gain,
            tree.cover,
            tree.count,
        )
        for output, value in parts
    ]


def single_leaf(output: int, value: float = 0.0) -> OutputTree:
    """A tree that says the same of every row."""
    zero, none = np.zeros(1), np.zeros(1, np.int64)
    return OutputTree(
        output,
        np.full(1, -1, np.int32),
        zero,
        none,
        np.zeros(1, bool),
        (None,),
        np.full(1, value),
        zero,
        zero,
        none,
    )


def at_most_single(thresholds: Floats) -> NDArray[np.float32]:
    """Thresholds for float32 values that are compared by `<=`: the largest float32 that is at most each.

    >>> bool(at_most_single(np.array([0.1]))[0] <= 0.1)
    True
    """
    with np.errstate(over="ignore", under="ignore"):
        single = thresholds.astype(np.float32)
        return np.where(single > thresholds, np.nextafter(single, np.float32(-np.inf)), single)


def below_single(thresholds: Floats) -> NDArray[np.float32]:
    """Thresholds for float32 values that are compared by `<`: the smallest float32 above each.

    >>> bool(below_single(np.array([0.5]))[0] > 0.5)
    True
    """
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(at_most_single(thresholds), np.float32(np.inf))


def other_codes(codes: tuple[int, ...], n_categories: int) -> list[int]:
    """The codes of a dictionary that are not in a set."""
    known = set(codes)
    return [code for code in range(n_categories) if code not in known]
