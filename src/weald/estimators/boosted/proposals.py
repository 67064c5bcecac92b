"""The parameters of split_finder="approx"."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from weald.binning import Ranks, SparseRanks
from weald.binning.proposals import ProposalTable, with_buckets
from weald.binning.sparse_proposals import SparseProposalTable
from weald.params import PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

MOST_BUCKETS = 255  # and one for missing values: bins are bytes


def check_proposals(estimator: BoostedTrees) -> None:
    """Refuse what shapes proposals where nothing is proposed, and what proposals cannot do."""
    finder = estimator.split_finder
    if finder != "approx":
        for name in ("proposals", "sketch_eps"):
            value = getattr(estimator, name)
            if value != PARAMETERS[name].default:
                raise NotSupportedError(
                    f"{name}={value!r} has no meaning with split_finder={finder!r}; use split_finder='approx'."
                )
        return
    if _in_every_node(estimator) and estimator.categories != "onehot":
        raise NotSupportedError(
            f"categories={estimator.categories!r} is not there with proposals='local'; use proposals='global'."
        )
    if estimator.max_bins > MOST_BUCKETS:
        raise NotSupportedError(
            f"max_bins={estimator.max_bins} is more than the {MOST_BUCKETS} bins that split_finder='approx' proposes at most; "
            "use split_finder='hist'."
        )
    if _buckets(estimator) > MOST_BUCKETS:
        raise InputError(
            f"sketch_eps must be at least 1 / {MOST_BUCKETS}, as the bins of a column are counted in a byte, not "
            f"{estimator.sketch_eps!r}; for finer thresholds use split_finder='exact'."
        )


def with_proposals(
    estimator: BoostedTrees, ranks: Ranks | SparseRanks
) -> ProposalTable | SparseProposalTable:
    """The table of codes with the number of bins that the estimator asks for."""
    return with_buckets(ranks, _buckets(estimator), estimator.max_bins, _in_every_node(estimator))


def _in_every_node(estimator: BoostedTrees) -> bool:
    """Whether the nodes of a tree have proposals of their own.

    A level of an oblivious tree shares its thresholds and holds all rows of the tree, with the hessians that they began
    with: what would be proposed for it anew is what was proposed for the tree.
    """
    return estimator.proposals == "local" and estimator.growth != "oblivious"


def _buckets(estimator: BoostedTrees) -> int:
    """Bins that hold about ``sketch_eps`` of the hessians each."""
    if estimator.sketch_eps is None:
        return estimator.max_bins
    return math.ceil(1.0 / estimator.sketch_eps - 1e-9)  # 1 / (1 / 49) is a little more than 49
