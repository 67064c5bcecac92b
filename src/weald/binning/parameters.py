"""How columns are cut into bins, and among which thresholds splits are sought, as choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from weald.binning.bundles import Bundling
from weald.binning.choices import BinChoices, missing_of, read_by_column, read_forced
from weald.data.missing import Missing
from weald.data.sparse import Unstored
from weald.params.choice import Choice, Family, anything, documented, flag, number, one_of, whole
from weald.runtime.errors import InputError, NotSupportedError

MOST_BUCKETS = 255  # of proposals, and one for missing values: bins are bytes
_PRECISION = one_of(
    "Integers of the gradients: packed (wide where the data need it), always wide, or always packed.",
    "packed",
    "wide",
    "packed_always",
)


class SplitFinder(Choice):
    """Among which thresholds splits are sought."""

    #: Whether columns are binned once; otherwise every value is told apart.
    uses_bins: ClassVar[bool] = False
    precision: str


@documented
@dataclass(repr=False, eq=False)
class Histogram(SplitFinder):
    """Thresholds between bins, which are made once.

    The fastest, and as good as the others on nearly all data. Ke et al., "LightGBM", 2017.

    Examples
    --------
    >>> Histogram(precision="wide")
    Histogram(precision='wide')
    """

    uses_bins: ClassVar[bool] = True
    precision: Annotated[str, _PRECISION] = "packed"


@documented
@dataclass(repr=False, eq=False)
class Approximate(SplitFinder):
    """Thresholds proposed for every tree: weighted quantiles by the hessians.

    For hessians that differ much between rows. Chen and Guestrin, "XGBoost: a scalable tree boosting system", 2016.

    Examples
    --------
    >>> Approximate(eps=0.05, proposals="local")
    Approximate(eps=0.05, proposals='local')
    """

    eps: Annotated[
        float | None,
        number(
            "Share of the hessians between two proposals, at least 1 / 255; None: 1 / max_bins.",
            0,
            0.5,
            open_low=True,
            optional=True,
        ),
    ] = None
    proposals: Annotated[
        str,
        one_of(
            "When thresholds are proposed: once a tree, or anew after every split, which with growth='oblivious' is the same.",
            "global",
            "local",
        ),
    ] = "global"
    precision: Annotated[str, _PRECISION] = "packed"

    def check_together(self, path: str) -> None:
        if self.eps is not None and 1.0 / self.eps - 1e-9 > MOST_BUCKETS:
            raise InputError(
                f"{path}.eps must be at least 1 / {MOST_BUCKETS}, as the bins of a column are counted in a byte, not "
                f"{self.eps!r}; for finer thresholds use split_finder='exact'."
            )


@documented
@dataclass(repr=False, eq=False)
class Exact(SplitFinder):
    """Thresholds between any two values of a column.

    For small tables. Breiman, Friedman, Olshen and Stone, "Classification and regression trees", 1984.

    Examples
    --------
    >>> Exact()
    Exact()
    """

    precision: Annotated[str, _PRECISION] = "packed"


@documented
@dataclass(repr=False, eq=False)
class Bins(Choice):
    """How columns are cut into bins, which values are missing, and which columns share storage.

    Fewer bins are faster and smooth more; columns with fine structure may have more of their own.

    Examples
    --------
    >>> Bins(max_bins=63, by_column={"age": 15})
    Bins(max_bins=63, by_column={'age': 15})
    >>> BINS.resolve(63)
    Bins(max_bins=63)
    """

    max_bins: Annotated[
        int,
        whole("Bins of a column, missing values apart; above 255 a cell takes two bytes.", 2, 65_535),
    ] = 255
    by_column: Annotated[
        Sequence[int] | Mapping[Any, int] | None,
        anything(
            "Bins of single columns: a list, or a dict from names or positions; None: max_bins for all."
        ),
    ] = None
    max_categories: Annotated[
        int | None,
        whole(
            "Bins of a categorical column, the rarest categories sharing the last; None: max_bins.",
            2,
            65_535,
            optional=True,
        ),
    ] = None
    rare_categories: Annotated[
        float, number("Share of the rows whose rarest categories share a bin.", 0, 0.5)
    ] = 0.0
    min_samples: Annotated[int, whole("Rows of a bin.", 1)] = 1
    sample: Annotated[
        int,
        whole("Rows that bins are found on, drawn at random where there are more.", 1_000, 2**31 - 1),
    ] = 200_000
    borders: Annotated[
        str,
        one_of(
            "Where numeric columns are cut: by quantiles, by Median, at equal distances, by both, or by greedy log sums.",
            "quantiles",
            "median",
            "uniform",
            "uniform_and_quantiles",
            "greedy_log_sum",
        ),
    ] = "quantiles"
    forced: Annotated[
        Mapping[Any, Sequence[float]] | None,
        anything("Cut points that a column has in any case: a dict from names or positions to lists."),
    ] = None
    use_missing: Annotated[bool, flag("Missing values are told apart; otherwise they are zeros.")] = True
    zero_as_missing: Annotated[bool, flag("Zeros are missing values, in dense tables and sparse ones.")] = (
        False
    )
    unstored: Annotated[
        Unstored,
        one_of(
            "What the cells are that a sparse matrix does not store: zeros, or missing values.",
            "zero",
            "missing",
        ),
    ] = "zero"
    bundling: Annotated[
        str,
        one_of(
            "In which order columns that are never away from zero in the same row are bundled: "
            "by count, by conflicts, or not.",
            "count",
            "degree",
            "none",
        ),
    ] = "count"
    max_conflict_rate: Annotated[
        float, number("Share of the rows in which two columns of a bundle may collide.", 0, 1)
    ] = 0.0

    def check_together(self, path: str) -> None:
        if self.zero_as_missing and not self.use_missing:
            raise InputError(
                f"{path}.zero_as_missing=True makes zeros missing values, but with use_missing=False there are none; "
                "choose one of the two."
            )
        if self.bundling == "none" and self.max_conflict_rate != 0.0:
            raise NotSupportedError(
                f"{path}.max_conflict_rate={self.max_conflict_rate} has no meaning with bundling='none'; "
                "use bundling='count'."
            )
        read_by_column(self.by_column)
        read_forced(self.forced)

    @property
    def missing(self) -> Missing:
        """Which numbers are missing."""
        return missing_of(self.use_missing, self.zero_as_missing)

    def choices(self, finder: SplitFinder | None = None) -> BinChoices:
        """What shapes the bins for a split finder; None: for histograms."""
        if finder is not None and not finder.uses_bins:
            return BinChoices(max_bins=None, missing=self.missing)
        return BinChoices(
            self.max_bins,
            self.max_categories,
            self.rare_categories,
            self.min_samples,
            self.sample,
            read_by_column(self.by_column),
            read_forced(self.forced),
            self.missing,
            self.borders,
        )

    def bundles(self, finder: SplitFinder | None = None) -> Bundling | None:
        """How columns are bundled for a split finder, None: for histograms; where it is None they are not."""
        if self.bundling == "none" or (finder is not None and not finder.uses_bins):
            return None
        order: Any = self.bundling
        return Bundling(order, float(self.max_conflict_rate))


BINS: Family[Bins] = Family("bins", {"auto": Bins}, of_number="max_bins")
SPLIT_FINDERS: Family[SplitFinder] = Family(
    "split_finder", {"hist": Histogram, "approx": Approximate, "exact": Exact}
)
