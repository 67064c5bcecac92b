"""split_finder="approx" through the estimators: what is refused, and that every kind of row meets the bins of its tree."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import log_loss, roc_auc_score

import weald
from weald import BoostedTreesClassifier, BoostedTreesRegressor, StackingRegressor
from weald.binning import bin_once
from weald.binning.proposals import Proposer
from weald.data import read_table
from weald.forest.predict import raw_scores

PROPOSALS = ["global", "local"]


def approx(eps: float | None = None, proposals: str = "global", **more: Any) -> dict[str, Any]:
    finder = weald.Approximate(eps=eps, proposals=proposals)
    return {"split_finder": finder, "n_estimators": 6, "max_leaves": 8, "n_jobs": 1} | more


def table(n_rows: int = 1_500, seed: int = 0) -> tuple[Any, Any]:
    """Numbers, few values, missing values, and a category."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 5))
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(n_rows) < 0.2, 2] = np.nan
    X[:, 3] = rng.integers(0, 6, n_rows)
    signal = X[:, 0] * X[:, 1] + np.where(np.isnan(X[:, 2]), 1.0, X[:, 2]) + (X[:, 3] == 2) * 2.0
    return X, signal + 0.3 * rng.standard_normal(n_rows)


@pytest.mark.parametrize("name, value", [("proposals", "local"), ("eps", 0.1)])
@pytest.mark.parametrize("finder", [weald.Histogram, weald.Exact])
def test_what_shapes_proposals_is_unknown_where_nothing_is_proposed(
    finder: Any, name: str, value: Any
) -> None:
    with pytest.raises(TypeError, match=f"has no parameter '{name}'; "):
        finder(**{name: value})
    with pytest.raises(ValueError, match=f"^{finder.__name__} has no parameter '{name}'; "):
        BoostedTreesRegressor(split_finder=finder()).set_params(**{f"split_finder__{name}": value})


def test_more_buckets_than_a_byte_counts_are_refused_in_a_sentence() -> None:
    X, y = table(100)
    with pytest.raises(ValueError, match=r"split_finder\.eps must be at least 1 / 255.*not 0\.001"):
        BoostedTreesRegressor(**approx(eps=0.001)).fit(X, y)
    BoostedTreesRegressor(**approx(eps=1 / 255)).fit(X, y)


def test_a_table_of_codes_is_shared_and_one_of_bins_is_refused() -> None:
    X, y = table(300)
    hist, other = BoostedTreesRegressor(n_estimators=3, n_jobs=1), BoostedTreesRegressor(**approx())
    binned, codes = bin_once(X, [hist]), bin_once(X, [other])
    assert binned is not None
    assert codes is not None
    with pytest.raises(ValueError, match=r"X was binned with max_bins=255, but .*'approx'"):
        other.fit(binned, y)
    assert other.fit(codes, y).predict(X).tobytes() == other.fit(X, y).predict(X).tobytes()
    stack = StackingRegressor([("hist", hist), ("approx", other)], n_jobs=1).fit(X, y)
    assert np.isfinite(stack.predict(X)).all()


def test_what_local_proposals_cannot_do_is_refused() -> None:
    X, y = table(100)
    with pytest.raises(ValueError, match=r"categories=Partition\(\) is not there with proposals='local'"):
        BoostedTreesRegressor(**approx(categories="partition", proposals="local")).fit(X, y)


@pytest.mark.parametrize("categories", ["onehot", "partition"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_levels_of_an_oblivious_tree_have_the_proposals_of_the_tree(
    categories: str, sparse: bool
) -> None:
    X, y = table(600)
    kinds: dict[str, Any] = {"categorical_features": [3], "categories": categories}
    data = scipy.sparse.csr_matrix(np.nan_to_num(X)) if sparse else X
    options: dict[str, Any] = {"max_leaves": None, "max_depth": 5, "growth": "oblivious", "subsample": 0.8}
    options |= {} if sparse else kinds
    models = [
        BoostedTreesClassifier(**approx(0.1, proposals, **options)).fit(data, y > 0.5)
        for proposals in PROPOSALS
    ]
    first, second = (model.forest_.dumps({}) for model in models)
    assert first == second


@pytest.mark.parametrize("proposals, growth", [*product(PROPOSALS, ["leafwise", "depthwise", "oblivious"])])
def test_sampled_rows_others_and_evaluation_sets_all_get_the_trees_own_thresholds(
    proposals: str, growth: str
) -> None:
    X, y = table()
    other, labels = table(900, seed=1)
    seen: list[Any] = []

    def remember(targets: Any, scores: Any) -> Any:
        seen.append(scores.copy())
        weight = 0.1 + np.abs(np.sin(scores))
        return weight * (scores - targets), weight

    leaves = None if growth == "oblivious" else 8
    model = BoostedTreesRegressor(
        remember,
        **approx(growth=growth, max_leaves=leaves, max_depth=4, subsample=0.6, eps=0.1, proposals=proposals),
        categorical_features=[3],
        eval_metric="rmse",
    ).fit(X, y, eval_set=[(other, labels)])
    blocks = read_table(X, schema=model._model.schema).blocks()
    assert raw_scores(model.forest_.first(5), blocks, len(X), 1)[0].tobytes() == seen[5].tobytes()
    errors = model.history_["valid_0"]["rmse"]
    assert errors[-1] == pytest.approx(np.sqrt(np.mean((model.predict(other) - labels) ** 2)), rel=1e-12)
    assert errors[-1] < errors[0]


def test_several_classes_have_proposals_of_their_own() -> None:
    X, y = table()
    labels = np.digitize(y, [-1.0, 1.0])
    model = BoostedTreesClassifier(**approx(eps=0.05)).fit(X, labels, eval_set=[(X, labels)])
    history = model.history_["valid_0"]["logloss"]
    assert history[-1] == pytest.approx(log_loss(labels, model.predict_proba(X)), rel=1e-9)


def test_rows_without_weight_are_as_if_they_were_not_there() -> None:
    X, y = table()
    weight = (np.arange(len(y)) % 3).astype(float)
    kept = weight > 0
    whole = BoostedTreesRegressor(**approx(eps=0.02)).fit(X, y, sample_weight=weight)
    part = BoostedTreesRegressor(**approx(eps=0.02)).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert whole.predict(X).tobytes() == part.predict(X).tobytes()


def test_equal_hessians_are_proposed_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(400)
    calls = []
    propose = Proposer.propose
    monkeypatch.setattr(Proposer, "propose", lambda self, weight: (calls.append(1), propose(self, weight))[1])
    BoostedTreesRegressor(**approx()).fit(X, y)
    assert len(calls) == 1
    BoostedTreesRegressor("poisson", **approx()).fit(X, np.abs(y))
    assert len(calls) == 1 + 6


def test_warm_starts_go_on_as_if_never_stopped() -> None:
    X, y = table()
    labels = (y > 0).astype(int)
    whole = BoostedTreesClassifier(**approx()).fit(X, labels)
    half = BoostedTreesClassifier(**approx(n_estimators=3, warm_start=True)).fit(X, labels)
    half.set_params(n_estimators=6).fit(X, labels)
    assert half.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()


@pytest.mark.parametrize("proposals", PROPOSALS)
def test_few_candidates_still_learn(proposals: str) -> None:
    X, y = table()
    other, labels = table(1_000, seed=1)
    model = BoostedTreesClassifier(**approx(n_estimators=30, eps=0.3, proposals=proposals)).fit(X, y > 0)
    assert roc_auc_score(labels > 0, model.predict_proba(other)[:, 1]) > 0.9
