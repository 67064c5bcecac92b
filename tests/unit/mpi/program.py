"""What a rank of the tests does: ``mpirun -n 2 python program.py FOLDER``; it writes what it has come to into the folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

N = 900
PLAIN = {"n_estimators": 4, "max_leaves": 7, "categories": "partition"}


def table() -> tuple[pd.DataFrame, Any, Any]:
    generator = np.random.default_rng(8)
    values = generator.normal(size=(N, 3))
    values[generator.random(N) < 0.1, 1] = np.nan
    city = generator.choice(["Ulm", "Linz", "Graz"], N)
    number = values[:, 0] * 2.0 + values[:, 2] ** 2 + (city == "Linz")
    frame = pd.DataFrame({"a": values[:, 0], "b": values[:, 1], "c": values[:, 2], "city": city})
    return frame, number, generator.integers(0, 3, N).astype(float)


X, NUMBER, WEIGHT = table()
NAMES = np.where(NUMBER > 1.5, "high", "low").astype(object)
VALID = slice(0, 300)  # of the table: rows that are an evaluation set, too


def fit(home: Any, name: str, rank: int, size: int) -> Any:
    """A fit of `weald` by one process with all rows, or of `weald.mpi` by ranks with their own."""
    begin, end = [(N * (one * one) // (size * size)) for one in (rank, rank + 1)]

    def own(values: Any) -> Any:
        return values[begin:end]

    def valid(values: Any) -> Any:
        return values[begin : min(end, VALID.stop)] if begin < VALID.stop else values[:0]

    if name == "forest":
        return home.RandomForestClassifier(5, max_depth=4).fit(own(X), own(NAMES), own(WEIGHT))
    if name == "regression":
        model = home.BoostedTreesRegressor(**PLAIN)
        return model.fit(
            own(X), own(NUMBER), own(WEIGHT), eval_set=[(valid(X), valid(NUMBER), valid(WEIGHT))]
        )
    model = home.BoostedTreesClassifier(
        **{**PLAIN, "n_estimators": 60, "learning_rate": 0.9, "early_stopping_rounds": 2}
    )
    return model.fit(own(X), own(NAMES), eval_set=[(valid(X), valid(NAMES))], eval_names=["valid"])


def main(folder: Path) -> None:
    from mpi4py import MPI

    import weald.mpi

    rank, size = MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
    for name in ("regression", "classes", "forest"):
        fit(weald.mpi, name, rank, size).save(folder / f"{name} {rank}")
    unknown = np.full(N, np.nan)
    attempts: dict[str, Any] = {
        "refused": lambda model: model.fit(X, unknown if rank == 1 else NUMBER),
        "failing": lambda model: model.fit(X, NUMBER, callbacks=[_fails_on_last]),
    }
    for case, attempt in attempts.items():
        try:
            attempt(weald.mpi.BoostedTreesRegressor(**PLAIN))
        except Exception as error:
            (folder / f"{case} {rank}").write_text(f"{type(error).__name__}: {error}")


def _fails_on_last(state: Any) -> None:
    from mpi4py import MPI

    if state.number == 2 and MPI.COMM_WORLD.Get_rank() == MPI.COMM_WORLD.Get_size() - 1:
        raise OSError("no disk")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
