"""Rounds one by one: 300 calls of ``Booster.update`` over one training of 300 rounds, at 50,000 x 20, on two threads.

A round of an open session costs a round. Run it as ``python -m benchmarks.versus.updates``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common import chosen_sections, compete, higgs_like, parser, record

COLUMNS = 20
XGBOOST = {"objective": "binary:logistic", "max_depth": 6, "nthread": 2, "verbosity": 0}
LIGHTGBM = {"objective": "binary", "num_threads": 2, "verbosity": -1}


def of_xgboost(module: Any, X: Any, y: Any, rounds: int) -> dict[str, Callable[[], Any]]:
    """The two ways through XGBoost's interface."""

    def updated() -> Any:
        data = module.DMatrix(X, label=y)
        booster = module.Booster(XGBOOST, [data])
        for number in range(rounds):
            booster.update(data, number)
        return booster

    return {"train": lambda: module.train(XGBOOST, module.DMatrix(X, label=y), rounds), "updates": updated}


def of_lightgbm(module: Any, X: Any, y: Any, rounds: int) -> dict[str, Callable[[], Any]]:
    """The two ways through LightGBM's interface."""

    def updated() -> Any:
        booster = module.Booster(LIGHTGBM, module.Dataset(X, y))
        for _ in range(rounds):
            booster.update()
        return booster

    return {"train": lambda: module.train(LIGHTGBM, module.Dataset(X, y), rounds), "updates": updated}


INTERFACES = {"xgboost": of_xgboost, "lightgbm": of_lightgbm}


def compared(interface: str, rows: int, rounds: int, repeats: int) -> dict[str, Any]:
    """Ours and theirs in one run, alternating; every contestant has been run once before."""
    X, y = higgs_like(rows, COLUMNS)
    contestants = {}
    for system in ("weald", interface):
        name = f"weald.{interface}" if system == "weald" else interface
        ways = INTERFACES[interface](importlib.import_module(name), X, y, rounds)
        contestants |= {f"{system}, {way}": action for way, action in ways.items()}
    for action in INTERFACES[interface](importlib.import_module(f"weald.{interface}"), X, y, 3).values():
        action()
    title = f"{interface}: {rows:,} x {COLUMNS}, {rounds} rounds"
    results = compete(contestants, repeats, title)
    for system in ("weald", interface):
        times = [results[f"{system}, {way}"]["seconds"] for way in ("updates", "train")]
        results[f"{system}, updates"]["over one training"] = times[0] / times[1]
        print(f"{system}: updates take {times[0] / times[1]:.2f} of the time of one training")
    return results


def main() -> None:
    """Run the chosen interfaces."""
    arguments = parser(__doc__)
    arguments.add_argument("--repeats", type=int, help="rounds of which the best counts (3; quick: 1)")
    arguments.add_argument("--sections", metavar="A,B", help="of xgboost,lightgbm; both by default")
    options = arguments.parse_args()
    rows, rounds = (5_000, 30) if options.quick else (50_000, 300)
    repeats = options.repeats or (1 if options.quick else 3)
    run = partial(compared, rows=rows, rounds=rounds, repeats=repeats)
    record(options, {name: run(name) for name in chosen_sections(options.sections, list(INTERFACES))})


if __name__ == "__main__":
    main()
