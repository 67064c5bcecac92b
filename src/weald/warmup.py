"""Compile every kernel ahead of its first use, by small fits that reach them all."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import weald

Say = Callable[[str], None]

# Above every threshold below which kernels run on one thread.
_MANY_ROWS = 70_000
_FEW_ROWS = 600
_SAMPLED_ROWS = 201_000
_TINY: dict[str, Any] = {"n_estimators": 2, "max_leaves": 4}


class _Tables:
    """What the fits train on."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.X = self.rng.standard_normal((_MANY_ROWS, 4))
        self.X[::7, 1] = np.nan
        self.y = np.abs(self.X[:, 0]) + 0.1
        self.classes = (self.y * 10).astype(np.int64) % 3

    def sizes(self) -> Iterator[tuple[Any, Any, int]]:
        """(X, y, threads): many rows on two, few on one."""
        for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
            yield self.X[:rows], self.y[:rows], jobs

    def few(self) -> tuple[Any, Any]:
        """Few rows."""
        return self.X[:_FEW_ROWS], self.y[:_FEW_ROWS]


def _histograms(growth: str, tables: _Tables) -> None:
    from weald import BoostedTreesClassifier

    leaves = None if growth == "oblivious" else 4
    for precision in ("packed_always", "wide"):
        for X, y, jobs in tables.sizes():
            BoostedTreesClassifier(
                n_estimators=2,
                growth=growth,
                max_leaves=leaves,
                split_finder=weald.Histogram(precision=precision),
                n_jobs=jobs,
            ).fit(X.astype(np.float32), y > 1, eval_set=[(X, y > 1)])


def _exact(growth: str, tables: _Tables) -> None:
    from weald import BoostedTreesRegressor

    leaves = None if growth == "oblivious" else 4
    for X, y, jobs in tables.sizes():
        BoostedTreesRegressor(
            n_estimators=1, growth=growth, max_leaves=leaves, max_depth=2, split_finder="exact", n_jobs=jobs
        ).fit(X, y, eval_set=[(X, y)])
        if growth == "leafwise":
            BoostedTreesRegressor(**_TINY, split_finder="exact", n_jobs=jobs).fit(_stored(X), y)


def _pruned_trees(tables: _Tables) -> None:
    from weald import BoostedTreesRegressor

    _histograms("depthwise", tables)
    _exact("depthwise", tables)
    BoostedTreesRegressor(**_TINY, growth="depthwise", gamma=1e9, n_jobs=1).fit(*tables.few())


def _proposals(tables: _Tables) -> None:
    from weald import BoostedTreesClassifier

    for X, y, jobs in tables.sizes():
        model = BoostedTreesClassifier(**_TINY, split_finder="approx", n_jobs=jobs)
        model.fit(X, y > 1, eval_set=[(X, y > 1)])
        model.fit(_stored(X), y > 1)


def _losses(tables: _Tables) -> None:
    from weald import BoostedTreesClassifier, BoostedTreesRegressor, GradientBoostingClassifier

    for X, y, jobs in tables.sizes():
        for loss in ("exponential", "hinge"):
            BoostedTreesClassifier(loss, **_TINY, n_jobs=jobs).fit(X, y > 1)
        for loss in (
            "squared",
            "absolute",
            "huber",
            "pseudo_huber",
            "log_cosh",
            "normal",
            "quantile",
            "poisson",
            "gamma",
            "tweedie",
        ):
            BoostedTreesRegressor(loss, **_TINY, n_jobs=jobs).fit(X, y, sample_weight=y).predict(X)
        three = tables.classes[: len(y)]
        BoostedTreesClassifier(**_TINY, n_jobs=jobs).fit(X, three).predict_proba(X)
        GradientBoostingClassifier(n_estimators=1, n_jobs=jobs).fit(X, three)


