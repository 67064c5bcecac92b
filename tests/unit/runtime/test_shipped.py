"""Kernels that travel in the package: all that first models need, used where they fit, and never a reason to fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import weald
from weald import packing
from weald.runtime import shipped
from weald.runtime.shipped import MANIFEST, SWITCH, Shipped, find_shipped, fitting

ROOT = Path(__file__).resolve().parents[3]
LEVEL = "generic"  # whatever CPU runs the tests has what it needs

MODEL = """
import numpy as np, weald
X = np.random.default_rng(0).standard_normal((500, 4))
model = weald.BoostedTreesClassifier(n_estimators=3).fit(X, X[:, 0] > 0)
print(model.predict_proba(X).tobytes().hex())
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the kernels of this machine's cache in it, as a platform wheel has them."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(
        Path(weald.__file__).parent, folder / "weald", ignore=shutil.ignore_patterns("__pycache__")
    )
    kernels = folder / "weald" / "_kernels"
    kernels.mkdir()
    packed = run(
        [sys.executable, "-m", "weald.packing", "--pack", str(kernels / f"{LEVEL}.kernels")],
        folder,
        os.environ.get("NUMBA_CACHE_DIR"),
        **{SWITCH: "0"},
    )
    manifest = {"fits": fitting(), "levels": {LEVEL: packed.stdout.strip()}}
    (kernels / MANIFEST).write_text(json.dumps(manifest))
    return folder


def run(command: list[str], package: Path, cache: Any, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(package), **variables}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def changed(package: Path, folder: Path) -> Path:
    """A copy of the package to change, which shares its files."""
    return Path(shutil.copytree(package, folder / "changed", copy_function=os.link))


def damage(file: Path, content: bytes) -> None:
    """Write another content to a file of a copy; the original keeps its own."""
    file.unlink()
    file.write_bytes(content)


def test_first_models_of_every_kind_compile_nothing(package: Path, tmp_path: Path) -> None:
    done = run([sys.executable, str(ROOT / "tools" / "first_models.py")], package, tmp_path)
    assert "0 kernels were compiled" in done.stdout
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_that_is_not_there_is_compiled_and_the_model_is_the_same(
    package: Path, tmp_path: Path
) -> None:
    copy = changed(package, tmp_path)
    expected = run([sys.executable, "-c", MODEL], package, tmp_path / "empty").stdout
    manifest = json.loads((package / "weald" / "_kernels" / MANIFEST).read_bytes())
    file = copy / "weald" / "_kernels" / f"{LEVEL}.kernels"
    content = file.read_bytes()
    damage(file, content[: len(content) // 2])  # its index is whole, and points beyond the end
    done = run([sys.executable, "-c", MODEL], copy, tmp_path / "cache")
    assert done.stdout == expected
    assert done.stderr.count("is damaged") == 1
    for what in manifest["fits"]:
        wrong = manifest | {"fits": manifest["fits"] | {what: "another"}}
        damage(copy / "weald" / "_kernels" / MANIFEST, json.dumps(wrong).encode())
        found = find_shipped(copy / "weald" / "_kernels")
        assert isinstance(found, str)
        assert found.startswith(f"{what} is ")


def test_kernels_that_do_not_fit_are_named_in_one_line_and_compiled(package: Path, tmp_path: Path) -> None:
    copy = changed(package, tmp_path)
    manifest = json.loads((package / "weald" / "_kernels" / MANIFEST).read_bytes())
    manifest["fits"]["Numba"] = "0.1"
    damage(copy / "weald" / "_kernels" / MANIFEST, json.dumps(manifest).encode())
    done = run([sys.executable, "-c", MODEL], copy, os.environ.get("NUMBA_CACHE_DIR"))
    assert done.stderr.count("weald: the compiled kernels of this package are not used: Numba is") == 1
    assert done.stdout == run([sys.executable, "-c", MODEL], package, tmp_path / "empty").stdout


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"fits": {}, "levels": {}}'])
def test_a_damaged_manifest_is_a_reason_and_not_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST).write_bytes(content)
    assert "reinstall weald" in str(find_shipped(tmp_path))


def test_a_cut_index_is_a_reason_and_not_an_error(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"fits": fitting(), "levels": {LEVEL: "0" * 64}}))
    (tmp_path / f"{LEVEL}.kernels").write_bytes(b"\x10")
    assert "is damaged" in str(find_shipped(tmp_path))


def test_the_best_level_of_the_cpu_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, digest = packing.pack({})
    levels = ("x86-64-v2", "x86-64-v3", "x86-64-v4")
    for level in levels:
        (tmp_path / f"{level}.kernels").write_bytes(content)
    manifest = {"fits": fitting(), "levels": dict.fromkeys(levels, digest)}
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    for level, features in shipped.LEVELS.items():
        has = dict.fromkeys(features, True)
        monkeypatch.setattr(shipped.binding, "get_host_cpu_features", lambda has=has: has)
        found = find_shipped(tmp_path)
        if level == "generic":
            assert "this CPU has none of the levels" in str(found)
        else:
            assert isinstance(found, Shipped)
            assert found.level == level


def test_settings_of_numba_that_ask_for_other_code_are_heeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped.config, "BOUNDSCHECK", 1)
    assert "NUMBA_*" in str(find_shipped(tmp_path))
