"""A fitted model as a short program over the numbers of a row: what every format writes.

A row is a list of *slots*, float64 numbers. The first are the table's columns: numbers, and of categories their codes in the
column's dictionary; NaN is a missing value or an unknown category. Every step reads some slots and adds some behind the others.
Trees are a step, and so are what turns their scores into probabilities and what combines the members of an ensemble. The
order of every sum is part of the model, so that a format with float64 gives the bits of `predict`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.data.missing import Missing
from weald.forest.forest import Forest

Floats = NDArray[np.float64]
Label = str | int | float | bool
Slots = tuple[int, ...]
Function = Literal["exp", "sigmoid", "step", "double", "complement", "choose_above"]
Rule = Literal["above", "argmax", "majority"]


@dataclass(frozen=True, eq=False)
class Lookup:
    """Numbers for a category, or for several columns' categories together: target statistics, codes of another dictionary.

    A code is that of its category; the last of a column's `sizes` stands for missing and unknown ones. The group of a row is
    its codes as digits, the first column's the highest. Groups that are not listed have the `default`.
    """

    reads: Slots
    sizes: tuple[int, ...]
    groups: NDArray[np.int64]  # ascending
    cells: Floats  # (outputs, groups)
    default: Floats  # (outputs,)

    @property
    def n_outputs(self) -> int:
        return len(self.default)


@dataclass(frozen=True, eq=False)
class Trees:
    """The scores of a forest; its feature f is the slot `reads[f]`.

    The sum of the trees, which begins at the forest's base score, is divided by `divisor`. Of an *averaged* forest it begins at
    0, is divided by the number of rounds, and the base score comes last.
    """

    reads: Slots
    forest: Forest
    divisor: float = 1.0

    @property
    def n_outputs(self) -> int:
        return self.forest.n_outputs


@dataclass(frozen=True, eq=False)
class TreeValues:
    """What every tree of a forest with one output says by itself."""

    reads: Slots
    forest: Forest

    @property
    def n_outputs(self) -> int:
        return self.forest.n_trees


@dataclass(frozen=True, eq=False)
class Weighted:
    """A linear model: `start[k]`, to which the products of `weights[k]` and the slots are added in their order.

    Missing values add nothing; a weight of 0 is left out.
    """

    reads: Slots
    start: Floats  # (outputs,)
    weights: Floats  # (outputs, slots)

    @property
    def n_outputs(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class Map:
    """A function of every slot by itself.

    exp: at most the largest float64; sigmoid: 1 / (1 + e^-x); step: 1 above 0, else 0; double: 2 x; complement: 1 - x;
    choose_above: the code 1 above 0, else the code 0.
    """

    reads: Slots
    function: Function

    @property
    def n_outputs(self) -> int:
        return len(self.reads)


@dataclass(frozen=True)
class Divide:
    """Every slot divided by a number."""

    reads: Slots
    by: float

    @property
    def n_outputs(self) -> int:
        return len(self.reads)


@dataclass(frozen=True)
class Normalise:
    """Scores of classes as probabilities: softmax, or sigmoids over their sum."""

    reads: Slots
    function: Literal["softmax", "one_vs_rest"]

    @property
    def n_outputs(self) -> int:
        return len(self.reads)


@dataclass(frozen=True)
class Average:
    """The mean of members' outputs, which lie one after another in `reads`, in their order.

    Without weights the sum of all, divided by their number; otherwise the sum of weight times output.
    """

    reads: Slots
    members: int
    weights: tuple[float, ...] = ()

    @property
    def n_outputs(self) -> int:
        return len(self.reads) // self.members


@dataclass(frozen=True)
class Choose:
    """The code of the largest slot, of equals the first."""

    reads: Slots
    n_outputs: int = 1


@dataclass(frozen=True)
class Votes:
    """The share of the weights of those slots that hold a code, for every code; `rounded` to 12 decimals."""

    reads: Slots
    weights: tuple[float, ...]
    classes: int
    rounded: bool = True

    @property
    def n_outputs(self) -> int:
        return self.classes


@dataclass(frozen=True)
class Median:
    """The weighted median: of the slots in ascending order the first with half of the weight at or below it."""

    reads: Slots
    weights: tuple[float, ...]
    n_outputs: int = 1


@dataclass(frozen=True)
class Constant:
    """Numbers that are the same for every row."""

    values: tuple[float, ...]
    reads: Slots = ()

    @property
    def n_outputs(self) -> int:
        return len(self.values)


Step = (
    Lookup
    | Trees
    | TreeValues
    | Weighted
    | Map
    | Divide
    | Normalise
    | Average
    | Choose
    | Votes
    | Median
    | Constant
)


@dataclass(frozen=True)
class Output:
    """A label of a row.

    Of a regression `values` are the predictions, one or several. Of a classification they are the classes' probabilities, or
    none, and the label is decided from other slots: "above": the second class where the slot is above 0; "argmax": the class of
    the largest slot, of equals the first; "majority": the same if the slot is above 1/2, else the `refusal` label.
    """

    values: Slots
    classes: tuple[Label, ...] | None = None
    rule: Rule = "argmax"
    decided: Slots = ()
    refusal: Label | None = None


@dataclass(frozen=True)
class Answer:
    """What a model, or a member of one, says of a row: raw scores, where it has such, and its labels."""

    scores: Slots
    outputs: tuple[Output, ...]


@dataclass(frozen=True)
class Model:
    """A whole fitted model.

    missing: which numbers of a row count as missing: "nan"; "zero": zeros too; "none": none, NaN is the number 0.
    """

    name: str  # of the estimator
    schema: Schema
    steps: tuple[Step, ...]
    answer: Answer
    missing: Missing = "nan"

    @property
    def n_slots(self) -> int:
        """All columns' and steps' together."""
        return self.schema.n_columns + sum(step.n_outputs for step in self.steps)

    def starts(self) -> list[int]:
        """The first slot of every step."""
        sizes = [self.schema.n_columns, *(step.n_outputs for step in self.steps)]
        return [sum(sizes[: place + 1]) for place in range(len(self.steps))]


class Builder:
    """Collects the steps of a model."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.columns: Slots = tuple(range(schema.n_columns))
        self.steps: list[Step] = []
        self.n_slots = schema.n_columns

    def add(self, step: Step) -> Slots:
        """Add a step; its slots."""
        first = self.n_slots
        self.steps.append(step)
        self.n_slots += step.n_outputs
        return tuple(range(first, self.n_slots))

    def model(self, name: str, answer: Answer, missing: Missing = "nan") -> Model:
        """The finished model."""
        return Model(name, self.schema, tuple(self.steps), answer, missing)


def joined(parts: Sequence[Slots]) -> Slots:
    """Slots one after another."""
    return tuple(slot for part in parts for slot in part)
