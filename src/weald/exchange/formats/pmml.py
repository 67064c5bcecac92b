"""A forest and its link as PMML 4.4: a sum of tree models, and a regression model that is the link."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from weald import __version__
from weald.data import Column
from weald.exchange.model import Label, Model
from weald.exchange.plain import OutputTree, PlainModel, other_codes, plain_model, refuse_link
from weald.runtime.errors import NotSupportedError

_NAMESPACE: Final = "http://www.dmg.org/PMML-4_4"
_METHODS: Final = {
    "identity": "none",
    "log": "exp",
    "logit": "logit",
    "half_logit": "logit",
    "softmax": "softmax",
}
# Characters that no XML document may hold.
_NO_XML: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LARGEST: Final = "1.7976931348623157E308"


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One XML file."""
    return {path: text_of(model)}


def text_of(model: Model) -> bytes:
    """The document."""
    plain = plain_model(model, "pmml")
    refuse_link(plain, "pmml", tuple(_METHODS))  # type: ignore[arg-type]
    if plain.forest.n_outputs > 1 and plain.classes is None:
        raise NotSupportedError(
            "format='pmml' predicts one number or one class; export the model as 'json' or 'onnx'."
        )
    root = Element("PMML", {"xmlns": _NAMESPACE, "version": "4.4"})
    header = SubElement(root, "Header")
    SubElement(header, "Application", {"name": "weald", "version": __version__})
    columns = plain.schema.columns
    target = _free_name("label" if plain.classes else "value", plain)
    fields = SubElement(root, "DataDictionary", {"numberOfFields": str(len(columns) + 1)})
    for column in columns:
        kind = ("continuous", "double") if column.kind == "numeric" else ("categorical", "string")
        SubElement(fields, "DataField", {"name": _xml(column.name), "optype": kind[0], "dataType": kind[1]})
    labelled = SubElement(fields, "DataField", _target_attributes(target, plain))
    for label in plain.classes or ():
        SubElement(labelled, "Value", {"value": _label(label)})
    mapped = {
        place: _free_name(f"code_{place}", plain)
        for place, column in enumerate(columns)
        if column.kind == "categorical"
    }
    if mapped:
        dictionary = SubElement(root, "TransformationDictionary")
        for place, name in mapped.items():
            _add_codes(dictionary, columns[place], name)
    _add_chain(root, plain, target, mapped)
    indent(root)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def _free_name(wanted: str, plain: PlainModel) -> str:
    while wanted in plain.schema.names:
        wanted += "_"
    return wanted


def _xml(text: str) -> str:
    if _NO_XML.search(text):
        raise NotSupportedError(f"format='pmml' is XML, which cannot hold the text {text!r}; rename it.")
    return text


def _label(label: Label) -> str:
    if isinstance(label, bool):
        return str(label).lower()
    return _xml(label) if isinstance(label, str) else repr(label)


def _target_attributes(name: str, plain: PlainModel) -> dict[str, str]:
    if plain.classes is None:
        return {"name": name, "optype": "continuous", "dataType": "double"}
    first = plain.classes[0]
    kinds = {bool: "boolean", int: "integer", float: "double"}
    return {"name": name, "optype": "categorical", "dataType": kinds.get(type(first), "string")}


def _add_codes(dictionary: Element, column: Column, name: str) -> None:
    """A field of the codes of a column's categories; others are missing."""
    if not all(isinstance(category, str) for category in column.categories):
        raise NotSupportedError(
            f"Column {column.name!r} has numbers as categories, which format='pmml' maps by their text only; "
            "make them text for the fit."
        )
    field = SubElement(
        dictionary, "DerivedField", {"name": name, "optype": "categorical", "dataType": "integer"}
    )
    table = SubElement(field, "MapValues", {"outputColumn": "code", "dataType": "integer"})
    SubElement(table, "FieldColumnPair", {"field": _xml(column.name), "column": "category"})
    rows = SubElement(table, "InlineTable")
    for code, category in enumerate(column.categories):
        row = SubElement(rows, "row")
        SubElement(row, "category").text = _xml(str(category))
        SubElement(row, "code").text = str(code)


def _add_schema(parent: Element, plain: PlainModel, target: str | None = None) -> None:
    schema = SubElement(parent, "MiningSchema")
    if target is not None:
        SubElement(schema, "MiningField", {"name": target, "usageType": "target"})
    for name in plain.schema.names:
        SubElement(schema, "MiningField", {"name": name})


def _add_chain(root: Element, plain: PlainModel, target: str, mapped: dict[int, str]) -> None:
    """The sums of every output's trees, and then the link."""
    function = "regression" if plain.classes is None else "classification"
    chain = SubElement(root, "MiningModel", {"functionName": function})
    _add_schema(chain, plain, target)
    segments = SubElement(chain, "Segmentation", {"multipleModelMethod": "modelChain"})
    scores, trees = [], plain.trees()
    for output in range(plain.forest.n_outputs):
        segment = SubElement(segments, "Segment", {"id": f"scores{output}"})
        SubElement(segment, "True")
        scores.append(_free_name(f"score_{output}", plain))
        _add_sum(segment, plain, [tree for tree in trees if tree.output == output], scores[-1], mapped)
    segment = SubElement(segments, "Segment", {"id": "link"})
    SubElement(segment, "True")
    _add_link(segment, plain, scores, target, function)


