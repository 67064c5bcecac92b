"""Data set -> bins, a byte a cell in both layouts: at most 255 a feature and one for missing values; or a code a value."""

from weald.binning.cuts import fit_bins
from weald.binning.mapper import BinMapper, Bins, dense_bins
from weald.binning.ranks import RankMapper, Ranks, fit_ranks
from weald.binning.shared import (
    AnyBins,
    BinnedTable,
    bin_once,
    bins_of,
    bins_wanted,
    ranks_of,
    read_training_table,
)
from weald.binning.sparse import SparseBins
from weald.binning.sparse_ranks import SparseRanks

__all__ = [
    "AnyBins",
    "BinMapper",
    "BinnedTable",
    "Bins",
    "RankMapper",
    "Ranks",
    "SparseBins",
    "SparseRanks",
    "bin_once",
    "bins_of",
    "bins_wanted",
    "dense_bins",
    "fit_bins",
    "fit_ranks",
    "ranks_of",
    "read_training_table",
]
