"""Random valid forests without training, and model files signed by a second implementation of the format."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray

from weald.forest.builder import ForestBuilder
from weald.forest.forest import Forest
from weald.forest.layout import ARRAY_DTYPES, OPTIONAL_ARRAYS

N_CATEGORIES = 12
ZEROS = "0" * 64


def random_forest(
    seed: int = 0,
    *,
    rounds: int = 4,
    n_outputs: int = 1,
    n_features: int = 5,
    n_leaves: int = 8,
    parallel_trees: int = 1,
) -> Forest:
    """A valid forest; odd features are categorical, the trees have 1 to `n_leaves` leaves."""
    generator = np.random.default_rng(seed)
    builder = ForestBuilder(n_features, n_outputs, generator.normal(size=n_outputs), parallel_trees)
    for _ in range(rounds * n_outputs * parallel_trees):
        builder.append(**random_tree(generator, n_features, int(generator.integers(1, n_leaves + 1))))
    return builder.build()


def vector_forest(seed: int = 0, *, n_trees: int = 4, n_outputs: int = 3, **shape: Any) -> Forest:
    """A `random_forest` whose leaves are vectors."""
    forest = random_forest(seed, rounds=n_trees, **shape)
    generator = np.random.default_rng(seed)
    return replace(
        forest,
        n_outputs=n_outputs,
        base_score=generator.normal(size=n_outputs),
        vectors=generator.normal(size=forest.n_leaves * n_outputs),
    )


def random_tree(generator: np.random.Generator, n_features: int, n_leaves: int) -> dict[str, NDArray[Any]]:
    """The arguments of `ForestBuilder.append` for one tree."""
    n_nodes = 2 * n_leaves - 1
    feature = np.full(n_nodes, -1)
    left = np.zeros(n_nodes, dtype=np.int64)
    category_set = np.full(n_nodes, -1)
    leaves: list[int] = [0]
    sets: list[NDArray[np.int64]] = []
    for split in range(n_leaves - 1):
        node = leaves.pop(int(generator.integers(len(leaves))))
        feature[node] = generator.integers(n_features)
        left[node] = 1 + 2 * split
        leaves += [1 + 2 * split, 2 + 2 * split]
        if feature[node] % 2:
            category_set[node] = len(sets)
            size = int(generator.integers(1, N_CATEGORIES))
            sets.append(np.sort(generator.choice(N_CATEGORIES, size=size, replace=False)))
    return {
        "feature": feature,
        "threshold": np.where((feature >= 0) & (category_set < 0), generator.normal(size=n_nodes), 0.0),
        "left": left,
        "missing_left": generator.integers(2, size=n_nodes),
        "category_set": category_set,
        "value": generator.normal(size=n_nodes),
        "gain": np.where(feature >= 0, generator.random(n_nodes), 0.0),
        "cover": generator.random(n_nodes) * 100,
        "count": generator.integers(1, 1000, size=n_nodes),
        "set_offsets": np.cumsum([0] + [len(codes) for codes in sets]),
        "set_codes": np.concatenate([np.zeros(0, dtype=np.int64), *sets]),
    }


def arrays_of(forest: Forest) -> dict[str, NDArray[Any]]:
    """Writeable copies of the arrays of a forest that its file holds."""
    names = [name for name in ARRAY_DTYPES if name not in OPTIONAL_ARRAYS or getattr(forest, name).size]
    return {name: getattr(forest, name).copy() for name in names}


def metadata_of(forest: Forest, **changes: Any) -> dict[str, Any]:
    """The metadata of a valid file for `forest`, with `changes`."""
    valid = {
        "format": 1,
        "header": {},
        "n_features": forest.n_features,
        "n_outputs": forest.n_outputs,
        "sha256": ZEROS,
        "version": "0.1.0",
    }
    return valid | changes


def craft(arrays: dict[str, NDArray[Any]], metadata: dict[str, Any] | str) -> bytes:
    """A file with a right checksum, whatever it holds, written by safetensors itself."""
    text = (
        metadata if isinstance(metadata, str) else json.dumps(metadata, sort_keys=True, separators=(",", ":"))
    )
    return sign(safetensors.numpy.save(arrays, metadata={"weald": text}))


def craft_table(table: str, data: bytes = b"") -> bytes:
    """A file with a right checksum and any text as its table."""
    text = table.encode("utf-8")
    return sign(len(text).to_bytes(8, "little") + text + data)


def split_file(data: bytes) -> tuple[str, bytes]:
    """The table and the arrays of a file."""
    length = int.from_bytes(data[:8], "little")
    return data[8 : 8 + length].decode("ascii"), data[8 + length :]


def sign(data: bytes) -> bytes:
    """Put the right checksum into a file."""
    end = 8 + int.from_bytes(data[:8], "little")
    marker = b'\\"sha256\\":\\"'
    start = data.rfind(marker, 8, end) + len(marker)
    blank = data[:start] + ZEROS.encode() + data[start + 64 :]
    return blank[:start] + hashlib.sha256(blank).hexdigest().encode() + blank[start + 64 :]


def mutate(data: bytes, generator: random.Random) -> bytes:
    """A damaged copy: flipped bits or bytes, cut, extended, swapped, zeroed or with bytes put in."""
    size = len(data)
    # Half of the damage goes to the table, which a uniform choice would rarely hit.
    limit = 8 + int.from_bytes(data[:8], "little") if generator.random() < 0.5 else size
    start = generator.randrange(limit)
    stop = min(size, start + generator.randrange(1, 65))
    noise = generator.randbytes(generator.randrange(1, 33))
    match generator.randrange(8):
        case 0:
            return data[:start] + bytes([generator.randrange(256)]) + data[start + 1 :]
        case 1:
            return data[:start] + bytes([data[start] ^ 1 << generator.randrange(8)]) + data[start + 1 :]
        case 2:
            return data[:start]
        case 3:
            return data + noise
        case 4:
            other = generator.randrange(size)
            first, second = sorted((start, other))
            width = min(generator.randrange(1, 65), second - first, size - second)
            one, two = data[first : first + width], data[second : second + width]
            return data[:first] + two + data[first + width : second] + one + data[second + width :]
        case 5:
            return data[:start] + bytes(stop - start) + data[stop:]
        case 6:
            return data[:start] + noise + data[start:]
        case _:
            return data[:start] + data[stop:]
