"""Trees in XGBoost's words: text, JSON, DOT, a frame of nodes, and importances. Categories are told by name.

A node of Weald's sends `value <= threshold` to its first child, with the threshold between two values of the training table;
XGBoost's `value < threshold` says the same of every value but the threshold itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.dialects.shared.trees import from_the_root, named_trees
from weald.estimators.shared.persistence import FittedModel
from weald.forest.forest import TreeView
from weald.linear.model import LinearModel
from weald.runtime.errors import InputError
from weald.runtime.extras import load_extra

if TYPE_CHECKING:
    from weald.dialects.xgboost.booster import Booster

_IMPORTANCES = ("weight", "gain", "cover", "total_gain", "total_cover")


def names_of(booster: Booster) -> list[str]:
    """The columns' names, or f0, f1, …"""
    return booster.feature_names or [f"f{k}" for k in range(booster.num_features())]


def _number(value: float) -> str:
    return f"{np.float32(value):.9g}"


def _gain(tree: TreeView, node: int, gamma: float) -> float:
    """XGBoost's gain: twice Weald's, before the price of a leaf is taken off."""
    return 2.0 * float(tree.gain[node]) + gamma


def dump(model: FittedModel, names: Sequence[str], form: str, with_stats: bool, gamma: float) -> list[str]:
    """Every tree as text."""
    writers: dict[str, Callable[[TreeView, Sequence[str], bool, float], str]] = {
        "text": _text,
        "json": _json,
        "dot": _dot,
    }
    if form not in writers:
        raise InputError(f"dump_format must be one of {', '.join(writers)}, not {form!r}.")
    if isinstance(model.predictor, LinearModel):
        return [_linear_dump(model.predictor, form)]
    return [writers[form](tree, names, with_stats, gamma) for tree in named_trees(model)]


def _condition(tree: TreeView, node: int, names: Sequence[str]) -> str:
    name, codes = names[tree.feature[node]], tree.categories_left[node]
    if codes is None:
        return f"{name}<{_number(tree.threshold[node])}"
    return f"{name}:{{{','.join(map(str, codes))}}}"


def _children(tree: TreeView, node: int) -> tuple[int, int, int]:
    """The children where the condition holds, where not, and where the value is missing."""
    yes = int(tree.left[node])
    return yes, yes + 1, yes if tree.missing_left[node] else yes + 1


def _stats(tree: TreeView, node: int, gamma: float) -> str:
    gain = "" if tree.feature[node] < 0 else f",gain={_number(_gain(tree, node, gamma))}"
    return f"{gain},cover={_number(tree.cover[node])}"


def _text(tree: TreeView, names: Sequence[str], with_stats: bool, gamma: float) -> str:
    lines = []
    for node, depth in from_the_root(tree):
        stats = _stats(tree, node, gamma) if with_stats else ""
        if tree.feature[node] < 0:
            lines.append(f"{chr(9) * depth}{node}:leaf={_number(tree.value[node])}{stats}\n")
            continue
        yes, no, missing = _children(tree, node)
        condition = _condition(tree, node, names)
        lines.append(f"{chr(9) * depth}{node}:[{condition}] yes={yes},no={no},missing={missing}{stats}\n")
    return "".join(lines)


def _json(tree: TreeView, names: Sequence[str], with_stats: bool, gamma: float) -> str:
    written: dict[int, str] = {}
    for node, depth in reversed(from_the_root(tree)):
        indent = "  " * (depth + 1)
        cover = f' , "cover": {_number(tree.cover[node])}' if with_stats else ""
        if tree.feature[node] < 0:
            written[node] = f'{indent}{{ "nodeid": {node}, "leaf": {_number(tree.value[node])}{cover} }}'
            continue
        yes, no, missing = _children(tree, node)
        codes = tree.categories_left[node]
        condition = _number(tree.threshold[node]) if codes is None else json.dumps(list(codes))
        stats = ""
        if with_stats:
            gain = _number(_gain(tree, node, gamma))
            stats = f' , "gain": {gain}, "cover": {_number(tree.cover[node])}'
        written[node] = (
            f'{indent}{{ "nodeid": {node}, "depth": {depth}, "split": {json.dumps(names[tree.feature[node]])}, '
            f'"split_condition": {condition}, "yes": {yes}, "no": {no}, "missing": {missing}{stats} , "children": [\n'
            f"{written[yes]}, \n{written[no]}\n{indent}]}}"
        )
    return written[0]


def _dot(tree: TreeView, names: Sequence[str], with_stats: bool, gamma: float) -> str:
    lines = ["digraph {\n    graph [ rankdir=TB ]\n"]
    for node, _ in from_the_root(tree):
        stats = _stats(tree, node, gamma).replace(",", "\n") if with_stats else ""
        if tree.feature[node] < 0:
            lines.append(f'    {node} [ label="leaf={_number(tree.value[node])}{stats}" ]\n')
            continue
        yes, no, missing = _children(tree, node)
        condition = _condition(tree, node, names).replace("\\", r"\\").replace('"', r"\"")
        lines.append(f'    {node} [ label="{condition}{stats}" ]')
        lines.append(f"    {node} -> {yes} [{_edge('yes', missing == yes)}]")
        lines.append(f"    {node} -> {no} [{_edge('no', missing == no)}]\n")
    return "\n".join(lines) + "}"


