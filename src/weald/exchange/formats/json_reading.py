"""Reads what `weald.exchange.formats.json` writes. The file is hostile until every index in it has been checked."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from weald.data import Schema
from weald.data.missing import Missing
from weald.exchange.exchanged import ExchangedModel
from weald.exchange.formats.json import FORMAT, VERSION
from weald.exchange.model import (
    Answer,
    Average,
    Builder,
    Choose,
    Constant,
    Divide,
    Floats,
    Function,
    Label,
    Lookup,
    Map,
    Median,
    Normalise,
    Output,
    Rule,
    Slots,
    Step,
    Trees,
    TreeValues,
    Votes,
    Weighted,
)
from weald.forest.builder import ForestBuilder
from weald.forest.disk import read
from weald.forest.floats import decode_floats
from weald.forest.forest import Forest
from weald.runtime.errors import InputError, ModelFileError

# Numbers of a row, and combinations of categories.
_MOST_SLOTS: Final = 2**20
_MOST_GROUPS: Final = 2**62
_NODES: Final = ("feature", "threshold", "left", "missing_left", "value", "gain", "cover", "count")


def read_json(path: str | os.PathLike[str]) -> ExchangedModel:
    """The model of a file that ``export(path, format="json")`` has written, or another program by the page of the format.

    >>> import os, tempfile
    >>> import numpy as np
    >>> import weald
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> model = weald.BoostedTreesRegressor(n_estimators=2).fit(X, X[:, 0])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.export(path, format="json")
    >>> bool((read_json(path).predict(X) == model.predict(X)).all())
    True
    """
    try:
        return loads(read(path))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)!r}: {error}") from None


def is_model_json(beginning: bytes) -> bool:
    """Whether a file that begins so is a model in this JSON.

    >>> is_model_json(b'{"format": "weald-model", "version": 1'), is_model_json(b'{"learner": {}}')
    (True, False)
    """
    return beginning.lstrip().startswith(b"{") and f'"{FORMAT}"'.encode() in beginning


def loads(data: bytes) -> ExchangedModel:
    """The model in the bytes of a file."""
    try:
        found = decode_floats(json.loads(data.decode("utf-8"), parse_constant=_no_constant))
    except RecursionError:
        raise ModelFileError("The file is nested too deeply for a model.") from None
    except ValueError as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError("The file is not JSON in UTF-8.") from None
    try:
        return _model(found)
    except (TypeError, KeyError, OverflowError, InputError) as error:
        raise ModelFileError(f"The file is not a model in JSON: {_reason(error)}.") from None


def _no_constant(name: str) -> float:
    raise ModelFileError(
        f'The file has {name}, which JSON does not know; a model has {{"float": "inf"}} instead.'
    )


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    text = str(error).rstrip(".")
    return text or type(error).__name__


def _model(found: Any) -> ExchangedModel:
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ModelFileError(f"The file does not say that it is a {FORMAT!r}.")
    if found.get("version") != VERSION:
        raise ModelFileError(
            f"The file has version {found.get('version')!r:.40}; this Weald knows version {VERSION}."
        )
    builder = Builder(Schema.from_json(found["schema"]))
    for place, described in enumerate(_list(found["steps"], "steps")):
        known = builder.n_slots
        step = _step(_dict(described, f"step {place}"), known)
        if known + step.n_outputs > _MOST_SLOTS:
            raise ModelFileError(
                f"Step {place} makes too many numbers of a row: at most {_MOST_SLOTS:,} together."
            )
        builder.add(step)
    scores = _slots(found["scores"], "scores", builder.n_slots)
    outputs = tuple(
        _output(_dict(one, "an output"), builder.n_slots) for one in _list(found["outputs"], "outputs")
    )
    if not outputs:
        raise ModelFileError("A model must have at least one output.")
    missing = _one_of(found["missing"], "missing", get_args(Missing))
    name = found["estimator"]
    if not isinstance(name, str):
        raise ModelFileError("A model's estimator must be a name.")
    return ExchangedModel(builder.model(name, Answer(scores, outputs), missing))


def _output(found: dict[str, Any], known: int) -> Output:
    values = _slots(found["values"], "values", known)
    if "classes" not in found:
        if not values:
            raise ModelFileError("An output without classes must have values.")
        return Output(values)
    classes = _labels(found["classes"])
    if len(set(classes)) != len(classes) or len(values) not in (0, len(classes)):
        raise ModelFileError("An output's classes must be different, with a value each or none.")
    decided = _slots(found["decided"], "decided", known)
    rule: Rule = _one_of(found["rule"], "rule", get_args(Rule))
    if len(decided) != (1 if rule == "above" else len(classes)) or (rule == "above" and len(classes) != 2):
        raise ModelFileError(
            f"An output of {len(classes)} classes cannot be decided from {len(decided)} numbers."
        )
    refusal = found.get("refusal")
    if (rule == "majority") != (refusal is not None):
        raise ModelFileError("A refusal label belongs to the rule 'majority'.")
    return Output(values, classes, rule, decided, None if refusal is None else _labels([refusal])[0])


def _labels(found: Any) -> tuple[Label, ...]:
    labels = tuple(_list(found, "classes"))
    if not labels or not all(isinstance(label, str | int | float) for label in labels):
        raise ModelFileError("Classes must be strings, booleans or numbers.")
    return labels


def _step(found: dict[str, Any], known: int) -> Step:
    reader = _READERS.get(str(found["kind"]))
    if reader is None:
        raise ModelFileError(f"A step has the kind {found['kind']!r:.40}, which this Weald does not know.")
    step = reader(found, _slots(found["reads"], "reads", known))
    return step


def _lookup(found: dict[str, Any], reads: Slots) -> Step:
    sizes = _whole(found["sizes"], "sizes", 1)
    groups = np.array(_whole(found["groups"], "groups", 0), np.int64)
    default = _numbers(found["default"], "default")
    cells = _matrix(found["cells"], "cells", len(default), len(groups))
    if len(sizes) != len(reads) or not reads or math.prod(sizes) > _MOST_GROUPS or not len(default):
        raise ModelFileError(
            "A lookup must have a size for every slot that it reads, and at least one number."
        )
    if (np.diff(groups) <= 0).any():
        raise ModelFileError("A lookup's groups must rise.")
    return Lookup(reads, sizes, groups, cells, default)


def _trees(found: dict[str, Any], reads: Slots) -> Step:
    divisor = _number(found["divisor"], "divisor")
    if divisor == 0.0:
        raise ModelFileError("A divisor must not be 0.")
    return Trees(reads, _forest(found, len(reads)), divisor)


def _tree_values(found: dict[str, Any], reads: Slots) -> Step:
    forest = _forest(found, len(reads))
    if forest.n_outputs != 1 or not forest.n_trees:
        raise ModelFileError("tree_values are of trees with one output.")
    return TreeValues(reads, forest)


def _forest(found: dict[str, Any], n_features: int) -> Forest:
    base = _numbers(found["base_score"], "base_score")
    if not 1 <= len(base) <= _MOST_SLOTS or not n_features:
        raise ModelFileError("A forest must have at least one output and read at least one slot.")
    parallel, averaged = found["parallel_trees"], found["averaged"]
    if type(parallel) is not int or type(averaged) is not bool or not 1 <= parallel < 2**31:
        raise ModelFileError("parallel_trees must be a whole number, and averaged true or false.")
    builder = ForestBuilder(n_features, len(base), base, parallel, averaged)
    for place, tree in enumerate(_list(found["trees"], "trees")):
        builder.append(**_tree(_dict(tree, f"tree {place}"), len(base)))
    forest = builder.build()
    forest.validate()
    return forest


def _tree(found: dict[str, Any], n_outputs: int) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for name in _NODES:
        numbers = name in ("threshold", "value", "gain", "cover")
        nodes[name] = (
            _numbers(found[name], name) if numbers else np.array(_whole(found[name], name, -1), np.int64)
        )
    size = len(nodes["feature"])
    if any(len(values) != size for values in nodes.values()) or not size:
        raise ModelFileError("A tree's lists must have an entry for every node.")
    for name, most in (("feature", 2**31), ("left", 2**31), ("missing_left", 2)):
        if nodes[name].max() >= most or (name == "missing_left" and nodes[name].min() < 0):
            raise ModelFileError(f"A tree's {name} is out of range.")
    sets = _list(found.get("categories_left", [None] * size), "categories_left")
    if len(sets) != size:
        raise ModelFileError("A tree's categories_left must have an entry for every node.")
    nodes |= _sets(sets)
    if "vectors" in found:
        nodes["vectors"] = _matrix(found["vectors"], "vectors", int((nodes["feature"] < 0).sum()), n_outputs)
    return nodes


def _sets(sets: list[Any]) -> dict[str, Any]:
    numbers: list[int] = []
    offsets: list[int] = [0]
    codes: list[int] = []
    for one in sets:
        numbers.append(-1 if one is None else len(offsets) - 1)
        if one is not None:
            codes += _whole(one, "categories_left", 0)
            offsets.append(len(codes))
    if any(code >= 2**31 for code in codes):
        raise ModelFileError("A category's code is out of range.")
    return {
        "category_set": np.array(numbers),
        "set_offsets": np.array(offsets),
        "set_codes": np.array(codes, np.int64),
    }


def _weighted(found: dict[str, Any], reads: Slots) -> Step:
    start = _numbers(found["start"], "start")
    if not len(start):
        raise ModelFileError("A weighted step must have at least one output.")
    return Weighted(reads, start, _matrix(found["weights"], "weights", len(start), len(reads)))


def _map(found: dict[str, Any], reads: Slots) -> Step:
    function: Function = _one_of(found["function"], "function", get_args(Function))
    return Map(reads, function)


def _divide(found: dict[str, Any], reads: Slots) -> Step:
    by = _number(found["by"], "by")
    if by == 0.0:
        raise ModelFileError("A step cannot divide by 0.")
    return Divide(reads, by)


def _normalise(found: dict[str, Any], reads: Slots) -> Step:
    if not reads:
        raise ModelFileError("A step that normalises must read something.")
    softmax = _one_of(found["function"], "function", ("softmax", "one_vs_rest")) == "softmax"
    return Normalise(reads, "softmax" if softmax else "one_vs_rest")


def _average(found: dict[str, Any], reads: Slots) -> Step:
    (members,) = _whole([found["members"]], "members", 1)
    weights = tuple(_numbers(found["weights"], "weights").tolist())
    if not reads or len(reads) % members or len(weights) not in (0, members):
        raise ModelFileError("An average's slots and weights must be those of its members.")
    return Average(reads, members, weights)


def _choose(found: dict[str, Any], reads: Slots) -> Step:
    if not reads:
        raise ModelFileError("A step that chooses must read something.")
    return Choose(reads)


def _votes(found: dict[str, Any], reads: Slots) -> Step:
    (classes,) = _whole([found["classes"]], "classes", 1)
    weights = tuple(_numbers(found["weights"], "weights").tolist())
    rounded = found["rounded"]
    if len(weights) != len(reads) or type(rounded) is not bool:
        raise ModelFileError("Votes must have a weight each, and say whether they are rounded.")
    return Votes(reads, weights, classes, rounded)


def _median(found: dict[str, Any], reads: Slots) -> Step:
    weights = tuple(_numbers(found["weights"], "weights").tolist())
    if len(weights) != len(reads) or not reads or min(weights) < 0.0:
        raise ModelFileError("A median must have a weight of at least 0 for every slot.")
    return Median(reads, weights)


def _constant(found: dict[str, Any], reads: Slots) -> Step:
    values = tuple(_numbers(found["values"], "values").tolist())
    if reads or not values:
        raise ModelFileError("A constant reads nothing and has at least one value.")
    return Constant(values)


_READERS: Final[dict[str, Callable[[dict[str, Any], Slots], Step]]] = {
    "lookup": _lookup,
    "trees": _trees,
    "tree_values": _tree_values,
    "weighted": _weighted,
    "map": _map,
    "divide": _divide,
    "normalise": _normalise,
    "average": _average,
    "choose": _choose,
    "votes": _votes,
    "median": _median,
    "constant": _constant,
}


def _list(found: Any, what: str) -> list[Any]:
    if not isinstance(found, list):
        raise ModelFileError(f"The model's {what} must be a list.")
    return found


def _dict(found: Any, what: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ModelFileError(f"The model's {what} must be an object.")
    return found


def _slots(found: Any, what: str, known: int) -> Slots:
    slots = _whole(found, what, 0)
    if any(slot >= known for slot in slots) or len(slots) > _MOST_SLOTS:
        raise ModelFileError(f"The model's {what} must be slots of the columns and the steps before.")
    return slots


def _whole(found: Any, what: str, least: int) -> tuple[int, ...]:
    numbers = tuple(_list(found, what))
    if not all(type(number) is int and least <= number < 2**62 for number in numbers):
        raise ModelFileError(f"The model's {what} must be whole numbers of at least {least}.")
    return numbers


def _numbers(found: Any, what: str) -> Floats:
    numbers = _list(found, what)
    if not all(type(number) in (int, float) for number in numbers):
        raise ModelFileError(f"The model's {what} must be numbers.")
    return np.array(numbers, np.float64)


def _number(found: Any, what: str) -> float:
    number = float(_numbers([found], what)[0])
    if not math.isfinite(number):
        raise ModelFileError(f"The model's {what} must be finite.")
    return number


def _matrix(found: Any, what: str, rows: int, columns: int) -> Floats:
    lines = [_numbers(line, what) for line in _list(found, what)]
    if len(lines) != rows or any(len(line) != columns for line in lines):
        raise ModelFileError(f"The model's {what} must be {rows} lists of {columns} numbers.")
    matrix: NDArray[np.float64] = np.array(lines, np.float64).reshape(rows, columns)
    return matrix


def _one_of(found: Any, what: str, allowed: tuple[Any, ...]) -> Any:
    if not isinstance(found, str) or found not in allowed:
        raise ModelFileError(
            f"The model's {what} must be one of {', '.join(map(repr, allowed))}, not {found!r:.40}."
        )
    return found
