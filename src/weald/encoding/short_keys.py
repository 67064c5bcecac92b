"""Keys of combinations with fewer bits, so that the gaps between them, in ascending order, are four bytes each in a file.

A key is a hash. n keys of b bits leave a combination that is none of theirs a chance of n / 2^b to be taken for one. Ascending,
they are about 2^b / n apart: gaps of four bytes keep the chance below 10^-8, however many keys there are. Keys that are cut
to four or five bytes would need as much room, and chances would grow with their number.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

ALL_BITS: Final = 64
FEWEST_BITS: Final = 32


def bits_for(keys: Keys) -> int:
    """How many low bits of different keys to keep; all where two would become the same.

    >>> bits_for(np.array([5, 2**40 + 7], np.uint64)), bits_for(np.array([5, 2**40 + 5], np.uint64))
    (32, 64)
    """
    n_keys = max(len(keys), 1)
    # Gaps are spread like an exponential distribution, whose largest of n is about log n times the mean.
    bits = FEWEST_BITS - 1 + (n_keys // n_keys.bit_length()).bit_length()
    while True:
        gaps = np.diff(np.sort(cut(keys, bits)), prepend=np.uint64(0))
        if gaps.max(initial=0) < 2**32:
            return bits if gaps[1:].all() else ALL_BITS
        bits -= 1


def cut(keys: Keys, bits: int) -> Keys:
    """The low bits of keys."""
    return keys if bits == ALL_BITS else keys & np.uint64(2**bits - 1)


def gaps_of(keys: Keys) -> NDArray[np.uint32]:
    """What ascending keys that were cut to `bits_for` them add to the one before."""
    return np.diff(keys, prepend=np.uint64(0)).astype(np.uint32)


def keys_from(gaps: NDArray[np.uint32]) -> Keys:
    """The keys of gaps."""
    return np.cumsum(gaps, dtype=np.uint64)
