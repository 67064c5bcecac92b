"""Write the README's table of measurements from the results of the other programs.

python -m benchmarks                   measure everything into benchmarks/results
python -m benchmarks.readme            put the numbers into README.md
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
BEGIN, END = "<!-- measured:begin -->", "<!-- measured:end -->"


def main() -> None:
    """Replace what stands between the markers."""
    text = (ROOT / "README.md").read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    (ROOT / "README.md").write_text(f"{head}{BEGIN}\n{table()}{END}{tail}")


def table() -> str:
    """The measurements as Markdown."""
    lines = [
        _machine(_read("training")["machine"]),
        "",
        "| task | Weald | the other | Weald takes | quality, Weald and the other |",
        "| --- | --- | --- | --- | --- |",
        *_training(_read("training")["results"]),
        *_small(_read("small")["results"]["peers"]),
        *_prediction(_read("prediction")["results"]),
        *_classical(),
        "",
        *_notes(),
    ]
    return "\n".join(lines) + "\n"


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return content


def _machine(machine: dict[str, Any]) -> str:
    versions = machine["versions"]
    peers = ", ".join(
        f"{name} {versions[name]}" for name in ("lightgbm", "xgboost", "catboost", "scikit-learn")
    )
    return (
        f"{machine['cores']} cores of an {machine['processor']}, two threads, "
        "the contestants of a task in turn in one run, the best of several (from forests on down: of one); "
        f"{peers}. Times are for orientation, ratios are the claim. `make bench` measures them anew."
    )


def _training(results: dict[str, Any]) -> list[str]:
    size = f"{results['rows']:,} × 28, {results['trees']} trees"
    lines = []
    for section, what in (
        ("leafwise", "31 leaves"),
        ("depthwise", "depth-wise, depth 6"),
        ("oblivious", "oblivious, depth 6"),
    ):
        systems = results[section]["systems"]
        ours = systems["weald"]
        for name, other in systems.items():
            if name.startswith("weald"):
                continue
            quality = f"AUC {ours['test AUC']:.4f}, {other['test AUC']:.4f}"
            seconds = f"{ours['seconds']:.1f} s | {name} {other['seconds']:.1f} s"
            lines.append(f"| fit {size}, {what} | {seconds} | **{other['ratio']:.2f} ×** | {quality} |")
    return lines


def _small(sizes: dict[str, Any]) -> list[str]:
    lines = []
    for rows, systems in sizes.items():
        ours = systems["weald"]
        for name in ("lightgbm", "xgboost"):
            other = systems[name]
            quality = f"AUC {ours['test AUC']:.4f}, {other['test AUC']:.4f}"
            times = f"{1e3 * ours['seconds']:.0f} ms | {name} {1e3 * other['seconds']:.0f} ms"
            lines.append(
                f"| fit {int(rows):,} × 20, 100 trees | {times} | **{other['ratio']:.2f} ×** | {quality} |"
            )
    return lines


def _prediction(results: dict[str, Any]) -> list[str]:
    lines = []
    for section, ours_name, peers in (
        ("leafwise", "weald", ("xgboost", "lightgbm", "sklearn")),
        ("oblivious", "weald, oblivious", ("catboost",)),
    ):
        ours = results[section][ours_name]
        for name in peers:
            other = results[section][name]
            times = f"{1e3 * ours['seconds']:.0f} ms | {name} {1e3 * other['seconds']:.0f} ms"
            lines.append(
                f"| predict 100,000 × 28, 100 trees, {section} | {times} | **{other['ratio']:.2f} ×** | |"
            )
    ours = results["one_row"]["weald"]
    for name in ("xgboost", "lightgbm"):
        other = results["one_row"][name]
        times = f"{ours['microseconds']:.0f} µs | {name} {other['microseconds']:.0f} µs"
        lines.append(f"| predict_proba of one row | {times} | **{other['ratio']:.2f} ×** | |")
    return lines


def _classical() -> list[str]:
    """Forests, AdaBoost, Friedman's boosting, split finders and boosters, each where it has been measured."""
    lines = []
    for file, section, task, quality in (
        ("forests", "training", "fit a random forest, 100,000 × 28, 100 trees of full depth", "test AUC"),
        ("forests", "prediction", "predict 100,000 × 28 with that forest", ""),
        ("adaboost", "training", "fit AdaBoost, 100,000 × 20, 200 stumps", "test AUC"),
        ("gradient_boosting", "log_loss", "fit GradientBoosting, 100,000 × 20, 100 trees", "test AUC"),
        ("finders", "exact", "fit 100,000 × 28, 100 trees of depth 6, exact splits", "test AUC"),
        ("finders", "approx", "fit 100,000 × 28, 100 trees of depth 6, approximate splits", "test AUC"),
        ("boosters", "dart", "fit 100,000 × 28, 100 trees of depth 6, dart", "test AUC"),
        ("boosters", "linear", "fit 100,000 × 28, 100 rounds of the linear booster", "test AUC"),
        ("sparse", "sparse", "fit 200,000 × 5,000, 1 % stored, 100 trees of depth 6", "test AUC"),
        ("sparse", "wide", "fit 50,000 × 1,000, 100 trees of depth 6", "test AUC"),
        ("flights", "2 threads", "fit 262,816 flights, 4,043 tail numbers as categories, 100 trees", "AUC"),
        ("bundling", "sparse", "fit 500,000 × 683 one-hot columns, sparse, 100 trees", "test AUC"),
        ("bundling", "dense", "fit 500,000 × 683 one-hot columns, dense, 100 trees", "test AUC"),
        ("catboost_training", "numbers", "fit 320,000 × 28, CatBoost's defaults, 100 trees", "log loss"),
        ("catboost_training", "numbers ordered", "the same, ordered boosting", "log loss"),
        (
            "catboost_categories",
            "amazon_access",
            "fit 26,215 × 9 categories, CatBoost's defaults, 1,000 trees",
            "log loss",
        ),
        ("catboost_training", "flights", "fit 262,816 flights, CatBoost's defaults, 100 trees", "log loss"),
    ):
        if not (RESULTS / f"{file}.json").exists() or section not in _read(file)["results"]:
            continue
        systems = _read(file)["results"][section]
        systems = systems.get("systems", systems)
        ours = systems["weald"]
        for name, other in systems.items():
            if name.startswith("weald") or name.endswith("plain"):
                continue
            name_of = "AUC" if quality.endswith("AUC") else quality
            values = f"{name_of} {ours[quality]:.4f}, {other[quality]:.4f}" if quality else ""
            seconds = f"{ours['seconds']:.2f} s | {name} {other['seconds']:.1f} s"
            lines.append(f"| {task} | {seconds} | **{other['ratio']:.2f} ×** | {values} |")
    return lines


