"""The statistics of finished training: what a model looks up for a category, or a combination of categories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weald.encoding.combinations import UNKNOWN, Projection, find_keys, keys_of, new_slots, number_keys
from weald.encoding.short_keys import ALL_BITS, bits_for, cut
from weald.runtime.arrays import Float64s, Uint16s, Uint32s, Uint64s
from weald.runtime.jit import kernel

Codes = Uint32s
Cells = Uint16s


@kernel
def _look_up(groups: Codes, cells: Cells, default: Cells, out: Cells) -> None:
    for row in range(len(groups)):
        group = groups[row]
        if group < cells.shape[1]:
            for column in range(len(default)):
                out[column, row] = cells[column, group]
        else:
            for column in range(len(default)):
                out[column, row] = default[column]


@dataclass(frozen=True)
class StatisticTable:
    """The cells of a projection's groups: one group a category, or a combination of categories, of the training rows.

    >>> import numpy as np
    >>> one = np.array([[7, 9]], np.uint16)
    >>> table = StatisticTable((0,), (0,), np.zeros(0, np.uint64), one, np.array([5], np.uint16))
    >>> table.look_up(np.array([[1, 0, 2]], np.uint32)).tolist()
    [[9, 7, 5]]
    """

    projection: Projection
    numbers: tuple[int, ...]  # which of the statistics that training made are here
    keys: Uint64s  # of every group; none where there is one column, whose codes are the groups
    cells: Cells  # (statistics, groups)
    default: Cells  # (statistics,): of whatever the training rows did not have
    bits: int = ALL_BITS  # of a key that are kept

    @cached_property
    def _slots(self) -> Uint64s:
        slots, n = new_slots(len(self.keys)), len(self.keys)
        number_keys(self.keys, slots, np.empty(n, np.uint32), np.empty(n, np.uint64))
        return slots

    def only(self, numbers: list[int], cuts: list[Float64s]) -> StatisticTable:
        """The statistics that a model uses, as far as it tells their cells apart: by these cuts.

        A combination all of whose cells are the default's, to the model, is left out. The keys of the others become shorter, and
        ascend.
        """
        places = [self.numbers.index(number) for number in numbers]
        cells, default = self.cells[places], self.default[places]
        for place, own in enumerate(cuts):
            lowest = np.concatenate([[0], np.ceil(own)]).astype(np.uint16)
            cells[place] = lowest[np.searchsorted(own, cells[place])]
            default[place] = lowest[np.searchsorted(own, default[place])]
        keys, bits = self.keys, self.bits
        if len(self.projection) > 1:
            tells = np.flatnonzero((cells != default[:, None]).any(axis=0))
            bits = bits_for(keys[tells])
            keys = cut(keys[tells], bits)
            order = np.argsort(keys)
            keys, cells = keys[order], np.ascontiguousarray(cells[:, tells[order]])
        return StatisticTable(self.projection, tuple(numbers), keys, cells, default, bits)

    def look_up(self, codes: Codes) -> Cells:
        """The cells, (statistics, rows), of rows with these codes, (columns of the table, rows)."""
        out = np.empty((len(self.default), codes.shape[1]), np.uint16)
        _look_up(self.groups_of(codes), self.cells, self.default, out)
        return out

    def groups_of(self, codes: Codes) -> Codes:
        """The group of every row; UNKNOWN, or a number beyond the groups, for those that training did not have."""
        if len(self.projection) == 1:
            single: Codes = codes[self.projection[0]]
            return single
        groups = np.full(codes.shape[1], UNKNOWN, np.uint32)
        find_keys(cut(keys_of(codes, self.projection), self.bits), self._slots, groups)
        return groups
