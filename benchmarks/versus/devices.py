"""Training on OpenCL devices beside training on the CPU: seconds, and whether the models are equal to the byte.

Run it as ``python -m benchmarks.versus.devices``, with more ``--rows`` for a GPU. On PoCL, which runs on the CPU, it shows only
what the way through OpenCL costs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common import (
    THREADS,
    best_of,
    chosen_sections,
    console,
    higgs_like,
    parser,
    print_table,
    record,
)
from weald import BoostedTreesClassifier, Histogram, OpenCL
from weald.devices.found import FoundDevice, list_devices
from weald.devices.program import program_of
from weald.estimators.shared.persistence import to_bytes
from weald.runtime.errors import DeviceError

N_COLUMNS, ROUNDS = 28, 20
BYTES = 25  # a row has on a device beside its bins
SECTIONS = ("packed", "wide")


def working_devices() -> list[FoundDevice]:
    """The devices that compile kernels; of the others the reason is printed."""
    works = []
    for device in list_devices():
        try:
            program_of(device, "uint8", "uint8")
            works.append(device)
        except DeviceError as error:
            console.print(str(error), style="dim")
    return works


def ways(rows: int) -> dict[str, Any]:
    """What trees grow on: the CPU, every device, all of them, and the first with room for a quarter of the rows."""
    found: dict[str, Any] = {"cpu": "cpu"}
    devices = working_devices()
    found |= {f"{device.number}: {device.name}": OpenCL(str(device.number)) for device in devices}
    if len(devices) > 1:
        found["all of them"] = OpenCL(",".join(str(device.number) for device in devices))
    if devices:
        first = str(devices[0].number)
        found[f"{first}, a quarter in memory"] = OpenCL(first, memory_limit=rows * (N_COLUMNS + BYTES) // 4)
    return found


def fit(X: Any, y: Any, device: Any, precision: str, rounds: int = ROUNDS) -> bytes:
    """The file of a model."""
    finder = Histogram(precision=precision)
    model = BoostedTreesClassifier(n_estimators=rounds, device=device, split_finder=finder, n_jobs=THREADS)
    return bytes(to_bytes(model.fit(X, y), model._model))


def compare(rows: int, precision: str, repeats: int) -> dict[str, Any]:
    """The quickest fit of each, in turn, after a short one that compiles kernels."""
    X, y = higgs_like(rows, N_COLUMNS)
    contestants: dict[str, Callable[[], bytes]] = {}
    for name, device in ways(rows).items():
        fit(X, y, device, precision, rounds=1)
        contestants[name] = partial(fit, X, y, device, precision)
    found = best_of(contestants, repeats)
    cpu = found["cpu"]
    results = {
        name: {
            "seconds": own["seconds"],
            "ratio": own["seconds"] / cpu["seconds"],
            "same_bytes": own["result"] == cpu["result"],
        }
        for name, own in found.items()
    }
    print_table(
        f"{rows:,} x {N_COLUMNS}, {ROUNDS} trees, {precision} gradients, best of {repeats}",
        ["", "fit, s", "times the CPU", "same bytes"],
        [
            [name, f"{own['seconds']:.2f}", f"{own['ratio']:.1f}", "yes" if own["same_bytes"] else "NO"]
            for name, own in results.items()
        ],
    )
    return results


def main() -> None:
    """Run the chosen sections."""
    arguments = parser(__doc__)
    arguments.add_argument("--rows", type=int, help="rows (200,000; quick: 5,000)")
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help=f"of {','.join(SECTIONS)}; all by default")
    options = arguments.parse_args()
    rows = options.rows or (5_000 if options.quick else 200_000)
    repeats = options.repeats or (1 if options.quick else 3)
    sections = chosen_sections(options.sections, SECTIONS)
    record(options, {section: compare(rows, section, repeats) for section in sections})


if __name__ == "__main__":
    main()