def _notes() -> list[str]:
    memory, cold = _read("memory")["results"]["systems"], _read("cold")["results"]
    ours, lightgbm = memory["weald"], memory["lightgbm"]
    ratio, warm = ours["peak"] / lightgbm["peak"], cold["warm"]
    wheel = warm.get("weald, wheel", warm["weald"])
    others = ", ".join(
        f"{name} {warm[name]['process']:.1f} s" for name in ("lightgbm", "xgboost", "catboost")
    )
    notes = [
        f"- Peak memory of the process that fits 1,000,000 × 28: {ours['peak']:.0f} MiB, LightGBM "
        f"{lightgbm['peak']:.0f} MiB ({ratio:.2f} ×); of that the fit itself {ours['fit']:.0f} and "
        f"{lightgbm['fit']:.0f} MiB, the rest is what the libraries load.",
        f"- `import weald` takes {1e3 * cold['import']['weald']['seconds']:.0f} ms. From the platform wheel a fresh process has "
        f"its first model (1,000 × 20, 100 trees) after {wheel['process']:.1f} s, with nothing compiled; {others}.",
    ]
    forests = _read("forests")["results"]
    sizes = ", ".join(
        f"{name} {measured['model MiB']:.0f} and {_fit_memory(forests['memory'][name]):.0f} MiB"
        for name, measured in forests["training"].items()
    )
    notes.append(f"- Model bytes of that random forest, and the memory that its fit takes: {sizes}.")
    if "empty" in cold:
        seconds = cold["empty"]["first"]["fit"]
        notes.append(
            f"- From source, the very first fit on a machine compiles kernels: {seconds:.0f} s, once."
        )
    return notes


def _fit_memory(measured: dict[str, float]) -> float:
    return measured["peak"] - measured["before_fit"]


if __name__ == "__main__":
    main()
