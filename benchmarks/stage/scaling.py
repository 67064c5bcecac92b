"""How long a tree takes on many machines: a model of cost, fitted to measurements here, checked by a simulation, and evaluated.

The model, for n rows, C columns, B bins, P workers of one thread and trees of 31 leaves:

    seconds = a n C / P + b n / P + c C B + d          computing of a worker
            + M 2 ceil(log2 P) latency                 M messages, most of them of one number
            + 2 (P - 1) / P s K C (B + 1) / bandwidth  sums of K counted nodes

a, b, c, d are fitted; M and K are counted; s is 12 bytes, and 24 where most nodes have 2**19 rows or more. The simulation runs
the real training by threads with clocks of their own, which a network of a given latency and bandwidth holds up:
`benchmarks.teams`. Run it as ``python -m benchmarks.stage.scaling``.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import higgs_like, parser, print_table, record
from benchmarks.teams import Network, measure_trees

LEAVES = 31
NETWORKS = {
    "1 Gbit/s, 200 µs": Network(200e-6, 1e9 / 8),
    "10 Gbit/s, 50 µs": Network(50e-6, 1e10 / 8),
    "100 Gbit/s, 5 µs": Network(5e-6, 1e11 / 8),
}
WORKERS = (4, 8, 16, 32, 64, 128, 256)
PLANS = ((1_000_000_000, 28), (1_000_000_000, 500))
LONG_ROWS = 2**19  # of a node: its sums are sent in whole words
BYTES_A_ROW = 36  # beside a byte a column: score, gradient, hessian, label, entry, leaf


@dataclass(frozen=True)
class CostModel:
    """Seconds of a tree; see the head of this file."""

    a: float
    b: float
    c: float
    d: float
    messages: float
    counted: float

    def computing(self, rows: float, columns: int, bins: int) -> float:
        """Of a worker with so many rows."""
        return self.a * rows * columns + self.b * rows + self.c * columns * bins + self.d

    def talking(self, rows: float, columns: int, bins: int, workers: int, network: Network) -> float:
        """Of messages."""
        if workers == 1:
            return 0.0
        small = self.messages * network.adding(8, workers)
        size = 24 if rows / LEAVES > LONG_ROWS else 12
        return small + network.adding(int(size * self.counted * columns * (bins + 1)), workers)

    def seconds(self, rows: float, columns: int, bins: int, workers: int, network: Network) -> float:
        """Of a tree."""
        return self.computing(rows / workers, columns, bins) + self.talking(
            rows, columns, bins, workers, network
        )


def model_of(bins: int) -> Any:
    """A maker of what workers train, on one thread each."""
    import weald

    def make(trees: int) -> Any:
        return weald.BoostedTreesClassifier(n_estimators=trees, max_leaves=LEAVES, bins=bins, n_jobs=1)

    return make


def measured(sizes: list[tuple[int, int, int]], trees: int) -> NDArray[np.float64]:
    """Seconds of computing a tree alone, for (rows, columns, bins); the best of two."""
    found = []
    for rows, columns, bins in sizes:
        X, y = higgs_like(rows, columns)
        found.append(min(measure_trees(model_of(bins), X, y, 1, "data", trees).computed for _ in range(2)))
    return np.array(found)


def fitted(
    sizes: list[tuple[int, int, int]], seconds: NDArray[np.float64], trees: int, rows: int
) -> CostModel:
    """The model that is nearest to the measurements, each by its own size, with no negative part."""
    from scipy.optimize import nnls

    terms = np.array([[n * c, n, c * b, 1.0] for n, c, b in sizes], float)
    scale = terms.max(axis=0)
    parts, _ = nnls(terms / scale / seconds[:, None], np.ones(len(seconds)))
    a, b, c, d = (parts / scale).tolist()
    X, y = higgs_like(rows)
    costs = measure_trees(model_of(255), X, y, 2, "data", trees)
    return CostModel(a, b, c, d, costs.messages, costs.bytes / (12 * X.shape[1] * 264))


def simulated(model: CostModel, rows: int, workers: tuple[int, ...], trees: int) -> list[dict[str, Any]]:
    """What trees take by the clocks of the simulation, beside the model."""
    X, y = higgs_like(rows)
    found = []
    for name, network in NETWORKS.items():
        for count in workers:
            costs = measure_trees(model_of(255), X, y, count, "data", trees, network)
            expected = model.seconds(rows, X.shape[1], 255, count, network)
            found.append(
                {"network": name, "workers": count, "simulated": costs.seconds, "model": expected}
                | {"computed": costs.computed}
            )
    print_table(
        f"simulated, ms a tree: {rows:,} x {X.shape[1]}",
        ["", "computing", "with the network", "model", "model / simulated"],
        [
            [
                f"{entry['network']}, {entry['workers']} workers",
                *(f"{1e3 * entry[key]:.2f}" for key in ("computed", "simulated", "model")),
                f"{entry['model'] / entry['simulated']:.2f}",
            ]
            for entry in found
        ],
    )
    return found


def planned(model: CostModel) -> list[dict[str, Any]]:
    """The model at sizes that no machine here can hold."""
    found = []
    for rows, columns in PLANS:
        for workers in WORKERS:
            entry: dict[str, Any] = {"rows": rows, "columns": columns, "workers": workers}
            entry["gigabytes"] = rows / workers * (columns + BYTES_A_ROW) / 1e9
            for name, network in NETWORKS.items():
                entry[name] = model.seconds(rows, columns, 255, workers, network)
                talking = model.talking(rows, columns, 255, workers, network)
                entry[f"{name}, talking"] = talking / entry[name]
            found.append(entry)
    print_table(
        "planned, seconds a tree, and the share of it that is network",
        ["", "GB a worker", *NETWORKS],
        [
            [
                f"{entry['rows']:.0e} x {entry['columns']}, {entry['workers']} workers",
                f"{entry['gigabytes']:.1f}",
                *(f"{entry[name]:.3g} ({100 * entry[f'{name}, talking']:.0f} %)" for name in NETWORKS),
            ]
            for entry in found
        ],
    )
    return found


def main() -> None:
    """Measure, fit, simulate, plan."""
    arguments = parser(__doc__)
    arguments.add_argument(
        "--rows", type=int, help="rows of the largest measurement (800,000; quick: 40,000)"
    )
    arguments.add_argument("--trees", type=int, help="trees of a measurement (20; quick: 3)")
    options = arguments.parse_args()
    rows = options.rows or (40_000 if options.quick else 800_000)
    trees = options.trees or (3 if options.quick else 20)
    sizes = [(rows // part, columns, 255) for part in (1, 2, 4, 8) for columns in (12, 28, 60)]
    sizes += [(rows // 4, 28, 63), (rows // 16, 28, 63), (rows // 16, 28, 255)]
    seconds = measured(sizes, trees)
    model = fitted(sizes, seconds, trees, rows // 4)
    errors = np.array([model.computing(*size) for size in sizes]) / seconds - 1.0
    print_table(
        f"a worker computes a n C + b n + c C B + d; the fit is off by {math.sqrt((errors**2).mean()):.0%} on average",
        ["a, ns", "b, ns", "c, ns", "d, ms", "messages a tree", "counted nodes a tree"],
        [
            [
                *(f"{1e9 * value:.3f}" for value in (model.a, model.b, model.c)),
                f"{1e3 * model.d:.2f}",
                f"{model.messages:.1f}",
                f"{model.counted:.1f}",
            ]
        ],
    )
    workers = (2, 4) if options.quick else (2, 4, 8, 16)
    results = {
        "measured": [dict(zip(("rows", "columns", "bins"), size, strict=True)) for size in sizes],
        "seconds": seconds.tolist(),
        "model": asdict(model),
        "simulated": simulated(model, rows // 2, workers, trees),
        "planned": planned(model),
    }

    record(options, results)


if __name__ == "__main__":
    main()
