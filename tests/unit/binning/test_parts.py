"""A table in parts, alone or among a team, is binned as the whole table is."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import weald
from thread_team import ThreadTeam, run_team
from weald.binning.parts import Part, sharded_table_of
from weald.binning.sharded_table import ShardedTable
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import InputError

N = 2500
ENDS = [0, 600, 600, 1700, N]  # one part has no rows


def frame() -> pd.DataFrame:
    generator = np.random.default_rng(5)
    values = generator.normal(size=(N, 2))
    values[generator.random(N) < 0.1, 1] = np.nan
    city = generator.choice(["Ulm", "Linz", "Graz", "Wels"], N, p=[0.2, 0.5, 0.2, 0.1]).astype(object)
    city[:600][city[:600] == "Wels"] = "Ulm"  # a category that the first part does not have
    return pd.DataFrame({"a": values[:, 0], "b": values[:, 1], "city": city, "n": generator.integers(0, 9, N)})


X = frame()
NUMBER = X["a"] * 2.0 + X["n"] + (X["city"] == "Linz")
MIDDLE = NUMBER.median()
NAMES = np.where(NUMBER > MIDDLE, "high", "low").astype(object)
CLASSES = np.digitize(NUMBER, [1.0, 5.0])
WEIGHT = np.random.default_rng(6).integers(0, 3, N).astype(float)


def parts_of(X: Any, y: Any, weight: Any = None) -> list[Part]:
    cut = [slice(first, last) for first, last in pairwise(ENDS)]
    return [Part(X[one], y[one], None if weight is None else weight[one]) for one in cut]


def fitted(model: Any, parts: list[Part], n_members: int) -> list[bytes]:
    """The model of every member of a team that shares the parts out."""

    def job(team: ThreadTeam) -> bytes:
        shares = np.array_split(np.arange(len(parts)), n_members)
        own = [parts[number] for number in shares[team.rank]]
        table = sharded_table_of(own, model._bin_wishes(), "this model", team=team)
        return to_bytes(*_saved(type(model)(**model.get_params(deep=False)).fit(table)))

    return run_team(n_members, job)


def _saved(model: Any) -> tuple[Any, Any]:
    return model, model._model


@pytest.mark.parametrize("n_members", [1, 2, 5])
@pytest.mark.parametrize("target", ["number", "names", "classes", "weights"])
def test_parts_train_the_model_of_the_whole_table(target: str, n_members: int) -> None:
    kind = weald.BoostedTreesRegressor if target in ("number", "weights") else weald.BoostedTreesClassifier
    model = kind(n_estimators=4, max_leaves=7, categories="partition", bins=weald.Bins(sample=1000))
    y = {"names": NAMES, "classes": CLASSES}.get(target, NUMBER.to_numpy())
    weight = WEIGHT if target == "weights" else None
    found = fitted(model, parts_of(X, y, weight), n_members)
    model.fit(X, y, weight)
    whole = to_bytes(*_saved(model))
    assert all(one == whole for one in found)


def test_a_sparse_part_has_the_bins_of_a_dense_one() -> None:
    dense = np.where(np.random.default_rng(1).random((N, 3)) < 0.8, 0.0, X[["a", "a", "n"]].to_numpy())
    model = weald.BoostedTreesRegressor(n_estimators=2)
    tables = [
        sharded_table_of(parts_of(values, NUMBER.to_numpy()), model._bin_wishes(), "this model")
        for values in (dense, sparse.csr_array(dense))
    ]
    first, second = ([block.read() for block in table.bins.blocks] for table in tables)
    assert all((one == other).all() for one, other in zip(first, second, strict=True))


def test_an_evaluation_set_has_the_bins_of_the_training() -> None:
    model = weald.BoostedTreesRegressor()
    train = sharded_table_of(parts_of(X, NUMBER.to_numpy()), model._bin_wishes(), "this model")
    other = sharded_table_of(
        [Part(X[:100], NUMBER[:100])], model._bin_wishes(), "this model", like=train
    )
    assert other.schema is train.schema and other.bins.mapper is train.bins.mapper
    assert (other.bins.blocks[0].read() == train.bins.blocks[0].read()[:, :100]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda part: Part(part.X.rename(columns={"b": "c"}), part.y), "has the column 'c' where part 0 has 'b'"),
        (lambda part: Part(part.X.drop(columns="b"), part.y), "has 3 columns, but part 0 has 4"),
        (lambda part: Part(part.X, np.full(len(part.y), "x")), "y holds strings in some parts and numbers in others"),
        (lambda part: Part(part.X, np.full(len(part.y), np.nan)), "Input y contains NaN"),
        (lambda part: Part(part.X, part.y[:3]), "inconsistent numbers of samples"),
        (lambda part: Part(part.X, part.y, np.full(len(part.y), -1.0)), "sample_weight must be finite"),
        (lambda part: Part(part.X, np.full(len(part.y), 2**60)), "beyond 2\\*\\*53"),
    ],
)
def test_what_one_member_refuses_is_refused_by_all(change: Any, message: str) -> None:
    parts = parts_of(X, NUMBER.to_numpy())
    parts[3] = change(parts[3])
    wishes = weald.BoostedTreesRegressor()._bin_wishes()

    def job(team: ThreadTeam) -> ShardedTable | str:
        try:
            return sharded_table_of(parts[2 * team.rank : 2 * team.rank + 2], wishes, "this model", team=team)
        except InputError as error:
            return str(error)

    for said in run_team(2, job):
        assert isinstance(said, str) and re.search(message, said)


def test_no_rows_with_a_weight_are_refused() -> None:
    with pytest.raises(InputError, match="no rows with a positive weight"):
        sharded_table_of(
            [Part(X, NUMBER, np.zeros(N))], weald.BoostedTreesRegressor()._bin_wishes(), "this model"
        )
