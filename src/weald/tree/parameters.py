"""How splits are chosen and how far leaves go, as choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from weald.params.choice import Choice, Family, anything, documented, flag, number, one_of, whole
from weald.runtime.errors import InputError, NotSupportedError


@documented
@dataclass(repr=False, eq=False)
class Splits(Choice):
    """What the splits of a tree are chosen by.

    The defaults are those of Newton boosting. Noise and thresholds drawn at random make trees more different, which helps
    against overfitting; Geurts, Ernst and Wehenkel, "Extremely randomized trees", 2006.

    Examples
    --------
    >>> Splits(score="cosine", noise=1.0)
    Splits(score='cosine', noise=1.0)
    """

    score: Annotated[
        str,
        one_of(
            "What a split is chosen by: the drop of the objective or the cosine between leaf values and gradients; "
            "newton: rows count by their hessians.",
            "newton_l2",
            "l2",
            "newton_cosine",
            "cosine",
        ),
    ] = "newton_l2"
    noise: Annotated[
        float,
        number(
            "Standard deviation of the noise added to the score of a split, in units of the gradients'; "
            "it fades as the model grows.",
            0,
        ),
    ] = 0.0
    extra_trees: Annotated[bool, flag("A node looks at one threshold a column, drawn at random.")] = False
    forced: Annotated[
        Mapping[str, Any] | None,
        anything(
            "The splits at the top of every tree: "
            "{'feature': name or position, 'threshold': number, 'left': ..., 'right': ...}."
        ),
    ] = None

    #: Scores in which rows count by their weights and not by their hessians.
    BY_WEIGHT: ClassVar[tuple[str, ...]] = ("l2", "cosine")
    COSINES: ClassVar[tuple[str, ...]] = ("cosine", "newton_cosine")

    def check_together(self, path: str) -> None:
        if self.forced is not None and not isinstance(self.forced, Mapping):
            raise InputError(
                f"{path}.forced must be a dict with 'feature', 'threshold', and 'left' and 'right' for the splits below, "
                f"not {self.forced!r}."
            )

    @property
    def by_weight(self) -> bool:
        """Whether rows count by their weights and not by their hessians."""
        return self.score in self.BY_WEIGHT

    @property
    def by_cosine(self) -> bool:
        """Whether splits are chosen by a cosine, which is no drop of the objective."""
        return self.score in self.COSINES


@documented
@dataclass(repr=False, eq=False)
class Leaves(Choice):
    """How far the leaves of a tree go.

    More iterations come closer to the least loss of every leaf. Smoothing averages small leaves with the nodes above
    them. Friedman, "Greedy function approximation: a gradient boosting machine", 2001.

    Examples
    --------
    >>> Leaves(iterations=5)
    Leaves(iterations=5)
    >>> LEAVES.resolve("gradient")
    Leaves(method='gradient')
    """

    method: Annotated[
        str,
        one_of(
            "How a leaf's value is found: the loss's own way, Newton's step, the mean gradient, or the exact minimum.",
            "auto",
            "newton",
            "gradient",
            "exact",
        ),
    ] = "auto"
    iterations: Annotated[
        int, whole("Steps of a leaf's value, each at the scores that the last one led to.", 1, 100)
    ] = 1
    path_smooth: Annotated[
        float, number("Rows of its parent's value that a leaf's own is averaged with.", 0)
    ] = 0.0

    def check_together(self, path: str) -> None:
        if self.method == "exact" and self.iterations > 1:
            raise NotSupportedError(
                f"{path}.iterations={self.iterations} has no meaning with method='exact', after which one step is enough; "
                "use method='newton' or 'gradient'."
            )
        if self.path_smooth > 0.0 and (self.method in ("newton", "gradient")):
            raise NotSupportedError(
                f"{path}.path_smooth={self.path_smooth} averages the values of one step of the tree's own rows, which "
                f"method={self.method!r} does not take; leave path_smooth at 0."
            )


SPLITS: Family[Splits] = Family("splits", {"auto": Splits})
LEAVES: Family[Leaves] = Family(
    "leaves",
    {
        "auto": Leaves,
        "newton": (Leaves, {"method": "newton"}),
        "gradient": (Leaves, {"method": "gradient"}),
        "exact": (Leaves, {"method": "exact"}),
    },
)
