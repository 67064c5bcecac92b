"""Data set -> bins, a byte or two a cell in both layouts, at most 65,535 a feature and one for missing values; or ranks."""

from weald.binning.bundled import BundledBins, dense_bins
from weald.binning.bundles import Bundling
from weald.binning.choices import BinChoices, missing_of
from weald.binning.cuts import fit_bins
from weald.binning.extremes import with_extremes
from weald.binning.mapper import BinMapper, CutMapper, DenseBins
from weald.binning.ranks import RankMapper, Ranks, fit_ranks
from weald.binning.shared import (
    AnyBins,
    BinnedTable,
    BinWishes,
    bin_once,
    bins_of,
    ranks_of,
    read_training_table,
    wishes_of,
)
from weald.binning.sparse import SparseBins
from weald.binning.sparse_ranks import SparseRanks

__all__ = [
    "AnyBins",
    "BinChoices",
    "BinMapper",
    "BinWishes",
    "BinnedTable",
    "DenseBins",
    "BundledBins",
    "Bundling",
    "CutMapper",
    "RankMapper",
    "Ranks",
    "SparseBins",
    "SparseRanks",
    "bin_once",
    "bins_of",
    "dense_bins",
    "fit_bins",
    "fit_ranks",
    "missing_of",
    "ranks_of",
    "read_training_table",
    "wishes_of",
    "with_extremes",
]
