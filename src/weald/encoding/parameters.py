"""How categorical columns are split, as choices.

A new kind of target statistic is a word of `TargetStatistics.kind` and a line in `CATEGORIES`, with its formula in formulas.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from weald.params.choice import Choice, Family, anything, documented, flag, number, one_of, whole
from weald.runtime.errors import InputError, NotSupportedError

DEFAULT_PERMUTATIONS = 3
_MOST = 2**31 - 1


class Categories(Choice):
    """How categorical columns are split."""


@documented
@dataclass(repr=False, eq=False)
class AutoCategories(Categories):
    """Chosen for every column by its categories, the rows and the loss: one from the rest, sets, or ordered target statistics.

    A fitted model's ``category_ways_`` says what was chosen. The rule is in docs/categories.md.

    Examples
    --------
    >>> CATEGORIES.resolve("auto")
    AutoCategories()
    """


@documented
@dataclass(repr=False, eq=False)
class OneHot(Categories):
    """One category from the rest.

    Right for columns of few categories; many need deep trees.

    Examples
    --------
    >>> OneHot()
    OneHot()
    """


@documented
@dataclass(repr=False, eq=False)
class Partition(Categories):
    """Sets of categories, sorted by gradient over hessian and cut where it gains most.

    For columns of some dozens of categories or more. Fisher, "On grouping for maximum homogeneity", 1958; LightGBM's way.

    Examples
    --------
    >>> Partition(max_threshold=32, smooth=10.0)
    Partition(max_threshold=32, smooth=10.0)
    """

    max_onehot: Annotated[
        int, whole("Categories of a column up to which one is split from the rest.", 1, _MOST)
    ] = 4
    max_threshold: Annotated[int, whole("Most categories on the smaller side of a split.", 1, 65_535)] = 64
    smooth: Annotated[float, number("Hessian added to a category's when they are sorted.", 0)] = 0.0
    l2: Annotated[float, number("L2 penalty, beside reg_lambda, of leaf values of a split into sets.", 0)] = (
        0.0
    )
    min_samples: Annotated[
        int, whole("Rows of a category, or of a group of them, that may be split off.", 1)
    ] = 1


@documented
@dataclass(repr=False, eq=False)
class TargetStatistics(Categories):
    """Categories as numbers: how the labels of rows that share one are on average, alone and in combinations of columns.

    For columns of many categories. Statistics of the rows before a row, in a random order, do not leak its own label;
    Prokhorenkova et al., "CatBoost: unbiased boosting with categorical features", 2018.

    Examples
    --------
    >>> TargetStatistics(max_combination=1)
    TargetStatistics(max_combination=1)
    >>> CATEGORIES.resolve("greedy")
    TargetStatistics(kind='greedy')
    """

    kind: Annotated[
        str,
        one_of(
            "Whose labels a row gets: those of the rows before it, of all, of rows set aside, or of all but itself.",
            "ordered",
            "greedy",
            "holdout",
            "leave_one_out",
        ),
    ] = "ordered"
    max_onehot: Annotated[
        int, whole("Categories of a column up to which one is split from the rest.", 1, _MOST)
    ] = 4
    max_combination: Annotated[
        int, whole("Most columns whose combination has statistics; 1: no combinations.", 1, 16)
    ] = 4
    prior: Annotated[
        str | float | Sequence[float],
        anything("What a statistic is drawn to: 'mean' of the labels, a number, or a list of them."),
    ] = "mean"
    prior_weight: Annotated[float, number("Rows that the prior counts for.", 0, open_low=True)] = 1.0
    bins: Annotated[int, whole("Bins of a statistic.", 2, 255)] = 32
    target_borders: Annotated[
        int, whole("Borders of a regression's labels; a statistic is made for each.", 1, 255)
    ] = 1
    counters: Annotated[bool, flag("Also count how frequent a category is, whatever its labels.")] = True
    permutations: Annotated[
        int | None,
        whole(
            "Orders of the rows that ordered statistics take turns with, beside that of the leaf values; "
            "None: those of booster='ordered', or 3.",
            0,
            64,
            optional=True,
        ),
    ] = None

    def check_together(self, path: str) -> None:
        self._read_priors(path)
        if self.permutations is not None and self.kind != "ordered":
            raise NotSupportedError(
                f"{path}.permutations={self.permutations} belongs to kind='ordered', but kind is {self.kind!r}; "
                "leave permutations at None."
            )

    @property
    def priors(self) -> tuple[float, ...] | None:
        """The priors that all statistics are made for; None: the mean of the labels."""
        return self._read_priors("categories")

    def _read_priors(self, path: str) -> tuple[float, ...] | None:
        if isinstance(self.prior, str) and self.prior == "mean":
            return None
        several: list[Any] = (
            list(self.prior) if isinstance(self.prior, list | tuple | np.ndarray) else [self.prior]
        )
        if not several or not all(
            isinstance(value, int | float | np.number) and 0 <= value <= 1 for value in several
        ):
            raise InputError(
                f"{path}.prior must be 'mean', a number from 0 to 1, or a list of such numbers, not {self.prior!r}."
            )
        return tuple(float(value) for value in several)


CATEGORIES: Family[Categories] = Family(
    "categories",
    {
        "auto": AutoCategories,
        "onehot": OneHot,
        "partition": Partition,
        "ordered": TargetStatistics,
        "greedy": (TargetStatistics, {"kind": "greedy"}),
        "holdout": (TargetStatistics, {"kind": "holdout"}),
        "leave_one_out": (TargetStatistics, {"kind": "leave_one_out"}),
    },
)