def _add_sum(
    segment: Element, plain: PlainModel, trees: list[OutputTree], name: str, mapped: dict[int, str]
) -> None:
    sums = SubElement(segment, "MiningModel", {"functionName": "regression"})
    _add_schema(sums, plain)
    output = SubElement(sums, "Output")
    field = {"name": name, "optype": "continuous", "dataType": "double"}
    SubElement(output, "OutputField", {**field, "feature": "predictedValue", "isFinalResult": "false"})
    if plain.averaged not in (1.0, float(len(trees))):
        raise NotSupportedError(
            "format='pmml' divides by the number of trees only; export the model as 'json' or 'onnx'."
        )
    method = "average" if plain.averaged != 1.0 else "sum"
    members = SubElement(sums, "Segmentation", {"multipleModelMethod": method})
    for number, tree in enumerate(trees):
        member = SubElement(members, "Segment", {"id": str(number)})
        SubElement(member, "True")
        attributes = {
            "functionName": "regression",
            "missingValueStrategy": "defaultChild",
            "splitCharacteristic": "binarySplit",
        }
        written = SubElement(member, "TreeModel", attributes)
        _add_schema(written, plain)
        _add_nodes(written, tree, plain, mapped)


def _add_nodes(model: Element, tree: OutputTree, plain: PlainModel, mapped: dict[int, str]) -> None:
    root = SubElement(model, "Node", {"id": "0"})
    SubElement(root, "True")
    waiting = [(0, root)]
    while waiting:
        node, element = waiting.pop()
        if tree.feature[node] < 0:
            element.set("score", repr(float(tree.value[node])))
            continue
        left = int(tree.left[node])
        element.set("defaultChild", str(left if tree.missing_left[node] else left + 1))
        for child, goes_left in ((left, True), (left + 1, False)):
            below = SubElement(element, "Node", {"id": str(child)})
            _add_predicate(below, tree, node, goes_left, plain, mapped)
            waiting.append((child, below))


def _add_predicate(
    element: Element, tree: OutputTree, node: int, goes_left: bool, plain: PlainModel, mapped: dict[int, str]
) -> None:
    feature, codes = int(tree.feature[node]), tree.categories_left[node]
    if codes is not None:
        size = len(plain.schema.columns[feature].categories)
        listed = list(codes) if goes_left else other_codes(codes, size)
        listed = listed or [-1]  # no category at all goes there
        within = SubElement(
            element, "SimpleSetPredicate", {"field": mapped[feature], "booleanOperator": "isIn"}
        )
        array = SubElement(within, "Array", {"n": str(len(listed)), "type": "int"})
        array.text = " ".join(map(str, listed))
        return
    threshold = float(tree.threshold[node])
    operator, value = ("lessOrEqual" if goes_left else "greaterThan"), repr(threshold)
    if np.isposinf(threshold):  # all numbers go left
        operator, value = ("greaterOrEqual" if goes_left else "lessThan"), "-INF"
    elif np.isneginf(threshold):
        operator, value = ("lessThan" if goes_left else "greaterOrEqual"), f"-{_LARGEST}"
    SubElement(
        element,
        "SimplePredicate",
        {"field": plain.schema.names[feature], "operator": operator, "value": value},
    )


def _add_link(segment: Element, plain: PlainModel, scores: list[str], target: str, function: str) -> None:
    attributes = {"functionName": function, "normalizationMethod": _METHODS[plain.link]}
    link = SubElement(segment, "RegressionModel", attributes)
    schema = SubElement(link, "MiningSchema")
    SubElement(schema, "MiningField", {"name": target, "usageType": "target"})
    for score in scores:
        SubElement(schema, "MiningField", {"name": score})
    factor = "2.0" if plain.link == "half_logit" else "1.0"
    if plain.classes is None:
        _add_table(link, {}, scores[0], factor)
        return
    output = SubElement(link, "Output")
    for label in plain.classes:
        field = {"name": f"probability({_label(label)})", "optype": "continuous", "dataType": "double"}
        SubElement(output, "OutputField", {**field, "feature": "probability", "value": _label(label)})
    if len(plain.classes) == 2:
        _add_table(link, {"targetCategory": _label(plain.classes[1])}, scores[0], factor)
        SubElement(link, "RegressionTable", {"targetCategory": _label(plain.classes[0]), "intercept": "0.0"})
        return
    for label, score in zip(plain.classes, scores, strict=True):
        _add_table(link, {"targetCategory": _label(label)}, score, factor)


def _add_table(link: Element, category: dict[str, str], score: str, factor: str) -> None:
    table = SubElement(link, "RegressionTable", {**category, "intercept": "0.0"})
    SubElement(table, "NumericPredictor", {"name": score, "coefficient": factor})
