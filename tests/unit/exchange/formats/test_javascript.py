from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exchange_models import CASES, case, hard_rows, scores_of, table_for

NODE = shutil.which("node")
SCRIPT = """
import { readFileSync } from "node:fs";
const given = JSON.parse(readFileSync(process.argv[2], "utf8"));
const words = { nan: NaN, inf: Infinity, "-inf": -Infinity };
const read = (cell) => (cell && cell.float ? words[cell.float] : cell);
const write = (x) => (typeof x === "number" ? (Object.is(x, -0) ? "-0" : String(x)) : x);
const found = {};
for (const name of Object.keys(given)) {
  const model = await import(`./${name}.mjs`);
  const rows = given[name].map((row) => row.map(read));
  const values = rows.map((row) => model.predictValues(row)[0].map(write));
  found[name] = { values, labels: rows.map(model.predict).map(write), names: model.columns };
}
console.log(JSON.stringify(found));
"""


def _cell(cell: Any) -> Any:
    return {"float": str(float(cell))} if isinstance(cell, float) and not math.isfinite(cell) else cell


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_node_computes_the_same_bits(tmp_path: Path) -> None:
    rows = {name: hard_rows(case(name).model, 60) for name in CASES}
    for name in CASES:
        case(name).estimator.export(tmp_path / f"{name}.mjs", format="javascript")
    (tmp_path / "run.mjs").write_text(SCRIPT)
    given = {
        name: [[_cell(cell) for cell in row] for row in own.to_numpy(dtype=object).tolist()]
        for name, own in rows.items()
    }
    (tmp_path / "rows.json").write_text(json.dumps(given))
    done = subprocess.run(
        [str(NODE), "run.mjs", "rows.json"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:2000]
    for name, found in json.loads(done.stdout).items():
        estimator, table = case(name).estimator, table_for(case(name).model, rows[name])
        assert found["names"] == list(case(name).model.schema.names)
        with np.errstate(invalid="ignore", over="ignore"):
            expected, labels = scores_of(estimator, table), estimator.predict(table)
        if expected is not None:
            values = np.array(found["values"], float).reshape(expected.shape)
            if name == "blending":
                assert np.allclose(values, expected, rtol=1e-12, atol=0, equal_nan=True)
            else:
                assert np.array_equal(values, expected, equal_nan=True), name
        if hasattr(estimator, "classes_"):
            assert list(map(_shown, found["labels"])) == list(map(_shown, labels.tolist())), name


def _shown(label: Any) -> str:
    """A label as text: true as True, and 1 as 1.0."""
    if isinstance(label, bool):
        return str(label)
    return str(float(label)) if _is_number(str(label)) else label


def _is_number(text: Any) -> bool:
    return isinstance(text, str) and text.lstrip("-").replace(".", "").isdigit()
