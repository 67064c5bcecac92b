"""Workers that are killed while three of them train: the model must be the same every time, and what a loss costs.

``python -m benchmarks.stage.lost_workers [--kills 20] [--rows 300000] [--rounds 200] [--quick] [--json FILE]``

Every training is of its own: a worker is killed (SIGKILL) at a random moment of it, from reading partitions to the last round.
In every second one the nanny starts a worker again, at another address; in the others it stays away.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

N_WORKERS = 3
COLUMNS = 28


def make_rows(block: Any, seed: int) -> Any:
    """A block of a table, made from its number: label first."""
    first = int(block[0, 0])
    generator = np.random.default_rng([seed, first])
    values = generator.normal(size=(len(block), COLUMNS + 1))
    values[:, 0] = (values[:, 1] * values[:, 2] + values[:, 3] + values[:, 0] > 0.0).astype(float)
    return values


def table_of(rows: int, blocks: int) -> Any:
    """A lazy table, which any worker can make again."""
    import dask.array as da

    numbers = da.arange(rows, chunks=-(-rows // blocks)).reshape(-1, 1)
    return numbers.map_blocks(make_rows, seed=5, chunks=(numbers.chunks[0], (COLUMNS + 1,)), dtype=float)


def trained(rows: int, rounds: int, kill_after: float | None, comes_back: bool) -> tuple[float, str, str]:
    """Seconds of one training on a fresh cluster, a digest of the model, and when somebody was killed."""
    from distributed import Client, LocalCluster

    import weald.dask

    options: dict[str, Any] = {"n_workers": N_WORKERS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options, silence_logs=50) as cluster, Client(cluster) as client:
        client.gather([client.submit(_warm, workers=[one], pure=False) for one in client.ncores()])
        table = table_of(rows, 12)
        model = weald.dask.BoostedTreesClassifier(n_estimators=rounds)
        reached = {"round": 0}
        client.subscribe_topic("weald", lambda event: reached.update(round=event[1].get("round", 0)))
        killed = {"at": "-"}
        timer = None
        if kill_after is not None:
            timer = threading.Timer(kill_after, _kill, (cluster, client, comes_back, killed, reached))
            timer.start()
        begin = time.perf_counter()
        model.fit(table[:, 1:], table[:, 0])
        seconds = time.perf_counter() - begin
        if timer is not None:
            timer.cancel()
        return seconds, hashlib.sha256(model._to_bytes()).hexdigest()[:16], killed["at"]


def _warm() -> None:
    """Load the kernels, so that trainings are compared and not first calls."""
    import weald

    X = np.random.default_rng(0).normal(size=(100, 3))
    weald.BoostedTreesClassifier(n_estimators=1).fit(X, X[:, 0] > 0)


def _kill(
    cluster: Any, client: Any, comes_back: bool, killed: dict[str, str], reached: dict[str, int]
) -> None:
    name = random.choice(sorted(cluster.workers))
    nanny = cluster.workers[name]
    if not comes_back:
        nanny.close_gracefully()  # does not start it again
    killed["at"] = f"round {reached['round']}, worker {name}"
    os.kill(nanny.process.pid, signal.SIGKILL)


def main() -> None:
    """Train once in peace and once a kill, and say how many models are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.kills, arguments.rows, arguments.rounds = 3, 20_000, 60
    random.seed(arguments.seed)
    trained(arguments.rows, arguments.rounds, None, True)  # kernels are there
    peace, wanted, _ = trained(arguments.rows, arguments.rounds, None, True)
    results = []
    for number in range(arguments.kills):
        after = random.uniform(0.02, 0.98) * peace
        comes_back = number % 2 == 0
        seconds, digest, where = trained(arguments.rows, arguments.rounds, after, comes_back)
        results.append(
            {
                "after_s": round(after, 2),
                "at": where,
                "comes_back": comes_back,
                "seconds": round(seconds, 2),
                "same": digest == wanted,
            }
        )
        print(json.dumps(results[-1]), flush=True)
    _show(peace, results)
    if arguments.json is not None:
        document = {
            "rows": arguments.rows,
            "rounds": arguments.rounds,
            "in_peace_s": round(peace, 2),
            "kills": results,
        }
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")


def _show(peace: float, results: list[dict[str, Any]]) -> None:
    table = Table(title=f"{len(results)} trainings of {N_WORKERS} workers; in peace {peace:.1f} s")
    for name in ("killed after, s", "at", "comes back", "training, s", "same bytes"):
        table.add_column(name, justify="right")
    for one in results:
        words = (one["after_s"], one["at"], one["comes_back"], one["seconds"], one["same"])
        table.add_row(*(str(word) for word in words))
    console = Console()
    console.print(table)
    equal = sum(one["same"] for one in results)
    console.print(f"{equal} of {len(results)} models have the bytes of the training in peace.")


if __name__ == "__main__":
    main()