def _edge(word: str, of_missing: bool) -> str:
    """The label of an edge; the one that missing values take is blue, as XGBoost draws it."""
    return f'label="{word}, missing" color="#0000FF"' if of_missing else f'label="{word}" color="#FF0000"'


def dataframe(model: FittedModel, names: Sequence[str], gamma: float) -> Any:
    """All nodes as a pandas frame, tree after tree, nodes in the order of their numbers."""
    pd = load_extra("pandas", "trees_to_dataframe")
    rows: list[dict[str, Any]] = []
    for index, tree in enumerate(named_trees(model)):
        for node in range(tree.n_nodes):
            row: dict[str, Any] = {"Tree": index, "Node": node, "ID": f"{index}-{node}"}
            if tree.feature[node] < 0:
                row |= {"Feature": "Leaf", "Split": np.nan, "Yes": None, "No": None, "Missing": None}
                row |= {"Gain": tree.value[node], "Cover": tree.cover[node], "Category": None}
            else:
                codes = tree.categories_left[node]
                yes, no, missing = (f"{index}-{child}" for child in _children(tree, node))
                row |= {"Feature": names[tree.feature[node]]}
                row |= {"Split": tree.threshold[node] if codes is None else np.nan}
                row |= {"Yes": yes, "No": no, "Missing": missing, "Gain": _gain(tree, node, gamma)}
                row |= {"Cover": tree.cover[node], "Category": None if codes is None else list(codes)}
            rows.append(row)
    return pd.DataFrame(rows)


def importances(model: FittedModel, kind: str, gamma: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """One number a column, of a linear model of several outputs one an output, too; and how often each is split."""
    if kind not in _IMPORTANCES:
        raise InputError(f"importance_type must be one of {', '.join(_IMPORTANCES)}, not {kind!r}.")
    if isinstance(model.predictor, LinearModel):
        if kind != "weight":
            raise InputError(f"importance_type={kind!r} is of trees; booster='gblinear' has 'weight' only.")
        weights = model.predictor.weights.T if model.predictor.n_outputs > 1 else model.predictor.weights[0]
        return np.array(weights), np.ones(len(weights), np.int64)
    forest = model.forest
    inner = forest.feature >= 0
    used = forest.feature[inner]
    counts = np.bincount(used, minlength=forest.n_features).astype(np.int64)
    if kind == "weight":
        return np.asarray(counts, np.float64), counts
    values = 2.0 * forest.gain[inner] + gamma if kind.endswith("gain") else forest.cover[inner]
    sums = np.asarray(np.bincount(used, weights=values, minlength=forest.n_features), np.float64)
    if kind.startswith("total"):
        return sums, counts
    return np.divide(sums, counts, out=np.zeros(forest.n_features), where=counts > 0), counts


def scores(model: FittedModel, names: Sequence[str], kind: str, gamma: float) -> dict[str, Any]:
    """Importances of the columns that are split, by name; of a linear model of several outputs a list each."""
    values, counts = importances(model, kind, gamma)
    return {name: values[k].tolist() for k, name in enumerate(names) if counts[k]}


def coefficients(booster: Booster) -> NDArray[np.float64]:
    """The weights of a linear model, (columns,) or (outputs, columns)."""
    model = booster._fitted().predictor
    if not isinstance(model, LinearModel):
        raise AttributeError("coef_ is defined only for booster='gblinear'")
    return np.array(model.weights[0] if model.n_outputs == 1 else model.weights)


def intercept(booster: Booster) -> NDArray[np.float32]:
    """The bias of a linear model; of trees the prediction that boosting started from."""
    model = booster._fitted().predictor
    if isinstance(model, LinearModel):
        return model.bias.astype(np.float32)
    base = np.ascontiguousarray(model.base_score[:, None])
    chosen = booster._chosen()
    if chosen.is_of_several_classes or chosen.name == "binary:hinge":
        return base[:, 0].astype(np.float32)
    return np.atleast_1d(chosen.predictions(base)).astype(np.float32).reshape(-1)


def _linear_dump(model: LinearModel, form: str) -> str:
    bias, weights = ([f"{value:g}" for value in part.T.reshape(-1)] for part in (model.bias, model.weights))
    if form == "json":
        inside = [",\n".join(f"      {value}" for value in part) for part in (bias, weights)]
        return f'  {{ "bias": [\n{inside[0]}\n    ],\n    "weight": [\n{inside[1]}\n    ]\n  }}'
    return "\n".join(["bias:", *bias, "weight:", *weights, ""])
