from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import weald
from exchange_models import case, hard_rows, numbers, scores_of, table_for
from weald.exchange.formats.pmml import text_of

NAMES = [
    "regressor",
    "poisson",
    "two_classes",
    "three_classes",
    "sets",
    "forest_classes",
    "forest_two",
    "forest",
]


def given(name: str, n_rows: int) -> pd.DataFrame:
    """Hard rows; Java reads infinities as numbers, but the evaluators' doors take them for invalid ones."""
    rows = hard_rows(case(name).model, n_rows)
    for column in case(name).model.schema.columns:
        if column.kind == "numeric":
            values = rows[column.name].to_numpy(dtype=float)
            rows[column.name] = np.where(np.isinf(values), 1e300, values)
    return rows


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    plain = rows.astype(object).where(rows.notna(), None)
    return [dict(zip(rows.columns, row, strict=True)) for row in plain.to_numpy(dtype=object).tolist()]


def check(name: str, rows: pd.DataFrame, found: list[dict[str, Any]]) -> None:
    estimator, table = case(name).estimator, table_for(case(name).model, rows)
    expected = scores_of(estimator, table)
    assert expected is not None
    if not hasattr(estimator, "classes_"):
        names = "value", "predicted_value"  # jpmml's and pypmml's
        values = [next(one[name] for name in names if one.get(name) is not None) for one in found]
        assert np.allclose(np.array(values, float), expected, rtol=1e-13)
        return
    shown = [
        str(label).lower() if isinstance(label, bool) else str(label) for label in estimator.classes_.tolist()
    ]
    values = [[float(one[f"probability({label})"]) for label in shown] for one in found]
    assert np.allclose(values, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_the_document_is_valid_by_the_schema_of_4_4(name: str) -> None:
    etree = pytest.importorskip("lxml.etree")
    schema = _schema(etree)
    document = etree.parse(io.BytesIO(text_of(case(name).model)))
    assert schema.validate(document), schema.error_log.filter_from_errors()[0]


def _schema(etree: Any) -> Any:
    package = pytest.importorskip("sklearn2pmml")
    for jar in sorted((Path(package.__file__).parent / "resources").glob("*.jar")):
        with zipfile.ZipFile(jar) as archive:
            for entry in archive.namelist():
                if (
                    entry.endswith("pmml-4-4.xsd")
                    or entry.endswith("pmml-4.4.xsd")
                    or entry.endswith("pmml.xsd")
                ):
                    return etree.XMLSchema(etree.fromstring(archive.read(entry)))
    pytest.skip("sklearn2pmml has no schema of PMML 4.4")


@pytest.mark.parametrize("name", NAMES)
def test_jpmml_predicts_the_same(name: str, tmp_path: Path) -> None:
    jpmml = pytest.importorskip("jpmml_evaluator")
    path = tmp_path / "model.pmml"
    path.write_bytes(text_of(case(name).model))
    evaluator = jpmml.make_evaluator(str(path)).verify()
    rows = given(name, 40)
    check(name, rows, [evaluator.evaluate(record) for record in records(rows)])


@pytest.mark.parametrize("name", ["regressor", "two_classes", "sets"])
def test_pypmml_predicts_the_same(name: str) -> None:
    pypmml = pytest.importorskip("pypmml")
    model = pypmml.Model.fromString(text_of(case(name).model).decode())
    rows = given(name, 25)
    check(name, rows, [model.predict(record) for record in records(rows)])


def test_text_that_xml_cannot_hold_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame(numbers(), columns=["a\x01", "b", "c", "d"])
    estimator = weald.BoostedTreesRegressor(n_estimators=2).fit(frame, np.nan_to_num(frame["b"]))
    with pytest.raises(weald.NotSupportedError, match="XML"):
        estimator.export(tmp_path / "m.pmml", format="pmml")
