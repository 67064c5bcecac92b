"""The plan of bins; what a split finder leaves without a meaning is refused."""

from __future__ import annotations

import math
from dataclasses import replace

from weald.binning.parameters import MOST_BUCKETS, Approximate, Bins, Exact, SplitFinder
from weald.encoding.parameters import AutoCategories, OneHot
from weald.params.choice import declared, same
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting
from weald.training.boosting.plan import BinPlan

# What every split finder asks of a table; the rest of `Bins` shapes bins that are made once.
_OF_READING = ("use_missing", "zero_as_missing", "unstored")


def bin_plan(given: BoostingParameters, parts: ResolvedBoosting) -> BinPlan:
    """The kind of binned table that the trees are grown on."""
    finder, bins = parts.split_finder, parts.bins
    _check_bins(finder, bins)
    plan = BinPlan("hist", bins.choices(finder), bins.bundles(finder), precision=finder.precision)
    plan = replace(plan, unstored=bins.unstored)
    if isinstance(finder, Exact):
        _check_categories(parts, "split_finder='exact'", "split_finder='hist'")
        return replace(plan, finder="exact")
    if not isinstance(finder, Approximate):
        return plan
    # A level of an oblivious tree shares its thresholds and holds all rows of the tree, with the hessians that they began
    # with: what would be proposed for it anew is what was proposed for the tree.
    local = finder.proposals == "local" and given.growth != "oblivious"
    if local:
        _check_categories(parts, "proposals='local'", "proposals='global'")
    if bins.max_bins > MOST_BUCKETS:
        raise NotSupportedError(
            f"bins.max_bins={bins.max_bins} is more than the {MOST_BUCKETS} bins that split_finder='approx' proposes at most; "
            "use split_finder='hist'."
        )
    # 1 / (1 / 49) is a little more than 49
    buckets = bins.max_bins if finder.eps is None else math.ceil(1.0 / finder.eps - 1e-9)
    return replace(plan, finder="approx", buckets=buckets, most_bins=bins.max_bins, local=local)


def _check_categories(parts: ResolvedBoosting, what: str, instead: str) -> None:
    if not isinstance(parts.categories, AutoCategories | OneHot):
        raise NotSupportedError(f"categories={parts.categories!r} is not there with {what}; use {instead}.")


def _check_bins(finder: SplitFinder, bins: Bins) -> None:
    if finder.uses_bins:
        return
    shared = (*_OF_READING, "max_bins") if isinstance(finder, Approximate) else _OF_READING
    looks = "proposes its own bins" if isinstance(finder, Approximate) else "looks at every value"
    for name, parameter in declared(Bins).items():
        value = getattr(bins, name)
        if name not in shared and not same(value, parameter.default):
            raise NotSupportedError(
                f"bins.{name}={value!r} has no meaning with split_finder={finder!r}, which {looks}; "
                "leave it out, or use split_finder='hist'."
            )
