"""Data set -> bins: at most 255 bins a feature and one for missing values, a byte a cell, in both layouts."""

from weald.binning.cuts import fit_bins
from weald.binning.mapper import BinMapper, Bins

__all__ = ["BinMapper", "Bins", "fit_bins"]
