"""The rows that a member of a team has, as the team's table."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.binning.parts import Part, Weigh, sharded_table_of
from weald.binning.sharded_table import ShardedTable
from weald.binning.shared import BinWishes
from weald.estimators.shared.block_labels import labels_of_all
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.random import seed_of
from weald.runtime.team import ALONE, Team
from weald.runtime.threads import hire
from weald.training.boosting.door.blocks import check_blocks
from weald.training.boosting.parameters import BoostingParameters
from weald.workers.parameters import Parallel, sharing_of


@dataclass(frozen=True)
class MemberRows:
    """What one member has: parts of the training table, neighbours in their order, and parts of every evaluation set.

    Either may be no parts. All rows are those of the members in their order.
    """

    parts: Sequence[Part]
    sets: Sequence[Sequence[Part]] = ()


@dataclass(frozen=True)
class MemberTables:
    """The same, binned as one table of the whole team."""

    train: ShardedTable
    sets: Sequence[ShardedTable]


def member_tables(
    model: Any, rows: MemberRows, team: Team, parallel: Parallel | str = "data"
) -> MemberTables:
    """A member's rows as ``model`` trains on them; every member calls it, and what one refuses all do.

    >>> import numpy as np
    >>> import weald
    >>> from weald.runtime.team import ALONE
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> member_tables(weald.BoostedTreesRegressor(), MemberRows([Part(X, X[:, 0])]), ALONE).train.n_rows
    20
    """
    chosen, sharing = sharing_of(parallel, team)
    wishes = wishes_of(model)
    if len({len(rows.sets), *team.gather(len(rows.sets))}) > 1:
        raise InputError(
            "eval_set must have as many sets with every member of the team; one without rows of a set gives none of it."
        )
    owner, tasks = type(model).__name__, hire(model.n_jobs)
    seed = seed_of(copy.deepcopy(model.random_state))
    own = ALONE if chosen.needs_all_rows else team

    weigh = weigher_of(model)

    def table_of(parts: Sequence[Part], like: ShardedTable | None = None) -> ShardedTable:
        table = sharded_table_of(parts, wishes, owner, seed, tasks, own, like, weigh)
        return replace(table, bins=replace(table.bins, sharing=sharing))

    train = table_of(rows.parts)
    tables = MemberTables(train, [table_of(parts, train) for parts in rows.sets])
    if chosen.needs_all_rows:
        _check_same(team, [tables.train, *tables.sets])
    return tables


def wishes_of(model: Any) -> BinWishes:
    """The bins that a team's model wants."""
    wishes: BinWishes | None = model._bin_wishes()
    if wishes is None:
        raise NotSupportedError(
            "booster='linear' needs all rows in one memory, and a team shares them out; use 'plain', or fit in one process."
        )
    if isinstance(model, BoostingParameters):
        check_blocks(model, model.resolved())
    return wishes


def weigher_of(model: Any) -> Weigh | None:
    """What rows weigh where an estimator's cuts are found, where that is not what the user gives: classes have weights, too.

    >>> import weald
    >>> [weigher_of(weald.BoostedTreesClassifier(class_weight=weight)) is None for weight in (None, "balanced")]
    [True, False]
    """
    named = ("class_weight", "scale_pos_weight")
    if all(getattr(model, name, None) is None for name in named):
        return None
    return partial(_weights_with_classes, model)


def _weights_with_classes(model: Any, rows: ShardedTable) -> NDArray[np.float64] | None:
    """The weights of the rows here that the estimator trains with."""
    if hasattr(model, "_labels_of_blocks"):
        own: NDArray[np.float64] | None = model._labels_of_blocks(rows).weight
        return own
    weight: NDArray[np.float64] | None = model._labels(*labels_of_all(rows)).weight
    first = rows.bins.first
    return None if weight is None else weight[first : first + rows.n_rows]


def _check_same(team: Team, tables: Sequence[ShardedTable]) -> None:
    """Refuse members that have other rows than the first."""
    digests = team.gather([_digest(table) for table in tables])
    for rank, own in enumerate(digests):
        if own != digests[0]:
            raise InputError(
                f"parallel='feature' needs the same rows with all, but {team.name_of(rank)} has others than {team.name_of(0)}; "
                "give each all rows, or use parallel='data'."
            )


def _digest(table: ShardedTable) -> bytes:
    seen = hashlib.blake2b(digest_size=16)
    seen.update(repr(table.schema.to_json()).encode())
    for values in (table.labels, np.empty(0) if table.weight is None else table.weight):
        seen.update(np.ascontiguousarray(values).data)
    for block in table.bins.blocks:
        seen.update(np.ascontiguousarray(block.read()).data)
    return seen.digest()
