"""The arrays of a forest and their dtypes: validation, builder and file format read this one table."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

NODE_DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "feature": np.dtype(np.int32),  # more than 2**31 columns do not fit in any memory
    "threshold": np.dtype(np.float64),  # holds every float32 and float64 cut exactly
    "left": np.dtype(np.int32),  # an index within one tree, so 32 bits are enough
    "missing_left": np.dtype(np.uint8),
    "category_set": np.dtype(np.int32),
    "value": np.dtype(np.float64),  # raw scores are sums of these in float64
    "gain": np.dtype(np.float64),
    "cover": np.dtype(np.float64),
    "count": np.dtype(np.int64),
}

ARRAY_DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "base_score": np.dtype(np.float64),
    "tree_offsets": np.dtype(np.int64),  # a forest may hold more than 2**31 nodes although a tree may not
    **NODE_DTYPES,
    "set_offsets": np.dtype(np.int64),
    "set_codes": np.dtype(np.int32),
    "vectors": np.dtype(np.float64),  # empty where every leaf adds one number, its value
    "tree_weights": np.dtype(np.float64),  # empty where no tree was rescaled after it was grown
}

# Arrays that may be empty; a file then leaves them out.
OPTIONAL_ARRAYS: Final = frozenset({"vectors", "tree_weights"})

MAXIMUM_FEATURES: Final = 2**31 - 1
# Of trees with one split for a level, as training grows them.
DEEPEST_OBLIVIOUS: Final = 16
