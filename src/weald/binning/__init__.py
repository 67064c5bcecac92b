"""Data set -> bins: at most 255 bins a feature and one for missing values, a byte a cell, in both layouts."""

from weald.binning.cuts import fit_bins
from weald.binning.mapper import BinMapper, Bins
from weald.binning.shared import BinnedTable, bin_once, bins_of, read_training_table

__all__ = ["BinMapper", "BinnedTable", "Bins", "bin_once", "bins_of", "fit_bins", "read_training_table"]
