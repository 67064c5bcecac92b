"""What is tried on tables in blocks and by teams: words for the values of each parameter, and a table of cases of them.

`TABLE` covers every two values of two factors that go together in at least one case; it was found greedily, and is kept as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import weald
from weald.data import Schema, read_table

N_ROWS = 420
N_OTHER = 90

Settings = dict[str, Any]

#: factor -> word -> parameters; the first word is the default
FACTORS: dict[str, dict[str, Settings]] = {
    "growth": {
        "leafwise": {"max_leaves": 9},
        "depthwise": {"growth": "depthwise", "max_depth": 4, "gamma": 0.1},
        "oblivious": {"growth": "oblivious", "max_leaves": None, "max_depth": 3},
    },
    "categories": {
        "onehot": {"categories": "onehot"},
        "auto": {},
        "partition": {"categories": "partition"},
        "ordered": {"categories": "ordered"},
        "greedy": {"categories": weald.TargetStatistics("greedy", max_combination=2)},
        "holdout": {"categories": weald.TargetStatistics("holdout", counters=False)},
        "loo": {"categories": weald.TargetStatistics("leave_one_out", prior=0.5)},
    },
    "rows": {
        "all": {},
        "drawn": {"subsample": 0.6},
        "goss": {"sampling": "goss", "learning_rate": 0.6},
        "mvs": {"sampling": "mvs", "subsample": 0.5},
        "classes": {"sampling": weald.ByClass(positive=0.9, negative=0.5)},
        "bayesian": {"sampling": "bayesian"},
    },
    "columns": {
        "all": {},
        "tree": {"colsample_bytree": 0.6},
        "level": {"colsample_bylevel": 0.6},
        "node": {"colsample_bynode": 0.6},
    },
    "splits": {
        "free": {},
        "monotone": {"monotone_constraints": {"a": 1, "b": -1}},
        "groups": {"interaction_constraints": [["a", "b"], ["b", "c", "city", "street"]]},
        "extra": {"splits": weald.Splits(extra_trees=True)},
        "noise": {"splits": weald.Splits(noise=1.0)},
        "cosine": {"splits": weald.Splits(score="cosine")},
    },
    "target": {
        "squared": {},
        "two": {},
        "three": {},
        "absolute": {"loss": "absolute"},
        "quantiles": {"loss": weald.losses.Quantile([0.2, 0.7])},
        "normal": {"loss": "normal"},
        "poisson": {"loss": "poisson"},
    },
    "booster": {
        "plain": {},
        "dart": {"booster": weald.Dart(rate_drop=0.5)},
        "averaging": {"booster": "averaging"},
        "ordered": {"booster": "ordered"},
        "parallel": {"booster": weald.Plain(parallel_trees=2)},
    },
    "leaves": {
        "newton": {},
        "steps": {"leaves": weald.Leaves(method="newton", iterations=3)},
        "gradient": {"leaves": weald.Leaves(method="gradient", iterations=2)},
        "smooth": {"leaves": weald.Leaves(path_smooth=2.0), "min_samples_leaf": 3},
    },
    "weight": {"none": {}, "some": {}},
    "sets": {"none": {}, "one": {}, "stopping": {"early_stopping_rounds": 2}},
    "sums": {"packed": {}, "wide": {"split_finder": weald.Histogram(precision="wide")}},
    "start": {"constant": {}, "given": {"base_score": 0.4}},
}

TABLE: tuple[str, ...] = (
    "leafwise ordered all all free squared plain newton none none packed constant",
    "depthwise onehot drawn tree monotone absolute dart newton some one wide given",
    "oblivious auto goss level extra two averaging steps some stopping wide constant",
    "oblivious partition mvs node groups three parallel gradient some none packed given",
    "leafwise greedy bayesian all cosine quantiles ordered gradient none stopping wide given",
    "leafwise onehot classes node noise two dart smooth none one packed constant",
    "depthwise loo goss tree monotone normal ordered steps none none packed constant",
    "depthwise holdout goss level noise poisson plain gradient some one wide given",
    "depthwise partition drawn all groups squared parallel smooth some stopping wide constant",
    "leafwise greedy mvs level extra absolute parallel steps none one packed constant",
    "depthwise auto all node free quantiles averaging smooth some one packed given",
    "oblivious auto bayesian tree cosine poisson dart steps some none packed constant",
    "oblivious holdout mvs node free normal ordered newton some stopping wide constant",
    "oblivious loo drawn tree noise three plain steps none stopping packed given",
    "leafwise partition all level groups poisson averaging newton none none wide constant",
    "depthwise ordered classes tree extra two ordered gradient some none wide given",
    "leafwise loo goss all extra three parallel newton some one wide given",
    "oblivious onehot bayesian level monotone quantiles plain smooth none none packed constant",
    "leafwise auto mvs all monotone normal averaging gradient none stopping packed constant",
    "oblivious onehot all all extra squared dart steps none stopping packed given",
    "leafwise holdout drawn tree free quantiles parallel steps none none packed constant",
    "depthwise greedy all tree noise three ordered newton some none packed constant",
    "oblivious ordered bayesian node cosine absolute ordered steps none one packed constant",
    "leafwise partition drawn level free normal dart gradient none one packed constant",
    "leafwise holdout classes all cosine two plain newton none none packed constant",
    "oblivious greedy goss node monotone squared plain gradient none one packed constant",
    "leafwise onehot goss tree groups absolute averaging smooth none none packed constant",
    "oblivious partition classes tree groups two plain steps none one packed constant",
    "leafwise auto drawn node extra poisson ordered newton none none packed constant",
    "depthwise auto bayesian all noise absolute parallel newton none none packed constant",
    "depthwise ordered mvs all monotone poisson parallel gradient none stopping packed constant",
    "leafwise loo mvs level cosine squared ordered gradient none none packed constant",
    "leafwise onehot all all cosine normal parallel gradient none none packed constant",
    "leafwise loo classes level free two parallel newton none stopping packed constant",
    "leafwise partition bayesian tree extra absolute plain gradient none stopping packed constant",
    "leafwise partition mvs tree noise quantiles dart newton none none packed constant",
    "leafwise onehot goss level free three dart smooth none none packed constant",
    "leafwise auto bayesian tree free squared averaging newton none none packed constant",
    "leafwise ordered drawn level noise normal plain newton none none packed constant",
    "leafwise auto drawn all cosine three averaging newton none none packed constant",
    "leafwise greedy mvs all free two plain newton none none packed constant",
    "leafwise loo all node monotone two plain newton none none packed constant",
    "leafwise holdout bayesian all monotone three plain newton none none packed constant",
    "leafwise ordered goss all extra quantiles plain newton none none packed constant",
    "leafwise auto bayesian all groups two plain newton none none packed constant",
    "leafwise holdout all all free absolute plain newton none none packed constant",
    "leafwise onehot mvs all groups quantiles dart smooth none none packed constant",
    "leafwise partition goss all monotone squared ordered newton none none packed constant",
    "leafwise greedy drawn all free poisson plain newton none none packed constant",
    "leafwise onehot all all extra normal plain smooth none none packed constant",
    "leafwise loo bayesian all free quantiles plain newton none none packed constant",
    "leafwise auto classes all monotone two averaging newton none none packed constant",
    "leafwise holdout all all extra squared plain newton none none packed constant",
    "leafwise greedy bayesian all free normal plain newton none none packed constant",
    "leafwise onehot all all free poisson plain smooth none none packed constant",
    "leafwise loo all all free absolute plain newton none none packed constant",
    "leafwise onehot all all noise squared ordered newton none none packed constant",
    "leafwise loo all all free poisson plain newton none none packed constant",
    "leafwise partition all all cosine squared plain newton none none packed constant",
    "leafwise ordered all all free three plain newton none none packed constant",
    "leafwise onehot drawn all free two plain newton none none packed constant",
    "leafwise greedy classes all free two plain newton none none packed constant",
    "leafwise onehot all all groups normal plain newton none none packed constant",
)


def _table() -> tuple[Settings, dict[str, Any]]:
    generator = np.random.default_rng(7)
    n = N_ROWS + N_OTHER
    numbers = generator.normal(size=(n, 3))
    city, street = generator.integers(0, 7, n), generator.integers(0, 40, n)
    score = numbers[:, 0] - numbers[:, 1] * numbers[:, 2] + np.sin(2.0 * city) + 0.5 * np.cos(street)
    score += 0.4 * generator.normal(size=n)
    numbers[generator.random(n) < 0.1, 2] = np.nan
    names = np.array([f"city {code}" for code in city], dtype=object)
    names[generator.random(n) < 0.05] = None
    columns: Settings = {name: numbers[:, place] for place, name in enumerate("abc")}
    columns |= {"city": names, "street": np.array([f"street {code}" for code in street])}
    targets = {
        "squared": score,
        "two": np.where(score > 0.3, "yes", "no"),
        "three": np.digitize(score, [-0.7, 0.9]),
        "poisson": np.floor(np.abs(score) * 2.0),
    }
    return columns, targets


X, _TARGETS = _table()
WEIGHT = np.random.default_rng(3).integers(0, 4, N_ROWS + N_OTHER) / 2.0


def schema_of() -> Schema:
    """The columns of the table."""
    return read_table(X).schema


def case_of(line: str) -> dict[str, str]:
    """Factor -> word of a line of the table."""
    return dict(zip(FACTORS, line.split(), strict=True))


def target_of(case: dict[str, str]) -> Any:
    """The labels of all rows."""
    return _TARGETS.get(case["target"], _TARGETS["squared"])


def make_model(case: dict[str, str], **more: Any) -> tuple[Any, int]:
    """The model that a case asks for, and how many classes it has; 0: labels are numbers."""
    settings: Settings = {"n_estimators": 4, "learning_rate": 0.3, "n_jobs": 1, "random_state": 5}
    for factor, word in case.items():
        settings |= FACTORS[factor][word]
    if case["booster"] == "averaging":
        settings.pop("learning_rate")
    n_classes = {"two": 2, "three": 3}.get(case["target"], 0)
    if n_classes == 3 and case["start"] == "given":
        settings["base_score"] = [0.2, 0.5, 0.3]
    kind = weald.BoostedTreesClassifier if n_classes else weald.BoostedTreesRegressor
    return kind(**{**settings, **more}), n_classes
