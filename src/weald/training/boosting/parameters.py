"""What every estimator of boosting takes: the one declaration of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from weald.binning import BinWishes
from weald.binning.parameters import BINS, SPLIT_FINDERS, Bins, SplitFinder
from weald.devices.parameters import DEVICES, Device
from weald.encoding.parameters import (
    CATEGORIES,
    DEFAULT_PERMUTATIONS,
    AutoCategories,
    Categories,
    TargetStatistics,
)
from weald.losses.parameters import LOSS_CHOICES, LossChoice
from weald.params.choice import (
    Choice,
    Family,
    Part,
    anything,
    declared,
    documented,
    flag,
    number,
    one_of,
    part,
    resolve_parameters,
    whole,
)
from weald.params.other_names import places_of, unknown_parameter
from weald.params.settable import Settable
from weald.runtime.errors import InputError
from weald.sampling.parameters import SAMPLINGS, Sampling
from weald.training.boosting.booster_parameters import (
    BOOSTERS,
    Averaging,
    BoosterChoice,
    Dart,
    Linear,
    Ordered,
    Plain,
)
from weald.tree.parameters import LEAVES, SPLITS, Leaves, Splits

__all__ = [
    "BOOSTERS",
    "FAMILIES",
    "Averaging",
    "BoosterChoice",
    "BoostingParameters",
    "Dart",
    "Linear",
    "Ordered",
    "Plain",
    "ResolvedBoosting",
]

#: All families of choices that boosting has, by the parameter that they belong to.
FAMILIES: dict[str, Family[Any]] = {
    family.name: family
    for family in (LOSS_CHOICES, LEAVES, SPLITS, SAMPLINGS, SPLIT_FINDERS, BOOSTERS, CATEGORIES, BINS, DEVICES)
}


@dataclass(frozen=True)
class ResolvedBoosting:
    """The parts of a training as valid objects; ``loss`` may also be a name or a function."""

    loss: str | LossChoice | Callable[..., Any]
    leaves: Leaves
    splits: Splits
    sampling: Sampling
    split_finder: SplitFinder
    booster: BoosterChoice
    categories: Categories
    bins: Bins
    device: Device

    @property
    def permutations(self) -> int:
        """The orders of the rows that take turns, beside that of the leaf values; 0 where nothing depends on them."""
        if isinstance(self.booster, Ordered):
            return self.booster.permutations
        if isinstance(self.categories, AutoCategories):
            return DEFAULT_PERMUTATIONS
        if isinstance(self.categories, TargetStatistics) and self.categories.kind == "ordered":
            asked = self.categories.permutations
            return DEFAULT_PERMUTATIONS if asked is None else asked
        return 0


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class BoostingParameters(Settable):
    """The parameters that a classifier and a regressor of boosting share; a base class of both.

    Examples
    --------
    >>> BoostingParameters(booster=Dart(rate_drop=0.2)).resolved().booster
    Dart(rate_drop=0.2)
    """

    loss: Annotated[
        str | LossChoice | Callable[..., Any],
        part(
            "What is minimised: a function(y, raw_scores) -> (gradient, hessian), an object such as Quantile(alpha=0.9), "
            "or a name.",
            LOSS_CHOICES,
        ),
    ] = field(default="auto", kw_only=False)
    n_estimators: Annotated[int, whole("Rounds of boosting.", 1, 10_000_000)] = 100
    learning_rate: Annotated[
        float | Literal["auto"],
        number(
            "Share of every tree, or step of a weight, that is added; "
            "'auto': from the loss and the numbers of rows and rounds.",
            0,
            open_low=True,
            choices=("auto",),
        ),
    ] = 0.1
    growth: Annotated[
        str,
        one_of(
            "Which leaf is split next: the one with the largest gain, level by level, or one split for a whole level.",
            "leafwise",
            "depthwise",
            "oblivious",
        ),
    ] = "leafwise"
    max_leaves: Annotated[
        int | None,
        whole(
            "Leaves of a tree; None: no limit. Oblivious trees are sized by max_depth.",
            2,
            2**24,
            optional=True,
        ),
    ] = 31
    max_depth: Annotated[
        int | None,
        whole("Depth of a tree; None: no limit (oblivious trees: 6).", 1, 1_000_000, optional=True),
    ] = None
    min_samples_leaf: Annotated[int, whole("Rows that a leaf must have.", 1)] = 20
    min_child_weight: Annotated[float, number("Sum of hessians that a leaf must have.", 0)] = 1e-3
    reg_lambda: Annotated[
        float | None,
        number(
            "L2 penalty of leaf values, or of weights a row for booster='linear'; None: 1 for trees, 0 for 'linear'.",
            0,
            optional=True,
        ),
    ] = None
    reg_alpha: Annotated[
        float, number("L1 penalty of leaf values, or of weights a row for booster='linear'.", 0)
    ] = 0.0
    gamma: Annotated[
        float,
        number(
            "Price of a leaf: a split must gain more than this; depthwise trees are pruned by it after growth.",
            0,
        ),
    ] = 0.0
    max_delta_step: Annotated[
        float | None,
        number(
            "Largest leaf value before shrinkage, or move of a score for booster='linear'; 0: no limit; None: the loss's own.",
            0,
            optional=True,
        ),
    ] = None
    leaves: Annotated[str | Leaves, part("How far the leaves of a tree go.", LEAVES)] = "auto"
    splits: Annotated[str | Splits, part("What splits are chosen by.", SPLITS)] = "auto"
    subsample: Annotated[float, number("Share of rows drawn for every round.", 0, 1, open_low=True)] = 1.0
    sampling: Annotated[
        str | Sampling,
        part(
            "How rows are drawn: all alike; by class; those of large gradients and a sample of the rest (goss); "
            "all, each with a random weight (bayesian); or with chances that grow with the gradient (mvs).",
            SAMPLINGS,
        ),
    ] = "uniform"
    colsample_bytree: Annotated[
        float, number("Share of columns drawn for every tree.", 0, 1, open_low=True)
    ] = 1.0
    colsample_bylevel: Annotated[
        float, number("Share of the tree's columns drawn for every level.", 0, 1, open_low=True)
    ] = 1.0
    colsample_bynode: Annotated[
        float, number("Share of the level's columns drawn for every node.", 0, 1, open_low=True)
    ] = 1.0
    column_weights: Annotated[
        Sequence[float] | Mapping[Any, float] | None,
        anything(
            "How often colsample_bytree draws every column beside the others, 0: never used; a number a column, or a dict from "
            "names or positions to these, in which the others have 1."
        ),
    ] = None
    split_finder: Annotated[
        str | SplitFinder,
        part(
            "Among which thresholds splits are sought: those between bins, weighted quantiles of every tree, "
            "or between all values.",
            SPLIT_FINDERS,
        ),
    ] = "hist"
    booster: Annotated[
        str | BoosterChoice,
        part(
            "How trees add up: one after another; each row's gradients from trees that have not seen it; "
            "with earlier ones dropped at random; as the mean of a forest; or a linear model.",
            BOOSTERS,
        ),
    ] = "plain"
    base_score: Annotated[
        Any,
        anything(
            "The prediction that boosting starts from: a number, or one a class; None: the best constant."
        ),
    ] = None
    categories: Annotated[
        str | Categories,
        part(
            "How categorical columns are split: as suits each column; one category from the rest; sets of categories sorted "
            "by gradient over hessian; or by target statistics, taken from the rows before a row, from all, from others, or "
            "from all but itself.",
            CATEGORIES,
        ),
    ] = "auto"
    categorical_features: Annotated[
        Literal["auto"] | Sequence[str | int],
        anything("'auto', or names and positions of columns to treat as categories too."),
    ] = "auto"
    monotone_constraints: Annotated[
        Sequence[int] | Mapping[Any, int] | None,
        anything(
            "For every column 1 (predictions never fall with it), -1 (never rise) or 0; "
            "or a dict from names or positions to these."
        ),
    ] = None
    interaction_constraints: Annotated[
        Sequence[Sequence[str | int]] | None,
        anything(
            "Groups of columns, as lists of names or positions; the columns of a path from root to leaf are of one group."
        ),
    ] = None
    bins: Annotated[
        str | int | Bins, part("How columns are cut into bins; a number: at most so many.", BINS)
    ] = "auto"
    eval_metric: Annotated[Any, anything("Name, function, or list of these; None: the loss's own.")] = None
    early_stopping_rounds: Annotated[
        int | None,
        whole("Stop after so many rounds without improvement on the eval_set.", 1, optional=True),
    ] = None
    importance_type: Annotated[
        Literal["gain", "split", "prediction"],
        one_of(
            "What feature_importances_ counts: the gain of a column's splits, their number, or how far they move predictions.",
            "gain",
            "split",
            "prediction",
        ),
    ] = "gain"
    warm_start: Annotated[bool, flag("fit goes on from the trees that are there.")] = False
    device: Annotated[
        str | Device,
        part(
            "What trees grow on: the CPU, or OpenCL devices, 'opencl:0,1' for several. Never changes the model.",
            DEVICES,
        ),
    ] = "cpu"
    n_jobs: Annotated[int | None, anything("Threads; None: all cores. Never changes the model.")] = None
    random_state: Annotated[Any, anything("Seed; None is 0, so that two fits agree.")] = None
    verbose: Annotated[
        int, whole("0: silent; 1: progress; n above 1: a line with the metrics of every n-th round.", 0)
    ] = 0

    def resolved(self) -> ResolvedBoosting:
        """Every part as an object; all parameters are checked, each by itself and the parts' fields together."""
        values = resolve_parameters(self)
        parts = ResolvedBoosting(**{name: values[name] for name in FAMILIES})
        asked = getattr(parts.categories, "permutations", None)
        if isinstance(parts.booster, Ordered) and asked not in (None, parts.booster.permutations):
            raise InputError(
                f"categories.permutations={asked} and booster.permutations={parts.booster.permutations} are the same orders "
                "of the rows; leave that of categories at None."
            )
        return parts

    def _reading(self) -> BinWishes:
        """How the training table is read, and binned."""
        parts = self.resolved()
        bins, finder = parts.bins, parts.split_finder
        return BinWishes(bins.choices(finder), self.categorical_features, bins.bundles(finder), bins.unstored)

    def set_params(self, **params: Any) -> Any:
        """Set parameters, also fields of choices, as booster__rate_drop; a choice given by name becomes an object first."""
        for name in {key.partition("__")[0] for key in params if "__" in key}:
            parameter = declared(type(self)).get(name)
            if not isinstance(parameter, Part):
                continue
            given = params.get(name, getattr(self, name, None))
            choice = given if isinstance(given, Choice) else parameter.resolve(given)
            if not isinstance(choice, Choice):
                raise InputError(
                    f"{name}={given!r} has no parameters of its own; set {name} to an object that has them."
                )
            self._check_fields(name, choice, params)
            if choice is not given:
                params[name] = choice
        return super().set_params(**params)

    def _check_fields(self, part: str, choice: Choice, names: Iterable[str]) -> None:
        """Refuse fields that another choice has, and say which."""
        for asked in (name.split("__")[1] for name in names if name.startswith(f"{part}__")):
            if asked not in declared(type(choice)):
                raise unknown_parameter(type(choice), asked, places_of(type(self), asked))
