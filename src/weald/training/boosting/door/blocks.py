"""What a table in blocks, on disk or with other processes, cannot be trained with."""

from __future__ import annotations

from weald.binning.parameters import Histogram
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.booster_parameters import Linear
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting


def check_blocks(given: BoostingParameters, parts: ResolvedBoosting) -> None:
    """Refuse what needs all rows in one memory."""
    refused = [
        (not isinstance(parts.split_finder, Histogram), f"split_finder={given.split_finder!r}", "'hist'"),
        (isinstance(parts.booster, Linear), "booster='linear'", "'plain'"),
        (bool(parts.splits.forced), "splits.forced", "splits without it"),
        (
            parts.bins.max_conflict_rate > 0.0,
            f"bins.max_conflict_rate={parts.bins.max_conflict_rate}",
            "bins.max_conflict_rate=0.0, which changes no model",
        ),
    ]
    for is_there, what, instead in refused:
        if is_there:
            raise NotSupportedError(
                f"{what} needs all rows in one memory, but the table is in blocks; use {instead}, or pass the rows as one table."
            )
