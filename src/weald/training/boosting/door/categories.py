"""How every categorical column is split: as was asked for, or as categories="auto" chooses.

The rule of "auto" and its measurements are in docs/decisions/0018-categories-auto.md. It looks at schema, parameters and number
of rows, and never at labels or threads, so that all who plan the same training make the same plan.
"""

from __future__ import annotations

from dataclasses import dataclass

from weald.binning.parameters import Approximate, Exact, Histogram
from weald.data import Schema
from weald.encoding.columns import columns_by_statistics
from weald.encoding.combinations import Projection
from weald.encoding.parameters import AutoCategories, Categories, Partition, TargetStatistics
from weald.losses import Loss
from weald.training.boosting.booster_parameters import Ordered, Plain
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting

MOST_ONEHOT = 4  # categories of a column that "auto" splits one from the rest
ROWS_A_CATEGORY = (
    50  # from which on "auto" has sets of a column beside its statistics, where the loss is of numbers
)
#: The words of `CategoryWays.names`.
_KINDS = ("ordered", "greedy", "holdout", "leave_one_out")
WAYS = frozenset({"onehot", "partition", *_KINDS, *(f"partition+{kind}" for kind in _KINDS)})


@dataclass(frozen=True)
class CategoryWays:
    """How the categorical columns are split; columns are projections, by their places among the categorical ones.

    ``sets``: how columns without statistics, and those of ``beside``, are split; None: one category from the rest.
    ``by_statistics``: columns that are split by statistics alone; ``beside``: those that are split both ways.
    """

    sets: Partition | None = None
    statistics: TargetStatistics | None = None
    by_statistics: tuple[Projection, ...] = ()
    beside: tuple[Projection, ...] = ()

    def names(self, schema: Schema) -> tuple[str, ...]:
        """A word for every categorical column, in their order: onehot, partition, the kind of statistics, or partition+kind."""
        sizes = [len(column.categories) for column in schema.columns if column.kind == "categorical"]
        return tuple(self._name(place, size) for place, size in enumerate(sizes))

    def _name(self, place: int, size: int) -> str:
        as_it_is = "onehot" if self.sets is None or size <= self.sets.max_onehot else "partition"
        kind = "" if self.statistics is None else self.statistics.kind
        if (place,) in self.by_statistics:
            return kind
        return f"{as_it_is}+{kind}" if (place,) in self.beside else as_it_is


def category_ways(
    given: BoostingParameters, parts: ResolvedBoosting, schema: Schema, loss: Loss, n_rows: int
) -> CategoryWays:
    """How the columns of a table of so many rows are split."""
    if isinstance(parts.categories, AutoCategories):
        return _chosen(given, parts, schema, loss, n_rows)
    return asked_ways(parts.categories, schema)


def asked_ways(categories: Categories, schema: Schema) -> CategoryWays:
    """The same where one way was asked for, whatever the rows and the loss."""
    if isinstance(categories, TargetStatistics):
        columns = columns_by_statistics(categories.max_onehot, schema)
        return CategoryWays(statistics=categories, by_statistics=tuple(columns))
    return CategoryWays(sets=categories if isinstance(categories, Partition) else None)


def _chosen(
    given: BoostingParameters, parts: ResolvedBoosting, schema: Schema, loss: Loss, n_rows: int
) -> CategoryWays:
    """Statistics wherever the other parameters allow them, and sets for losses of numbers, as far as there are rows for them."""
    if isinstance(parts.split_finder, Exact) or _proposes_locally(parts):
        return CategoryWays()
    of_numbers = loss.link == "identity" and loss.task != "classification"
    sets = Partition(max_onehot=MOST_ONEHOT) if of_numbers else None
    columns = columns_by_statistics(MOST_ONEHOT, schema)
    if not columns or not _allows_statistics(given, parts):
        return CategoryWays(sets)
    wide = columns_by_statistics(max(MOST_ONEHOT, n_rows // ROWS_A_CATEGORY), schema)
    alone = wide if of_numbers else columns
    beside = [column for column in columns if column not in alone]
    return CategoryWays(sets, TargetStatistics(), tuple(alone), tuple(beside))


def _proposes_locally(parts: ResolvedBoosting) -> bool:
    finder = parts.split_finder
    return isinstance(finder, Approximate) and finder.proposals == "local"


def _allows_statistics(given: BoostingParameters, parts: ResolvedBoosting) -> bool:
    """Whether the other parameters go with statistics, and with orders of the rows."""
    return (
        isinstance(parts.booster, Plain | Ordered)
        and isinstance(parts.split_finder, Histogram)
        and not any(value for _, value in hindrances(given, parts))
    )


def hindrances(given: BoostingParameters, parts: ResolvedBoosting) -> tuple[tuple[str, object], ...]:
    """Parameters that go with neither statistics nor ordered boosting unless they are empty, and their values."""
    return (
        ("leaves.path_smooth", parts.leaves.path_smooth),
        ("splits.forced", parts.splits.forced),
        ("interaction_constraints", given.interaction_constraints),
        ("column_weights", given.column_weights),
    )
