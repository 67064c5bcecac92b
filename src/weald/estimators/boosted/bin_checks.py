"""The parameters of bins: what has no meaning beside the others is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weald.params import PARAMETERS
from weald.runtime.errors import InputError, NotSupportedError

if TYPE_CHECKING:
    from weald.estimators.boosted.boosted import BoostedTrees

#: What shapes the bins of a column once and for all; other split finders than "hist" make theirs from every value.
_OF_BINS = (
    "max_bins_by_column",
    "max_categories",
    "rare_categories",
    "min_samples_bin",
    "bin_sample",
    "border_type",
    "forced_bins",
)


def check_bins(estimator: BoostedTrees) -> None:
    """Refuse parameters of bins that the split finder, or another of them, leaves without a meaning."""
    if estimator.zero_as_missing and not estimator.use_missing:
        raise InputError(
            "zero_as_missing=True makes zeros missing values, but with use_missing=False there are none; choose one of the two."
        )
    finder = estimator.split_finder
    if finder == "hist":
        return
    for name in (*_OF_BINS, "max_bins") if finder == "exact" else _OF_BINS:
        value, default = getattr(estimator, name), PARAMETERS[name].default
        if value is not None if default is None else value != default:
            looks = "looks at every value" if finder == "exact" else "proposes its own bins"
            raise NotSupportedError(
                f"{name}={value!r} has no meaning with split_finder={finder!r}, which {looks}; "
                f"leave {name} out, or use split_finder='hist'."
            )
