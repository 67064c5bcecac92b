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
    import scipy.sparse

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
        say(f"{growth} trees by exact splits")
        for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
            BoostedTreesRegressor(
                n_estimators=1,
                growth=growth,
                max_leaves=leaves,
                max_depth=2,
                split_finder="exact",
                n_jobs=jobs,
            ).fit(X[:rows], y[:rows], eval_set=[(X[:rows], y[:rows])])
    say("pruned trees")
    BoostedTreesRegressor(**tiny, growth="depthwise", gamma=1e9, n_jobs=1).fit(few_X, few_y)
    say("exact splits of sparse tables")
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        BoostedTreesRegressor(**tiny, split_finder="exact", n_jobs=jobs).fit(
            scipy.sparse.csr_array(np.where(X[:rows] > 0, X[:rows], 0.0)), y[:rows]
        )
    say("proposals")
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        BoostedTreesClassifier(**tiny, split_finder="approx", n_jobs=jobs).fit(
            X[:rows], y[:rows] > 1, eval_set=[(X[:rows], y[:rows] > 1)]
        )
        BoostedTreesClassifier(**tiny, split_finder="approx", n_jobs=jobs).fit(
            scipy.sparse.csr_array(np.where(X[:rows] > 0, X[:rows], 0.0)), y[:rows] > 1
        )
    say("bundles of columns")
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        onehot = np.hstack([np.eye(12)[rng.integers(12, size=rows)] for _ in range(3)])
        for values in (onehot, scipy.sparse.csr_array(onehot)):
            BoostedTreesRegressor(**tiny, subsample=0.5, n_jobs=jobs).fit(
                values, y[:rows], eval_set=[(values, y[:rows])]
            )
    for loss in ("exponential", "hinge"):
        say(f"{loss} loss")
        for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
            BoostedTreesClassifier(loss, **tiny, n_jobs=jobs).fit(X[:rows], y[:rows] > 1)
    for loss in ("squared", "absolute", "huber", "pseudo_huber", "quantile", "poisson", "gamma", "tweedie"):
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
    say("dropped trees")
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        BoostedTreesRegressor(**tiny, booster="dart", rate_drop=1.0, n_jobs=jobs).fit(X[:rows], y[:rows])
    say("forests")
    for classes in ((few_y > 1).astype(np.int64), three[:_FEW_ROWS]):
        RandomForestClassifier(4, oob_score=True).fit(few_X, classes)
        ExtraTreesClassifier(4, max_leaf_nodes=8).fit(few_X, classes, sample_weight=few_y)
    for criterion in ("squared_error", "absolute_error", "poisson"):
        RandomForestRegressor(4, criterion=criterion).fit(few_X, few_y).predict(few_X)
    say("linear models")
    linear: dict[str, Any] = {"booster": "linear", "n_estimators": 1}
    fits: list[tuple[Any, Any, int]] = [(X, y > 1, 2), (few_X, few_y > 1, 1), (few_X, three[:_FEW_ROWS], 1)]
    for table, labels, jobs in fits:
        for values in (table.astype(np.float32), table, scipy.sparse.csr_array(np.nan_to_num(table))):
            for selector in ("shuffle", "greedy"):
                BoostedTreesClassifier(**linear, feature_selector=selector, n_jobs=jobs).fit(
                    values, labels
                ).predict(values)
    say("sampling, wide tables, leaf indices")
    for jobs in (1, 2):
        BoostedTreesRegressor(
            **tiny, subsample=0.5, colsample_bytree=0.5, colsample_bynode=0.5, n_jobs=jobs
        ).fit(X, y).apply(X)
    say("rows drawn by their gradients")
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        BoostedTreesClassifier(**tiny, learning_rate=2.0, sampling="goss", n_jobs=jobs).fit(
            X[:rows], y[:rows] > 1
        )
    BoostedTreesRegressor(**tiny, n_jobs=2).fit(rng.standard_normal((_FEW_ROWS, 300)), few_y)
    say("sparse tables")
    for dtype in (np.float32, np.float64):
        some = scipy.sparse.random(_FEW_ROWS, 700, 0.08, format="csr", dtype=dtype, random_state=rng)
        for jobs, weight in ((1, None), (2, few_y), (1, few_y), (2, None)):
            BoostedTreesRegressor(**tiny, n_jobs=jobs).fit(
                some, few_y, sample_weight=weight, eval_set=[(some, few_y)]
            ).predict(some)
    say("tables whose cuts come from a sample of rows")
    tall = rng.standard_normal((_SAMPLED_ROWS, 1))
    BoostedTreesRegressor(**tiny, n_jobs=2).fit(tall, tall[:, 0])
    say("rows drawn by their weights")
    AdaBoostRegressor(n_estimators=1, n_jobs=1).fit(few_X, few_y)
