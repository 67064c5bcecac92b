"""Bagging (Breiman 1996): copies of an estimator, each fitted to rows and columns drawn for it.

A member's rows and columns follow from the seed and the member's number alone, so members can be fitted in any order and on
any number of threads or processes, and what a member has not seen can be told at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from weald.runtime.random import MEMBER_COLUMNS, MEMBER_ROWS, stream_key
from weald.sampling import draw_by_weight
from weald.training.classical.members import params_of_rows, seeded_clone, take_columns, take_rows
from weald.tree.cart.sample import bootstrap_counts


@dataclass(frozen=True, eq=False)
class MemberBags:
    """Which rows and columns every member gets.

    ``weight``: rows are drawn in proportion to it, with replacement; None: all rows alike.

    >>> bags = MemberBags(seed=0, n_rows=1000, n_draws=1000, bootstrap=True, n_columns=8, n_chosen=8, bootstrap_features=False)
    >>> share_in_bag = (bags.counts(0) > 0).mean()
    >>> bool(0.59 < share_in_bag < 0.67), bags.columns(0).tolist() == list(range(8))
    (True, True)
    """

    seed: int
    n_rows: int
    n_draws: int
    bootstrap: bool
    n_columns: int
    n_chosen: int
    bootstrap_features: bool
    weight: NDArray[np.float64] | None = None

    def key(self, number: int) -> int:
        """The key of a member's rows."""
        return stream_key(self.seed, MEMBER_ROWS, number)

    def counts(self, number: int) -> NDArray[np.integer[Any]]:
        """How often the member got each row; 0 is out of bag."""
        if self.weight is not None:
            return draw_by_weight(self.weight, self.n_draws, self.key(number))
        return bootstrap_counts(self.key(number), self.n_rows, self.n_draws, self.bootstrap)

    def rows(self, number: int) -> NDArray[np.int64]:
        """The numbers of the member's rows, ascending, each as often as it was drawn."""
        return np.repeat(np.arange(self.n_rows), self.counts(number))

    def unseen(self, number: int) -> NDArray[np.int64]:
        """The numbers of the rows that are out of the member's bag."""
        return np.flatnonzero(self.counts(number) == 0)

    def same_draws(self, other: MemberBags) -> bool:
        """Whether rows are drawn by the same weights."""
        if self.weight is None or other.weight is None:
            return self.weight is other.weight
        return np.array_equal(self.weight, other.weight)

    @property
    def all_columns(self) -> bool:
        """Whether every member gets all columns."""
        return self.n_chosen == self.n_columns and not self.bootstrap_features

    def columns(self, number: int) -> NDArray[np.int64]:
        """The member's columns, ascending; with ``bootstrap_features`` some more than once."""
        if self.all_columns:
            return np.arange(self.n_columns)
        key = stream_key(self.seed, MEMBER_COLUMNS, number)
        counts = bootstrap_counts(key, self.n_columns, self.n_chosen, self.bootstrap_features)
        return np.repeat(np.arange(self.n_columns), counts)


def fit_members(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
    by_weight: bool,
    bags: MemberBags,
    numbers: Sequence[int],
    params: Mapping[str, Any],
    n_jobs: int | None,
    verbose: int,
) -> list[Any]:
    """The members of these numbers, fitted in parallel.

    ``by_weight``: a member is given all rows, those that were drawn n times with n times their ``weight`` (None: 1), so that no
    row is copied; otherwise it is given copies of its rows. ``params`` are further arguments of its ``fit``.
    """
    members = [seeded_clone(estimator, bags.seed, number) for number in numbers]
    fitted: list[Any] = Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(_fit_member)(member, X, y, weight, by_weight, bags, number, params)
        for member, number in zip(members, numbers, strict=True)
    )
    return fitted


def _fit_member(
    member: Any,
    X: Any,
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
    by_weight: bool,
    bags: MemberBags,
    number: int,
    params: Mapping[str, Any],
) -> Any:
    table = X if bags.all_columns else take_columns(X, bags.columns(number))
    if by_weight:
        counts = bags.counts(number).astype(np.float64)
        member.fit(table, y, sample_weight=counts if weight is None else counts * weight, **params)
    else:
        rows = bags.rows(number)
        member.fit(take_rows(table, rows), y[rows], **params_of_rows(params, rows, bags.n_rows))
    return member
