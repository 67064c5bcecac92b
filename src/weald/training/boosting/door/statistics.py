"""The plan of target statistics, and what they and ordered boosting do not go with."""

from __future__ import annotations

from weald.binning.parameters import Histogram
from weald.data import Schema
from weald.encoding.columns import has_combinations
from weald.encoding.parameters import TargetStatistics
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.booster_parameters import Ordered, Plain
from weald.training.boosting.door.categories import CategoryWays, hindrances
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting
from weald.training.boosting.plan import StatisticPlan


def statistic_plan(
    given: BoostingParameters, parts: ResolvedBoosting, schema: Schema, ways: CategoryWays
) -> StatisticPlan | None:
    """How statistics are made; None where no column of the table is split by them."""
    asked, ordered = isinstance(parts.categories, TargetStatistics), isinstance(parts.booster, Ordered)
    if asked or ordered:
        _check_company(given, parts, f"categories={parts.categories!r}" if asked else "booster='ordered'")
    categories = ways.statistics
    if categories is None:
        return None
    if not ways.by_statistics and not ways.beside and not has_combinations(categories.max_combination, schema):
        return None
    return StatisticPlan(
        categories.kind,
        tuple(sorted((*ways.by_statistics, *ways.beside))),
        ways.by_statistics,
        categories.max_combination,
        categories.priors,
        float(categories.prior_weight),
        categories.bins,
        categories.target_borders,
        categories.counters,
    )


def _check_company(given: BoostingParameters, parts: ResolvedBoosting, what: str) -> None:
    if not isinstance(parts.booster, Plain | Ordered):
        raise NotSupportedError(
            f"{what} does not go with booster={parts.booster!r}; use 'plain' or 'ordered'."
        )
    if not isinstance(parts.split_finder, Histogram):
        raise NotSupportedError(
            f"{what} needs bins that stay the same, not split_finder={parts.split_finder!r}; use 'hist'."
        )
    for name, value in hindrances(given, parts):
        if value:
            raise NotSupportedError(f"{name}={value!r} does not go with {what}; leave it out.")
