"""Tables, labels, and small fits of boosted trees, by name; `digest_cases` has the fits of everything else.

Random data come from `numpy.random.default_rng` and plain arithmetic, so that they are the same everywhere.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

import weald
from weald.training.boosting.flat import from_flat

ROWS = 700
#: threads of every fit; no digest depends on it
JOBS = 1
_CITIES, _SHOPS, _DAYS = 9, 30, 3
Case = Callable[[], Any]
CLASSES = ("two", "rare", "three")


class Cases(dict[str, Case]):
    """Name -> a function that trains a model and returns all that is digested."""

    def add(self, name: str, run: Case) -> None:
        """Add a case; no two have one name."""
        assert name not in self, name
        self[name] = run

    def named(self, name: str) -> Callable[[Case], Case]:
        """`add` as a decorator."""

        def added(run: Case) -> Case:
            self.add(name, run)
            return run

        return added


CASES = Cases()
add, case = CASES.add, CASES.named


# --- tables and labels ------------------------------------------------------------------------------


@lru_cache
def columns(rows: int = ROWS) -> dict[str, np.ndarray]:
    """Columns without missing values, codes of categories, and a score that depends on all of them."""
    rng = np.random.default_rng(rows)
    a, c, d = rng.random(rows), rng.random(rows), rng.random(rows) + rng.random(rows) + rng.random(rows) - 1.5
    b = rng.integers(0, 10, rows)
    d[rng.random(rows) < 0.5] = 0.0
    city = rng.integers(0, _CITIES, rows)
    shop = np.minimum(rng.integers(0, _SHOPS, rows), rng.integers(0, _SHOPS, rows))
    day = rng.integers(0, _DAYS, rows)
    score = 4.0 * a + (b - 4) * (b - 4) / 8.0 - 3.0 * c + 2.0 * c * d + (city * 5 % 7) * 0.6
    score = score + (shop * 7 % 5) * 0.7 + ((city + day) % 3) * 1.5 + ((shop + day) % 2) * 0.8 - 6.5
    noise = rng.random(rows) + rng.random(rows) - 1.0
    return {
        "a": a, "b": b, "c": c * c * c, "d": d, "city": city, "shop": shop, "day": day, "score": score + noise,
        "missing": rng.random(rows) < 0.08, "weight": rng.integers(0, 4, rows) / 2.0,
    }  # fmt: skip


@lru_cache
def frame(rows: int = ROWS, missing: bool = True) -> pd.DataFrame:
    """Four columns of numbers and three of categories; ``missing``: some cells of two of them are."""
    own = columns(rows)
    a, city = own["a"].copy(), own["city"].copy()
    if missing:
        a[own["missing"]], city[own["missing"][::-1]] = np.nan, -1
    table = pd.DataFrame({"a": a, "b": own["b"].astype(np.float64), "c": own["c"], "d": own["d"]})
    for name, codes, size in (
        ("city", city, _CITIES),
        ("shop", own["shop"], _SHOPS),
        ("day", own["day"], _DAYS),
    ):
        table[name] = pd.Categorical.from_codes(codes, [f"{name} {code}" for code in range(size)])
    return table


def numbers(rows: int = ROWS) -> np.ndarray:
    """The columns of numbers, with missing values."""
    return frame(rows)[["a", "b", "c", "d"]].to_numpy()


@lru_cache
def onehot(rows: int = ROWS) -> np.ndarray:
    """Columns that exclude each other, which is what bundles are made of, beside one that does not."""
    own = columns(rows)
    parts = [np.eye(size)[own[name]] for name, size in (("city", _CITIES), ("shop", _SHOPS), ("day", _DAYS))]
    return np.hstack([*parts, own["a"][:, None]])


@lru_cache
def sparse(rows: int = ROWS) -> Any:
    """A CSR matrix of 40 columns with few stored cells, zeros and missing values among them."""
    rng = np.random.default_rng(rows + 1)
    cells = np.where(rng.random((rows, 40)) < 0.06, rng.integers(-3, 9, (rows, 40)) / 2.0, 0.0)
    own = columns(rows)
    cells[:, 0] = np.where(own["d"] > 0.1, own["a"], 0.0)
    cells[:, 1] = np.where(own["b"] > 6, own["b"], 0.0)
    table = scipy.sparse.csr_matrix(cells)
    table.data[::17] = 0.0
    table.data[5::23] = np.nan
    return table


def many(rows: int) -> pd.Categorical:
    """More categories than a byte can tell apart, where there are so many rows."""
    own = columns(rows)
    codes = own["city"] * _SHOPS * _DAYS + own["shop"] * _DAYS + own["day"]
    return pd.Categorical.from_codes(codes, [f"id {code}" for code in range(_CITIES * _SHOPS * _DAYS)])


TABLES = {
    "frame": frame,
    "whole frame": lambda rows: frame(rows, False),
    "numbers": numbers,
    "many categories": lambda rows: pd.DataFrame({"id": many(rows), "a": columns(rows)["a"]}),
    "text": lambda rows: {name: np.array(frame(rows)[name], dtype=object) for name in ("city", "shop")},
    "float32": lambda rows: numbers(rows).astype(np.float32),
    "onehot": onehot,
    "sparse": sparse,
    "zeros": lambda rows: sparse(rows).toarray(),
    "sparse onehot": lambda rows: scipy.sparse.csr_matrix(onehot(rows)),
}


def labels(kind: str, rows: int = ROWS) -> np.ndarray:
    """Labels: numbers of several kinds, two classes, also unbalanced ones, three classes, or two numbers a row."""
    score = columns(rows)["score"]
    positive = np.abs(score) + 0.25
    return {
        "number": score,
        "tailed": np.where(np.arange(rows) == 5, 2000.0, score),
        "positive": positive,
        "count": np.floor(1.5 * positive),
        "share": np.clip((score + 5.0) / 10.0, 0.0, 1.0),
        "two": (score > 0.3).astype(np.int64),
        "rare": (score > 2.5).astype(np.int64),
        "three": np.array(["low", "middle", "high"])[(score > -1.0).astype(int) + (score > 1.2)],
        "codes": (score > -1.0).astype(np.int64) + (score > 1.2),
        "several": np.column_stack([score, positive]),
    }[kind]


def weights(rows: int = ROWS) -> np.ndarray:
    """Weights of the rows; those of a quarter are zero."""
    return columns(rows)["weight"]


def scores_of(model: Any, X: Any) -> list[Any]:
    """What an estimator predicts: raw scores and probabilities where it has them, and values or classes."""
    methods = ("decision_function", "predict_proba", "predict")
    return [getattr(model, method)(X) for method in methods if hasattr(model, method)]


# --- how a case is made -----------------------------------------------------------------------------


def make(target: str, **settings: Any) -> Any:
    """Boosted trees of few rounds for a kind of labels: the only place that knows how they are told their parameters."""
    kind = weald.BoostedTreesClassifier if target in CLASSES else weald.BoostedTreesRegressor
    return kind(**from_flat({"n_estimators": 4, "n_jobs": JOBS, **settings}))


def fit_boosted(target: str, table: str, rows: int, weighted: bool, settings: dict[str, Any]) -> Any:
    X, y = TABLES[table](rows), labels(target, rows)
    model = make(target, **settings).fit(X, y, sample_weight=weights(rows) if weighted else None)
    return [model, scores_of(model, X)]


def boosted(
    name: str,
    target: str = "number",
    table: str = "frame",
    *,
    rows: int = ROWS,
    weighted: bool = False,
    **settings: Any,
) -> None:
    """A fit of boosted trees: digested are the trees and the scores of the training rows."""
    add(name, partial(fit_boosted, target, table, rows, weighted, settings))


# --- boosters, split finders, growth ----------------------------------------------------------------

BOOSTERS: dict[str, dict[str, Any]] = {
    "plain": {"n_estimators": 3},
    "dart": {"booster": "dart", "rate_drop": 0.5, "n_estimators": 6},
    "forest": {"booster": "forest", "subsample": 0.6, "n_estimators": 3},
}
FINDERS: dict[str, dict[str, Any]] = {
    "hist": {},
    "exact": {"split_finder": "exact"},
    "approx global": {"split_finder": "approx", "sketch_eps": 0.08},
    "approx local": {"split_finder": "approx", "proposals": "local", "max_bins": 12},
}
GROWTHS: dict[str, dict[str, Any]] = {
    "leafwise": {"max_leaves": 9},
    "depthwise": {"growth": "depthwise", "max_depth": 3},
    "oblivious": {"growth": "oblivious", "max_depth": 3},
}
for booster, finder, growth in product(BOOSTERS, FINDERS, GROWTHS):
    boosted(f"{booster}, {finder}, {growth}", **BOOSTERS[booster], **FINDERS[finder], **GROWTHS[growth])
for growth, target in product(GROWTHS, ("number", "two", "three")):
    boosted(f"ordered, {growth}, {target}", target, booster="ordered", **GROWTHS[growth])
for finder, growth in product(FINDERS, GROWTHS):
    boosted(
        f"three classes, {finder}, {growth}", "three", n_estimators=2, **FINDERS[finder], **GROWTHS[growth]
    )
boosted("ordered, prefixes, one order", booster="ordered", prefix_growth=1.5, permutations=1, weighted=True)
boosted("ordered, exact leaves", booster="ordered", loss="absolute")
boosted("ordered, leaf steps", "two", booster="ordered", growth="oblivious", max_depth=3, leaf_iterations=3)

# A category of fewer rows than a leaf must have is not sorted.
PARTITION = {"categories": "partition", "min_samples_leaf": 4}
GOSS = {"sampling": "goss", "learning_rate": 0.6, "n_estimators": 5}
DART = {"booster": "dart", "rate_drop": 0.4, "n_estimators": 7, "learning_rate": 0.3}
boosted("dart, by weight", **DART, sample_type="weighted")
boosted("dart, forest", **DART, normalize_type="forest")
boosted("dart, paper", "two", **DART, normalize_type="paper")
boosted("dart, one at least", **{**DART, "rate_drop": 0.05}, one_drop=True)
boosted("dart, skipped rounds", **DART, skip_drop=0.5)
boosted("dart, few at most", **{**DART, "rate_drop": 0.9}, max_drop=2)
boosted("dart, three classes", "three", **DART, one_drop=True, sample_type="weighted")
boosted("dart, parallel trees", **DART, num_parallel_tree=2, subsample=0.6)

for selector in ("cyclic", "shuffle", "random", "greedy", "thrifty"):
    boosted(f"linear, {selector}", "number", "numbers", booster="linear", feature_selector=selector)
boosted("linear, greedy, two at most", "two", "numbers", booster="linear", feature_selector="greedy", top_k=2)
boosted("linear, thrifty, penalties", "three", "numbers", booster="linear", feature_selector="thrifty", top_k=3,
        reg_alpha=0.01, reg_lambda=0.1)  # fmt: skip
boosted("linear, sparse, weights", "number", "sparse", booster="linear", weighted=True, learning_rate=0.5)
boosted("linear, sparse, greedy", "two", "sparse", booster="linear", feature_selector="greedy", top_k=5)
boosted("linear, poisson", "count", "float32", booster="linear", loss="poisson")

# --- trees ------------------------------------------------------------------------------------------

boosted("leaves, depth and rows", max_leaves=9, max_depth=4, min_samples_leaf=5, min_child_weight=8.0)
boosted("penalties", "two", reg_lambda=3.0, reg_alpha=0.5, gamma=0.7, max_delta_step=0.4)
boosted("pruned", growth="depthwise", max_depth=5, gamma=12.0)
boosted("no limit of leaves", "two", max_leaves=None, min_samples_leaf=2, reg_lambda=0.0)
for score, growth in product(("l2", "newton_cosine", "cosine"), ("leafwise", "oblivious")):
    boosted(f"split score, {score}, {growth}", "two", split_score=score, **GROWTHS[growth])
for finder, growth in product(("hist", "exact"), GROWTHS):
    boosted(f"random strength, {finder}, {growth}", random_strength=1.5, **FINDERS[finder], **GROWTHS[growth])
boosted("path smooth", path_smooth=10.0, max_leaves=12)
boosted("path smooth, exact, depthwise", split_finder="exact", path_smooth=4.0, **GROWTHS["depthwise"])
for growth in GROWTHS:
    boosted(f"extra trees, {growth}", extra_trees=True, **GROWTHS[growth])
boosted("extra trees, exact", extra_trees=True, split_finder="exact")
boosted("extra trees, forest", "three", extra_trees=True, booster="forest", n_estimators=2)
FORCED = {"feature": "b", "threshold": 4.5, "left": {"feature": "d", "threshold": 0.2},
          "right": {"feature": "day", "threshold": "day 1"}}  # fmt: skip
boosted("forced splits", forced_splits=FORCED)
boosted(
    "forced splits, depthwise, approx", forced_splits=FORCED, split_finder="approx", **GROWTHS["depthwise"]
)
for finder, growth in product(FINDERS, GROWTHS):
    boosted(f"constraints, {finder}, {growth}", monotone_constraints={"a": 1, "c": -1}, n_estimators=3,
            interaction_constraints=[["a", "b", "city"], ["a", "c", "d", "shop"]],
            **FINDERS[finder], **GROWTHS[growth])  # fmt: skip
boosted("parallel trees", "two", num_parallel_tree=3, subsample=0.5, colsample_bynode=0.5)
boosted("wide integers", precision="wide")
boosted("outliers, integers by need", "tailed")
boosted("outliers, packed integers", "tailed", precision="packed_always")
boosted("9,000 rows", "two", rows=9_000, n_estimators=2)
boosted("9,000 rows, sampled", rows=9_000, n_estimators=2, subsample=0.5, **PARTITION)
boosted("9,000 rows, sampled, three classes", "three", rows=9_000, n_estimators=2, subsample=0.3, max_depth=4)
boosted("9,000 rows, approx, goss", rows=9_000, **GOSS, split_finder="approx", **GROWTHS["depthwise"])
boosted("9,000 rows, exact", "two", rows=9_000, n_estimators=2, split_finder="exact", **GROWTHS["depthwise"])
boosted("9,000 rows, statistics", "two", rows=9_000, categories="ordered", **GROWTHS["oblivious"])
boosted("9,000 rows, oblivious, mvs", rows=9_000, sampling="mvs", subsample=0.4, **GROWTHS["oblivious"])

# --- categories -------------------------------------------------------------------------------------

for finder, growth in product(("hist", "approx global"), GROWTHS):
    boosted(f"partition, {finder}, {growth}", **PARTITION, **FINDERS[finder], **GROWTHS[growth])
boosted("partition, all options", "two", **PARTITION, max_cat_to_onehot=2, max_cat_threshold=5, cat_smooth=3.0,
        cat_l2=4.0, min_samples_category=10)  # fmt: skip
boosted("partition, dart", "three", **PARTITION, booster="dart", rate_drop=0.5)
for target in ("number", "two", "three"):
    boosted(f"categories auto, {target}", target, categories="auto")
boosted("categories auto, many categories", "number", "many categories", categories="auto", rows=1_500)
boosted("categories auto, sets", "number", categories="auto", booster="dart", rate_drop=0.5)
MANY = {"categories": "partition", "cat_smooth": 1.0}
boosted("partition, many categories", "two", "many categories", **MANY, rows=1_500)
boosted("partition, many categories, few bins", "number", "many categories", **MANY, max_categories=40)
boosted("text", "two", "text", **PARTITION)
boosted("columns named as categories", categorical_features=["b"], **PARTITION)
KINDS = ("ordered", "greedy", "holdout", "leave_one_out")
for kind, growth in product(KINDS, ("leafwise", "oblivious")):
    boosted(f"statistics, {kind}, {growth}", "two", categories=kind, **GROWTHS[growth])
for kind, target in product(KINDS, ("number", "three")):
    boosted(f"statistics, {kind}, {target}", target, categories=kind, growth="depthwise", max_depth=4)
ORDERED = {"categories": "ordered", **GROWTHS["oblivious"]}
boosted("statistics, no combinations", "two", **ORDERED, max_combination=1)
boosted("statistics, all by statistics", categories="ordered", max_cat_to_onehot=1, n_estimators=6)
for most in (2, 3):
    boosted(f"statistics, at most {most} columns", categories="greedy", max_combination=most, n_estimators=9)
boosted("statistics, ordered booster", "two", **ORDERED, booster="ordered", n_estimators=6)
boosted("statistics, ordered booster, three", "three", **ORDERED, booster="ordered", weighted=True)
boosted("statistics, ordered booster, leafwise", categories="ordered", booster="ordered")
boosted("statistics, borders", **ORDERED, target_borders=4, statistic_bins=9)
boosted("statistics, priors", "two", **ORDERED, prior=[0.1, 0.6], prior_weight=5.0)
boosted("statistics, no counters", categories="greedy", counters=False, n_estimators=6)
boosted("statistics, one order", "two", **ORDERED, permutations=0)
boosted("statistics, monotone", "two", **ORDERED, monotone_constraints={"a": 1})
boosted(
    "statistics, drawn rows and noise", "two", **ORDERED, sampling="mvs", subsample=0.7, random_strength=1.0
)
boosted("statistics, weights, leaf steps", "two", **ORDERED, weighted=True, leaf_iterations=3)

# --- sampling ---------------------------------------------------------------------------------------

for growth in GROWTHS:
    boosted(f"uniform sample, {growth}", subsample=0.5, **GROWTHS[growth])
    boosted(f"goss, {growth}", "two", **GOSS, **GROWTHS[growth])
    boosted(f"bayesian sample, {growth}", "two", sampling="bayesian", **GROWTHS[growth])
    boosted(f"mvs, {growth}", sampling="mvs", subsample=0.6, **GROWTHS[growth])
boosted("goss, rates, exact", **GOSS, top_rate=0.3, other_rate=0.3, split_finder="exact")
boosted("goss, three classes", "three", **GOSS)
boosted("bayesian sample, temperature", sampling="bayesian", bagging_temperature=2.0, subsample_freq=2)
boosted("mvs, regularised, three classes", "three", sampling="mvs", subsample=0.5, mvs_reg=0.2)
boosted(
    "uniform sample every third round", subsample=0.5, subsample_freq=3, split_finder="exact", n_estimators=5
)
boosted("sample by class", "rare", positive_subsample=0.9, negative_subsample=0.3)
boosted("sample of one class, every second round", "two", negative_subsample=0.5, subsample_freq=2)
boosted("columns by tree", colsample_bytree=0.5)
boosted("columns by level", colsample_bylevel=0.5, growth="depthwise", max_depth=4)
boosted("columns by node", colsample_bynode=0.5, split_finder="exact")
boosted("columns by level, oblivious", colsample_bylevel=0.5, **GROWTHS["oblivious"])
boosted("columns by all three", "three", colsample_bytree=0.8, colsample_bylevel=0.8, colsample_bynode=0.6)
boosted("another seed", subsample=0.5, colsample_bynode=0.5, random_state=7)

# --- losses and leaves ------------------------------------------------------------------------------


def squares(y: Any, scores: Any) -> tuple[Any, Any]:
    """Squared error, with twice the price of a score that is too large."""
    factor = 1.0 + (scores > y)
    return factor * (scores - y), factor


def margins(y: Any, scores: Any) -> tuple[Any, Any]:
    """Squared distances of the scores from 1 for the own class, and from -1 for the others."""
    own = y == 1 if scores.ndim == 1 else y[:, None] == np.arange(scores.shape[1])
    return scores - np.where(own, 1.0, -1.0), np.ones(scores.shape)


LOSSES = {
    "number": ("squared", "absolute", "huber", "pseudo_huber", "fair", "log_cosh", "quantile", "normal"),
    "positive": ("mape", "squared_log", "gamma"),
    "count": ("poisson", "tweedie"),
    "share": ("cross_entropy",),
    "two": ("logistic", "exponential", "hinge"),
    "three": ("softmax", "one_vs_rest"),
}
for target, names in LOSSES.items():
    for loss in names:
        boosted(f"loss {loss}", target, loss=loss)
        boosted(f"loss {loss}, weights, oblivious", target, loss=loss, weighted=True, **GROWTHS["oblivious"])
for target, loss in (("number", "pseudo_huber"), ("number", "fair"), ("number", "log_cosh"), ("number", "normal"),
                     ("positive", "squared_log"), ("positive", "gamma"), ("count", "tweedie"),
                     ("share", "cross_entropy"), ("two", "exponential"), ("three", "one_vs_rest")):  # fmt: skip
    boosted(f"leaf steps, {loss}", target, loss=loss, leaf_iterations=4, leaf_estimation="newton")
boosted("huber delta", loss="huber", huber_delta=0.4)
boosted("pseudo huber delta", loss="pseudo_huber", huber_delta=0.4)
boosted("fair scale", loss="fair", fair_scale=0.3)
boosted("tweedie power", "count", loss="tweedie", tweedie_power=1.2)
boosted("quantile", loss="quantile", quantile_alpha=0.9)
boosted("three quantiles", loss="quantile", quantile_alpha=[0.1, 0.5, 0.9])
boosted("own loss", loss=squares)
boosted("own loss, two classes", "two", loss=margins)
boosted("own loss, three classes", "three", loss=margins, split_finder="exact")
for estimation, steps in (("newton", 3), ("gradient", 1), ("gradient", 4)):
    for target in ("number", "two", "three", "count"):
        loss = "poisson" if target == "count" else "auto"
        boosted(f"leaves by {estimation}, {steps}, {target}", target, loss=loss, leaf_estimation=estimation,
                leaf_iterations=steps)  # fmt: skip
for loss in ("absolute", "quantile", "huber"):
    boosted(f"exact leaves, {loss}", loss=loss, leaf_estimation="exact", subsample=0.7)
    boosted(f"newton leaves, {loss}", loss=loss, leaf_estimation="newton", leaf_iterations=2)

# --- bins and tables --------------------------------------------------------------------------------

boosted("few bins", max_bins=7)
boosted("few bins, weights", max_bins=15, weighted=True)
boosted("two bytes a bin", max_bins=600, rows=1_500)
boosted("bins by column", max_bins_by_column={"a": 5, "shop": 8})
boosted("forced bins", forced_bins={"a": [0.1, 0.5], "d": [0.0]}, max_bins=6)
for border in ("median", "uniform", "uniform_and_quantiles", "greedy_log_sum"):
    boosted(f"borders, {border}", border_type=border, max_bins=10)
boosted("rows of a bin", min_samples_bin=40)
boosted("rare categories", rare_categories=0.15, categories="partition", cat_smooth=1.0)
boosted("few categories", max_categories=12, categories="partition", cat_smooth=1.0)
boosted("bins from a sample", bin_sample=1_000, rows=1_500, max_bins=20)
for finder in FINDERS:
    boosted(f"missing are zeros, {finder}", use_missing=False, **FINDERS[finder])
    boosted(f"zeros are missing, {finder}", zero_as_missing=True, **FINDERS[finder])
    boosted(f"sparse, {finder}", "number", "sparse", **FINDERS[finder])
    boosted(f"sparse, unstored missing, {finder}", "two", "sparse", unstored="missing", **FINDERS[finder])
for growth in GROWTHS:
    boosted(f"bundles, {growth}", "two", "onehot", **GROWTHS[growth])
    boosted(f"sparse bundles, {growth}", "number", "sparse onehot", subsample=0.6, **GROWTHS[growth])
boosted("sparse, depthwise, weights", "three", "sparse", weighted=True, **GROWTHS["depthwise"])
boosted("sparse, oblivious, zeros missing", "number", "sparse", zero_as_missing=True, **GROWTHS["oblivious"])
for finder in ("exact", "approx global"):
    boosted(f"sparse, weights, {finder}", "number", "sparse", weighted=True, **FINDERS[finder])
boosted("bundles, weights", "number", "onehot", weighted=True)
boosted("bundles with conflicts", "number", "zeros", max_conflict_rate=0.2)
boosted("bundles with conflicts by degree", "number", "zeros", bundling="degree", max_conflict_rate=0.2)
boosted("sparse bundles with conflicts", "number", "sparse", max_conflict_rate=0.3)
boosted("no bundles", "number", "sparse onehot", bundling="none")
boosted("float32", "number", "float32")
boosted("wide integers, sparse", "two", "sparse", precision="wide")

# --- starts, weights, continuations -----------------------------------------------------------------

boosted("base score", base_score=1.5)
boosted("base score, classes", "three", base_score=[0.2, 0.3, 0.5])
boosted("base score, poisson", "count", loss="poisson", base_score=0.7)
boosted("weights with zeros", weighted=True)
boosted("weights with zeros, exact", "two", weighted=True, split_finder="exact")
boosted("weights with zeros, approx", "three", weighted=True, split_finder="approx", subsample=0.6)
for weight in ("balanced", "sqrt_balanced", "minority", {0: 1.0, 1: 4.0}):
    boosted(f"class weights, {weight}", "rare", class_weight=weight)
boosted("scale of the positive", "rare", scale_pos_weight=3.0, weighted=True)
boosted("learning rate auto", "two", learning_rate="auto", n_estimators=8)
boosted("learning rate auto, number", learning_rate="auto", n_estimators=8)


def watched(target: str, callbacks: list[Any], names: Any = None, **settings: Any) -> Any:
    """A fit that is evaluated on other rows, of another number than those of the training."""
    X, y, other = frame(), labels(target), frame(400)
    model = make(target, **{"n_estimators": 12, "learning_rate": 0.9, "eval_metric": names, **settings})
    sets = [(other, labels(target, 400)), (X, y, weights())]
    model.fit(X, y, eval_set=sets, eval_names=["other", "own"], callbacks=callbacks)
    return [model, model.history_, model.best_iteration_, scores_of(model, other)]


add("early stopping", partial(watched, "two", [], early_stopping_rounds=2))
add("early stopping, three", partial(watched, "three", [], ["logloss", "accuracy"], early_stopping_rounds=3))
add("early stopping, exact", partial(watched, "number", [], early_stopping_rounds=2, split_finder="exact"))
add("early stopping, statistics", partial(watched, "two", [], early_stopping_rounds=2, categories="ordered"))
add("early stopping, dart", partial(watched, "number", [], booster="dart", rate_drop=0.3))
add(
    "early stopping, own",
    partial(watched, "number", [weald.EarlyStopping(2, "mae", "own", 0.15)], ["rmse", "mae"]),
)
add(
    "overfitting detector",
    partial(watched, "two", [weald.OverfittingDetector(0.95, wait=4)], learning_rate=1.6),
)
add("evaluated, forest", partial(watched, "number", [], booster="forest", subsample=0.5, learning_rate=0.1))
REGRESSION = ["rmse", "mse", "mae", "r2", "huber", "pseudo_huber", "fair", "log_cosh", "mape", "bounded_mape"]
POSITIVE = ["rmsle", "poisson_deviance", "gamma_deviance", "tweedie_deviance", "poisson_loss", "poisson_nloglik",
            "gamma_nloglik", "tweedie_nloglik"]  # fmt: skip
add("metrics, numbers", partial(watched, "number", [], [*REGRESSION, "pinball"], n_estimators=2))
add("metrics, positive", partial(watched, "positive", [], POSITIVE, n_estimators=2, loss="gamma"))
add(
    "metrics, shares",
    partial(watched, "share", [], ["cross_entropy", "kullback_leibler"], loss="cross_entropy"),
)
TWO = ["logloss", "auc", "aucpr", "average_precision", "accuracy", "error"]
add("metrics, two classes", partial(watched, "two", [], TWO, n_estimators=2))
RATES = [0.5, 0.4, 0.3, 0.2, 0.1]
add("learning rates", partial(watched, "number", [weald.LearningRateScheduler(RATES)], n_estimators=5))


def from_scores(target: str, width: int, **settings: Any) -> Any:
    X, y = frame(), labels(target)
    start = columns()["c"][:, None] * [0.5, -0.5, 1.0][:width]
    model = make(target, **settings).fit(X, y, init_score=start[:, 0] if width == 1 else start)
    return [model, scores_of(model, X)]


add("first scores", partial(from_scores, "number", 1))
add("first scores, three classes", partial(from_scores, "three", 3, split_finder="exact"))
add("first scores, dart", partial(from_scores, "two", 1, booster="dart", rate_drop=0.5))


def continued(target: str, table: str, **settings: Any) -> Any:
    X, y = TABLES[table](ROWS), labels(target)
    sets = [(TABLES[table](400), labels(target, 400))]
    model = make(target, warm_start=True, **{"n_estimators": 3, **settings}).fit(X, y, eval_set=sets)
    model.set_params(n_estimators=6).fit(X, y, eval_set=sets)
    return [model, model.history_, scores_of(model, X)]


add("continued", partial(continued, "number", "frame", subsample=0.6))
add("continued, dart, three", partial(continued, "three", "frame", booster="dart", rate_drop=0.5))
add("continued, forest", partial(continued, "two", "frame", booster="forest", subsample=0.6))
add("continued, linear", partial(continued, "two", "numbers", booster="linear", feature_selector="shuffle"))


@case("resumed from a checkpoint")
def resumed() -> Any:
    X, y = frame(), labels("two")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.weald"
        make("two", n_estimators=3, subsample=0.5).fit(X, y, callbacks=[weald.Checkpoint(path, every=1)])
        model = make("two", n_estimators=5, subsample=0.5).fit(X, y, resume_from=path)
    return [model, scores_of(model, X)]


def refitted(target: str, decay: float, **settings: Any) -> Any:
    X, other = frame(), frame(400)
    model = make(target, **settings).fit(X, labels(target))
    model = model.refit(other, labels(target, 400), weights(400), decay_rate=decay)
    return [model, scores_of(model, X)]


add("refitted", partial(refitted, "number", 0.5))
add("refitted, three", partial(refitted, "three", 0.0, categories="partition", cat_l2=2.0))
add("refitted, quantiles", partial(refitted, "number", 0.3, loss="quantile", quantile_alpha=[0.2, 0.8]))
add("refitted, absolute", partial(refitted, "number", 0.3, loss="absolute"))
