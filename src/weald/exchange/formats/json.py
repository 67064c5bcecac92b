"""A model as JSON, which a person can read and Weald can read back; docs/exchange_json.md describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from weald.exchange.model import (
    Average,
    Choose,
    Constant,
    Divide,
    Lookup,
    Map,
    Median,
    Model,
    Normalise,
    Output,
    Step,
    Trees,
    TreeValues,
    Votes,
    Weighted,
)
from weald.forest.floats import encode_floats
from weald.forest.forest import Forest

FORMAT: Final = "weald-model"
VERSION: Final = 1
#: the name of every kind of step
KINDS: Final[dict[type[Any], str]] = {
    Lookup: "lookup",
    Trees: "trees",
    TreeValues: "tree_values",
    Weighted: "weighted",
    Map: "map",
    Divide: "divide",
    Normalise: "normalise",
    Average: "average",
    Choose: "choose",
    Votes: "votes",
    Median: "median",
    Constant: "constant",
}


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One file, UTF-8."""
    return {path: dumps(model).encode()}


def dumps(model: Model) -> str:
    """The text of a model's file: a line for every tree."""
    head = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": model.name,
        "missing": model.missing,
        "schema": model.schema.to_json(),
        "scores": list(model.answer.scores),
        "outputs": [_output(output) for output in model.answer.outputs],
    }
    lines = [_text(head)[:-1] + ', "steps": [']
    ends = [","] * (len(model.steps) - 1) + [""]
    for step, end in zip(model.steps, ends, strict=True):
        lines += _step(step)
        lines[-1] += end
    return "\n".join(lines) + "\n]}\n"


def _text(value: Any) -> str:
    return json.dumps(encode_floats(value), ensure_ascii=False, allow_nan=False)


def _output(output: Output) -> dict[str, Any]:
    described: dict[str, Any] = {"values": list(output.values)}
    if output.classes is not None:
        described |= {"classes": list(output.classes), "rule": output.rule, "decided": list(output.decided)}
    if output.refusal is not None:
        described["refusal"] = output.refusal
    return described


def _step(step: Step) -> list[str]:
    """The lines of a step."""
    described: dict[str, Any] = {"kind": KINDS[type(step)], "reads": list(step.reads)}
    if isinstance(step, Trees | TreeValues):
        if isinstance(step, Trees):
            described["divisor"] = step.divisor
        described |= _forest(step.forest)
        trees = [_text(_tree(step.forest, number)) for number in range(step.forest.n_trees)]
        return [
            _text(described)[:-1] + ', "trees": [',
            *[tree + "," for tree in trees[:-1]],
            *trees[-1:],
            "]}",
        ]
    for name, value in vars(step).items():
        if name not in ("reads", "n_outputs"):
            described[name] = value.tolist() if isinstance(value, np.ndarray) else value
    return [_text(described)]


def _forest(forest: Forest) -> dict[str, Any]:
    return {
        "base_score": forest.base_score.tolist(),
        "parallel_trees": forest.parallel_trees,
        "averaged": forest.averaged,
    }


def _tree(forest: Forest, number: int) -> dict[str, Any]:
    tree = forest.tree(number)
    described: dict[str, Any] = {
        "feature": tree.feature.tolist(),
        "threshold": tree.threshold.tolist(),
        "left": tree.left.tolist(),
        "missing_left": tree.missing_left.tolist(),
    }
    if any(codes is not None for codes in tree.categories_left):
        described["categories_left"] = [
            None if codes is None else list(codes) for codes in tree.categories_left
        ]
    described["value"] = tree.value.tolist()
    if tree.vectors.size:
        described["vectors"] = tree.vectors.tolist()
    return described | {name: getattr(tree, name).tolist() for name in ("gain", "cover", "count")}
