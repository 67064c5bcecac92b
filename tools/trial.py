"""Use what an extra is for, and see that the others are missed in a sentence; run by `tools.extras`.

Everything that needs no extra is tried as well: a fit on NumPy arrays, files, the command line on CSV.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import weald
import weald.lightgbm as lgb
from weald.runtime.errors import MissingExtraError

X = np.random.default_rng(0).standard_normal((200, 3))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line of the environment."""
    return subprocess.run(
        [sys.executable, "-I", "-m", "weald", *arguments], capture_output=True, text=True, check=False
    )


def use_none() -> None:
    """A fit, a file, a prediction; the same on the command line, from CSV to CSV."""
    model = weald.BoostedTreesClassifier(n_estimators=5).fit(X, Y)
    model.save("model.weald")
    assert (weald.load("model.weald").predict(X) == model.predict(X)).all()
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X, Y, strict=True)]
    Path("table.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    settings = ("--set", "n_estimators=5")
    trained = command("train", "table.csv", "--target", "y", "--model", "file.weald", *settings)
    assert trained.returncode == 0, trained.stderr
    predicted = command("predict", "table.csv", "--model", "file.weald", "--out", "out.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert len(Path("out.csv").read_text().splitlines()) == len(Y) + 1


def booster() -> lgb.Booster:
    """A small model of the LightGBM dialect."""
    return lgb.train({"objective": "binary", "verbosity": -1}, lgb.Dataset(X, Y), 3)


def use_plots() -> None:
    """A picture of importances."""
    trained = booster()
    lgb.plot_importance(trained).figure.savefig("importance.svg")
    assert Path("importance.svg").stat().st_size > 1_000


def use_frames() -> None:
    """A frame of nodes; a fit on a frame."""
    nodes = booster().trees_to_dataframe()
    assert len(nodes) > 3
    frame = type(nodes)(X, columns=["a", "b", "c"])
    model = weald.BoostedTreesClassifier(n_estimators=2).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def use_arrow() -> None:
    """From CSV to Parquet and back on the command line."""
    predicted = command("predict", "table.csv", "--model", "file.weald", "--out", "out.parquet")
    if predicted.returncode:
        raise MissingExtraError(predicted.stderr)
    assert Path("out.parquet").read_bytes()[:4] == b"PAR1"


def use_opencl() -> None:
    """A fit on a device; there may be none, which is a sentence of its own."""
    try:
        weald.BoostedTreesClassifier(n_estimators=2, device="opencl").fit(X, Y)
    except MissingExtraError:
        raise
    except weald.InputError as error:
        assert "OpenCL device" in str(error), error


USES: dict[str, Callable[[], None]] = {
    "plots": use_plots,
    "frames": use_frames,
    "arrow": use_arrow,
    "opencl": use_opencl,
}


def main(extra: str) -> None:
    """Try one extra; ``all`` is every one, ``none`` is the package alone."""
    use_none()
    for name, use in USES.items():
        if extra in (name, "all"):
            use()
            continue
        try:
            use()
        except MissingExtraError as error:
            assert f"weald[{name}]" in str(error) and len(str(error).strip().splitlines()) == 1, error
        else:
            raise SystemExit(f"what extra {name} is for works without it")
    assert extra in (*USES, "all", "none"), extra


if __name__ == "__main__":
    main(sys.argv[1])
