from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from exchange_models import CASES, case, hard_rows, scores_of, table_for
from weald.exchange.formats.python import text_of


def module_of(text: str) -> ModuleType:
    module = ModuleType("exported")
    exec(compile(text, "exported.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize("name", CASES)
def test_the_exported_file_predicts_the_same_bits(name: str) -> None:
    model, estimator = case(name).model, case(name).estimator
    module = module_of(text_of(model))
    rows = hard_rows(model, 80)
    table = table_for(model, rows)
    with np.errstate(invalid="ignore", over="ignore"):
        expected, labels = scores_of(estimator, table), estimator.predict(table)
    cells = rows.to_numpy(dtype=object).tolist()
    if expected is not None:
        found = np.array([module.predict_proba(row) for row in cells]).reshape(expected.shape)
        if name == "blending":
            assert np.allclose(found, expected, rtol=1e-12, atol=0, equal_nan=True)
        else:
            assert np.array_equal(found, expected, equal_nan=True)
    if hasattr(estimator, "classes_"):
        assert [module.predict(row) for row in cells] == labels.tolist()
    assert module.predict(dict(zip(module.COLUMNS, cells[0], strict=True))) is not None


def test_the_file_runs_without_any_package(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    case("sets").estimator.export(path, format="python")
    code = "import model, sys; print(model.predict(['1.5', 'red', None, 2, 's1'])); print('numpy' in sys.modules)"
    start = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); "
    done = subprocess.run(
        [sys.executable, "-I", "-c", start + code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[1] == "False"
