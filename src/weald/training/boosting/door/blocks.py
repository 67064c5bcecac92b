"""What a table in blocks, on disk or with other processes, cannot be trained with; and how its categories are split."""

from __future__ import annotations

from weald.binning.parameters import Histogram
from weald.data import Schema
from weald.encoding.parameters import AutoCategories, Partition, TargetStatistics
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.booster_parameters import Linear, Ordered
from weald.training.boosting.door.categories import CategoryWays, asked_ways
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting


def check_blocks(given: BoostingParameters, parts: ResolvedBoosting) -> None:
    """Refuse what needs all rows in one memory."""
    refused = [
        (not isinstance(parts.split_finder, Histogram), f"split_finder={given.split_finder!r}", "'hist'"),
        (isinstance(parts.booster, Linear), "booster='linear'", "'plain'"),
        (isinstance(parts.booster, Ordered), "booster='ordered'", "'plain'"),
        (isinstance(parts.categories, TargetStatistics), f"categories={given.categories!r}", "'partition'"),
        (bool(parts.splits.forced), "splits.forced", "splits without it"),
    ]
    for is_there, what, instead in refused:
        if is_there:
            raise NotSupportedError(
                f"{what} needs all rows in one memory, but the table is in blocks; use {instead}, or pass the rows as one table."
            )


def ways_in_blocks(parts: ResolvedBoosting, schema: Schema) -> CategoryWays:
    """How the columns of a table in blocks are split: as was asked for, and with "auto" by sets of categories."""
    is_auto = isinstance(parts.categories, AutoCategories)
    return asked_ways(Partition() if is_auto else parts.categories, schema)