def _bundles(tables: _Tables) -> None:
    from weald import BoostedTreesRegressor
    from weald.binning.zeros import LEAST_CELLS, without_zeros
    from weald.data import read_table

    for dtype in (np.float32, np.float64):
        for jobs in (1, 2):
            without_zeros(read_table(np.zeros((LEAST_CELLS // 50, 50), dtype)), jobs)
    for _, y, jobs in tables.sizes():
        onehot = np.hstack([np.eye(12)[tables.rng.integers(12, size=len(y))] for _ in range(3)])
        for values in (onehot, _stored(onehot)):
            BoostedTreesRegressor(**_TINY, subsample=0.5, n_jobs=jobs).fit(values, y, eval_set=[(values, y)])


def _sampling(tables: _Tables) -> None:
    from weald import AdaBoostClassifier, AdaBoostRegressor, BoostedTreesClassifier, BoostedTreesRegressor

    for X, y, jobs in tables.sizes():
        BoostedTreesRegressor(
            booster=weald.Dart(rate_drop=1.0),
            splits=weald.Splits(noise=1.0, score="l2"),
            n_jobs=jobs,
            **_TINY,
        ).fit(X, y)
        BoostedTreesClassifier(**_TINY, learning_rate=2.0, sampling="goss", n_jobs=jobs).fit(X, y > 1)
        BoostedTreesClassifier(
            sampling="bayesian", leaves=weald.Leaves(iterations=2), n_jobs=jobs, **_TINY
        ).fit(X, y > 1)
        BoostedTreesRegressor(**_TINY, sampling="mvs", subsample=0.5, n_jobs=jobs).fit(X, y)
    for jobs in (1, 2):
        BoostedTreesRegressor(
            **_TINY, subsample=0.5, colsample_bytree=0.5, colsample_bynode=0.5, n_jobs=jobs
        ).fit(tables.X, tables.y).apply(tables.X)
    X, y = tables.few()
    BoostedTreesRegressor(**_TINY, n_jobs=2).fit(tables.rng.standard_normal((_FEW_ROWS, 300)), y)
    tall = tables.rng.standard_normal((_SAMPLED_ROWS, 1))  # whose cuts come from a sample of the rows
    BoostedTreesRegressor(**_TINY, n_jobs=2).fit(tall, tall[:, 0])
    forced = weald.Splits(forced={"feature": 0, "threshold": 0.0})
    BoostedTreesRegressor(**_TINY, growth="leafwise", splits=forced, n_jobs=1).fit(X, y)
    AdaBoostRegressor(n_estimators=1, n_jobs=1).fit(X, y)
    for algorithm in ("SAMME", "SAMME.R"):
        AdaBoostClassifier(n_estimators=2, algorithm=algorithm, n_jobs=1).fit(X, y > 1).predict_proba(X)


def _borders_and_explanations(tables: _Tables) -> None:
    from weald import BoostedTreesRegressor

    for X, y, jobs in tables.sizes():
        for values in (X, X.astype(np.float32)):
            model = BoostedTreesRegressor(
                bins=weald.Bins(borders="greedy_log_sum"), n_jobs=jobs, **_TINY
            ).fit(values, y)
        model.shap_values(values)


def _sparse(tables: _Tables) -> None:
    import scipy.sparse

    from weald import BoostedTreesRegressor

    _, y = tables.few()
    for dtype in (np.float32, np.float64):
        some = scipy.sparse.random(_FEW_ROWS, 700, 0.08, format="csr", dtype=dtype, random_state=tables.rng)
        for jobs, weight in ((1, None), (2, y), (1, y), (2, None)):
            BoostedTreesRegressor(**_TINY, n_jobs=jobs).fit(
                some, y, sample_weight=weight, eval_set=[(some, y)]
            ).predict(some)


def _forests(tables: _Tables) -> None:
    from weald import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor

    X, y = tables.few()
    for classes in ((y > 1).astype(np.int64), tables.classes[:_FEW_ROWS]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of so few trees some rows are in every bag
            RandomForestClassifier(4, oob_score=True).fit(X, classes).predict_proba(X)
        ExtraTreesClassifier(4, max_leaf_nodes=8).fit(X, classes, sample_weight=y)
    for criterion in ("squared_error", "absolute_error", "poisson"):
        RandomForestRegressor(4, criterion=criterion).fit(X, y).predict(X)
        codes = np.floor(4 * np.abs(X))
        RandomForestRegressor(4, criterion=criterion, categorical_features=[2]).fit(codes, y).predict(codes)


def _linear(tables: _Tables) -> None:
    import scipy.sparse

    from weald import BoostedTreesClassifier

    few_X, few_y = tables.few()
    fits: list[tuple[Any, Any, int]] = [(X, y > 1, jobs) for X, y, jobs in tables.sizes()]
    for X, labels, jobs in [*fits, (few_X, tables.classes[: len(few_y)], 1)]:
        for values in (X.astype(np.float32), X, scipy.sparse.csr_array(np.nan_to_num(X))):
            for selector in ("shuffle", "greedy"):
                BoostedTreesClassifier(
                    booster=weald.Linear(selector=selector), n_estimators=1, n_jobs=jobs
                ).fit(values, labels).predict(values)


def _statistics(tables: _Tables) -> None:
    from weald import BoostedTreesClassifier, TargetStatisticsEncoder

    X, y = tables.few()
    TargetStatisticsEncoder(categorical_features=[0]).fit_transform(X, y)
    for rows, jobs in ((_MANY_ROWS, 2), (_FEW_ROWS, 1)):
        codes, classes = np.floor(4 * tables.X[:rows]), tables.classes[:rows]
        BoostedTreesClassifier(
            n_estimators=3,
            growth="oblivious",
            max_depth=2,
            max_leaves=None,
            categories="ordered",
            categorical_features=[0, 2],
            booster="ordered",
            n_jobs=jobs,
        ).fit(codes, classes > 0, eval_set=[(codes, classes > 0)]).predict(codes)


def _blocks(tables: _Tables) -> None:
    """Tables in blocks, which stores, teams and devices train on."""
    from weald import BoostedTreesRegressor
    from weald.binning.parts import Part, sharded_table_of

    X, y = tables.few()
    for growth, leaves in (("leafwise", 4), ("oblivious", None)):
        for precision in ("packed_always", "wide"):
            finder = weald.Histogram(precision=precision)
            model = BoostedTreesRegressor(
                n_estimators=2, growth=growth, max_leaves=leaves, split_finder=finder, n_jobs=1
            )
            wishes = model._bin_wishes()
            assert wishes is not None
            model.fit(sharded_table_of([Part(X[:200], y[:200]), Part(X[200:], y[200:])], wishes, "warm-up"))


def _special_splits(growth: str, tables: _Tables) -> None:
    """Categories, constraints, drawn thresholds and cosines: what kernels call from afar."""
    from weald import BoostedTreesRegressor

    X, y = tables.few()
    codes = np.floor(4 * np.abs(X))
    common: dict[str, Any] = {"growth": growth, "n_estimators": 2, "max_depth": 2, "n_jobs": 1}
    common["max_leaves"] = None if growth == "oblivious" else 4
    for finder, categories in (("hist", "partition"), ("hist", "onehot"), ("exact", "onehot")):
        for splits in (weald.Splits(), weald.Splits(extra_trees=True)):
            model = BoostedTreesRegressor(
                split_finder=finder,
                categories=categories,
                categorical_features=[2, 3],
                monotone_constraints=[1, 0, 0, 0],
                interaction_constraints=[[0, 2], [1, 3]],
                splits=splits,
                **common,
            ).fit(codes, y)
            model.predict(codes)
            model.predict(codes[:1])
    for finder in ("hist", "exact"):
        BoostedTreesRegressor("poisson", split_finder=finder, splits=weald.Splits(noise=1.0), **common).fit(
            X, y
        )
    cosines = weald.Splits(score="newton_cosine", noise=1.0)
    BoostedTreesRegressor(splits=cosines, categorical_features=[2], **common).fit(codes, y)
    onehot = np.hstack([np.eye(12)[tables.rng.integers(12, size=len(y))] for _ in range(3)])
    BoostedTreesRegressor(**common).fit(onehot, y)


def _local_proposals(tables: _Tables) -> None:
    from weald import BoostedTreesRegressor

    X, y = tables.few()
    for values in (X, _stored(X)):
        finder = weald.Approximate(proposals="local")
        BoostedTreesRegressor(**_TINY, growth="depthwise", split_finder=finder, n_jobs=1).fit(values, y)


def _stored(X: Any) -> Any:
    """A sparse matrix of the positive numbers."""
    import scipy.sparse

    return scipy.sparse.csr_array(np.where(X > 0, X, 0.0))


# What is compiled together, the longest first.
PARTS: dict[str, Callable[[_Tables], None]] = {
    "leaf-wise trees": lambda tables: _histograms("leafwise", tables),
    "oblivious trees": lambda tables: _histograms("oblivious", tables),
    "oblivious trees by exact splits": lambda tables: _exact("oblivious", tables),
    "forests": _forests,
    "leaf-wise trees by exact splits": lambda tables: _exact("leafwise", tables),
    "losses": _losses,
    "depth-wise and pruned trees": _pruned_trees,
    "proposals": _proposals,
    "sparse tables": _sparse,
    "bundles of columns": _bundles,
    "sampling, leaf steps, dropped trees, wide tables": _sampling,
    "linear models": _linear,
    "border types, explanations": _borders_and_explanations,
    "target statistics": _statistics,
    "special splits": lambda tables: _special_splits("leafwise", tables),
    "special splits of oblivious trees": lambda tables: _special_splits("oblivious", tables),
    "proposals of nodes": _local_proposals,
    "tables in blocks": _blocks,
}


def warmup(say: Say = lambda line: None, jobs: int = 1) -> None:
    """Compile all kernels and keep them in the cache; ``say`` is told what is being done, ``jobs`` processes do it.

    After it the first fit of any process finds everything compiled.
    """
    if jobs == 1:
        tables = _Tables()
        for name, part in PARTS.items():
            say(name)
            part(tables)
        return
    with ThreadPoolExecutor(jobs) as pool:
        for _ in pool.map(lambda name: _in_process(name, say), PARTS):
            pass


def _in_process(name: str, say: Say) -> None:
    """One part in a process of its own; compiling holds the interpreter, so threads would not help."""
    say(name)
    subprocess.run([sys.executable, "-m", "weald.warmup", name], check=True)


if __name__ == "__main__":
    from weald.runtime.compiling import silence

    silence()
    for _name in sys.argv[1:]:
        PARTS[_name](_Tables())
