"""Compile every kernel ahead of its first use, by small fits that reach them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Above every threshold below which kernels run on one thread.
_MANY_ROWS = 70_000
_FEW_ROWS = 600
_SAMPLED_ROWS = 201_000


def warmup(say: Callable[[str], None] = lambda line: None) -> None:
    """Compile all kernels and keep them in the cache; ``say`` is told what is being done.

    After it the first fit of any process finds everything compiled.
    """
    from weald import (
        AdaBoostRegressor,
        BoostedTreesClassifier,
        BoostedTreesRegressor,
        ExtraTreesClassifier,
        GradientBoostingClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    rng = np.random.default_rng(0)
    X = rng.standard_normal((_MANY_ROWS, 4))
    X[::7, 1] = np.nan
    y = np.abs(X[:, 0]) + 0.1
    few_X, few_y = X[:_FEW_ROWS], y[:_FEW_ROWS]
    tiny: dict[str, Any] = {"n_estimators": 2, "max_leaves": 4}

    for growth in ("leafwise", "depthwise", "oblivious"):
        say(f"{growth} trees")
        leaves = None if growth == "oblivious" else 4
        for precision in ("packed_always", "wide"):
            for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
                BoostedTreesClassifier(
                    n_estimators=2, growth=growth, max_leaves=leaves, precision=precision, n_jobs=jobs
                ).fit(X[:rows].astype(np.float32), y[:rows] > 1, eval_set=[(X[:rows], y[:rows] > 1)])
    say("exponential loss")
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        BoostedTreesClassifier("exponential", **tiny, n_jobs=jobs).fit(X[:rows], y[:rows] > 1)
    for loss in ("squared", "absolute", "huber", "quantile", "poisson", "gamma", "tweedie"):
        say(f"{loss} loss")
        for table, labels, jobs in ((X, y, 2), (few_X, few_y, 1)):
            BoostedTreesRegressor(loss, **tiny, n_jobs=jobs).fit(table, labels, sample_weight=labels).predict(
                table
            )
    say("several classes")
    three = (y * 10).astype(np.int64) % 3
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        BoostedTreesClassifier(**tiny, n_jobs=jobs).fit(X[:rows], three[:rows]).predict_proba(X[:rows])
        GradientBoostingClassifier(n_estimators=1, n_jobs=jobs).fit(X[:rows], three[:rows])
    say("forests")
    for classes in ((few_y > 1).astype(np.int64), three[:_FEW_ROWS]):
        RandomForestClassifier(4, oob_score=True).fit(few_X, classes)
        ExtraTreesClassifier(4, max_leaf_nodes=8).fit(few_X, classes, sample_weight=few_y)
    for criterion in ("squared_error", "absolute_error", "poisson"):
        RandomForestRegressor(4, criterion=criterion).fit(few_X, few_y).predict(few_X)
    say("sampling, wide tables, leaf indices")
    for jobs in (1, 2):
        BoostedTreesRegressor(
            **tiny, subsample=0.5, colsample_bytree=0.5, colsample_bynode=0.5, n_jobs=jobs
        ).fit(X, y).apply(X)
    BoostedTreesRegressor(**tiny, n_jobs=2).fit(rng.standard_normal((_FEW_ROWS, 300)), few_y)
    say("tables whose cuts come from a sample of rows")
    tall = rng.standard_normal((_SAMPLED_ROWS, 1))
    BoostedTreesRegressor(**tiny, n_jobs=2).fit(tall, tall[:, 0])
    say("rows drawn by their weights")
    AdaBoostRegressor(n_estimators=1, n_jobs=1).fit(few_X, few_y)
