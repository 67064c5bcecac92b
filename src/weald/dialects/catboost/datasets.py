"""`catboost.datasets`: the tables that come with Weald; nothing is downloaded."""

from __future__ import annotations

from typing import Any

import weald.datasets
from weald.dialects.catboost.refusals import OF_DATASETS, REFUSALS_OF_DATASETS
from weald.runtime.extras import load_extra

__all__ = ["adult"]

__getattr__ = REFUSALS_OF_DATASETS.names(OF_DATASETS)


def adult() -> tuple[Any, Any]:
    """The training and the test rows of the Adult census data as pandas frames, in CatBoost's columns.

    >>> train, test = adult()
    >>> train.shape, test.shape, train["income"].unique().tolist()
    ((32561, 15), (16281, 15), ['<=50K', '>50K'])
    """
    pd = load_extra("pandas", "weald.catboost.datasets.adult")
    table = weald.datasets.load("adult")
    frames = []
    for part in ("train", "test"):
        columns, target = table.part(part)
        named = {name.replace("_", "-"): values for name, values in columns.items()}
        frames.append(pd.DataFrame({**named, table.target_name: target}))
    return frames[0], frames[1]
