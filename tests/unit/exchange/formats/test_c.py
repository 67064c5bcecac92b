from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import weald
from exchange_models import CASES, case, coded, hard_rows, scores_of, table_for
from weald.exchange.formats.c import text_of
from weald.exchange.model import Model

COMPILERS = {
    "gcc": ["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"],
    "clang": ["clang", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"],
    "tcc": ["tcc"],
    "g++": ["g++", "-std=c++11", "-x", "c++", "-O0", "-Wall", "-Wextra", "-Werror"],
}


class Compiled:
    """The functions of an exported file."""

    def __init__(self, model: Model, folder: Path, name: str, compiler: str) -> None:
        source, header = text_of(model, name, f"{name}.h")
        (folder / f"{name}.c").write_text(source)
        (folder / f"{name}.h").write_text(header)
        library = folder / f"{name}.so"
        command = [*COMPILERS[compiler], "-shared", "-fPIC", str(folder / f"{name}.c"), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
        self._library, self._name = ctypes.CDLL(str(library)), name
        self.sizes = {key: int(value) for key, value in re.findall(rf"{name.upper()}_(\w+) (\d+)", header)}

    def numbers(self, what: str, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.empty((len(rows), self.sizes[what.upper()]))
        self._call(what, rows, out)
        return out

    def labels(self, rows: NDArray[np.float64]) -> NDArray[np.int32]:
        out = np.empty((len(rows), self.sizes["LABELS"]), np.int32)
        self._call("labels", rows, out)
        return out

    def text(self, function: str, *places: int) -> str | None:
        asked = getattr(self._library, f"{self._name}_{function}")
        asked.restype = ctypes.c_char_p
        found = asked(*map(ctypes.c_size_t, places))
        return None if found is None else found.decode()

    def code(self, column: int, category: str) -> float:
        asked = getattr(self._library, f"{self._name}_code")
        asked.restype = ctypes.c_double
        return float(asked(ctypes.c_size_t(column), category.encode()))

    def _call(
        self, function: str, rows: NDArray[np.float64], out: NDArray[np.float64] | NDArray[np.int32]
    ) -> None:
        rows = np.ascontiguousarray(rows)
        pointers = [
            ctypes.c_void_p(rows.ctypes.data),
            ctypes.c_size_t(len(rows)),
            ctypes.c_void_p(out.ctypes.data),
        ]
        getattr(self._library, f"{self._name}_{function}")(*pointers)


def compiled(model: Model, folder: Path, name: str, compiler: str) -> Compiled:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    return Compiled(model, folder, name, compiler)


def check(name: str, folder: Path, compiler: str) -> None:
    """Values, scores and labels are those of the estimator."""
    model, estimator = case(name).model, case(name).estimator
    found = compiled(model, folder, f"model_{name}", compiler)
    rows = hard_rows(model, 150)
    table, numbers = table_for(model, rows), coded(model, rows)
    with np.errstate(invalid="ignore", over="ignore"):
        expected, labels = scores_of(estimator, table), estimator.predict(table)
    if expected is not None:
        values = found.numbers("values", numbers).reshape(expected.shape)
        if name == "blending":
            assert np.allclose(values, expected, rtol=1e-12, atol=0, equal_nan=True)
        else:
            assert np.array_equal(values, expected, equal_nan=True)
    if hasattr(estimator, "classes_"):
        codes = found.labels(numbers)[:, 0]
        known = [*estimator.classes_.tolist(), getattr(estimator, "refusal_label", None)]
        assert [known[code] for code in codes] == labels.tolist()
    if hasattr(estimator, "decision_function") and model.answer.scores and name != "blending":
        decided = estimator.decision_function(table)
        assert np.array_equal(
            found.numbers("scores", numbers).reshape(decided.shape), decided, equal_nan=True
        )


@pytest.mark.parametrize("name", CASES)
def test_the_compiled_file_predicts_the_same_bits(name: str, tmp_path: Path) -> None:
    check(name, tmp_path, "tcc")


@pytest.mark.parametrize("compiler", ["gcc", "clang", "g++"])
@pytest.mark.parametrize("name", ["sets_three", "linear_classes", "adaboost_values", "voting_majority"])
def test_every_compiler_makes_the_same_of_it(compiler: str, name: str, tmp_path: Path) -> None:
    check(name, tmp_path, compiler)


def test_names_and_categories_come_back_whatever_they_hold(tmp_path: Path) -> None:
    model = case("sets").model
    found = compiled(model, tmp_path, "hostile", "gcc")
    for place, column in enumerate(model.schema.columns):
        assert found.text("column", place) == column.name
        for code, category in enumerate(column.categories):
            assert found.code(place, str(category)) == code
        assert np.isnan(found.code(place, "unheard of"))
    assert found.text("column", 99) is None
    output = model.answer.outputs[0]
    assert [found.text("class", 0, place) for place in range(3)] == [*(output.classes or ()), None]


def test_the_file_and_its_header_are_written_beside_each_other(tmp_path: Path) -> None:
    case("regressor").estimator.export(tmp_path / "my-model.c", format="c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my-model.c", "my-model.h"]
    assert "double *values" in (tmp_path / "my-model.h").read_text()
    with pytest.raises(weald.InputError, match="name must be letters"):
        case("regressor").estimator.export(tmp_path / "m.c", format="c", name="x; system()")
    with pytest.raises(weald.InputError, match="header"):
        case("regressor").estimator.export(tmp_path / "m.h", format="c")
