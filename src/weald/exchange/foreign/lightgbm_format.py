"""LightGBM's models: its text files, and the JSON of `dump_model`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.data.missing import Missing
from weald.exchange.foreign.lightgbm_dump import header_of_dump, trees_of_dump
from weald.exchange.foreign.lightgbm_tree import MISSING_NAN, MISSING_ZERO, LightGBMTree
from weald.exchange.foreign.model import ForeignModel, numbered_classes, schema_of
from weald.exchange.foreign.reading import MOST_COLUMNS, MOST_OUTPUTS, integers, number_of, whole_of
from weald.exchange.foreign.trees import ForeignTree, forest_of, scaled
from weald.runtime.errors import ModelFileError, NotSupportedError

SYSTEM: Final = "LightGBM"
_LINKS: Final = {
    "regression": "identity",
    "regression_l1": "identity",
    "huber": "identity",
    "fair": "identity",
    "quantile": "identity",
    "mape": "identity",
    "poisson": "log",
    "gamma": "log",
    "tweedie": "log",
    "binary": "logit",
    "multiclass": "softmax",
    "multiclassova": "sigmoids",
    "cross_entropy": "logit",
    "cross_entropy_lambda": "log1p_exp",
    "lambdarank": "identity",
    "rank_xendcg": "identity",
    "custom": "identity",
    "": "identity",
}
_CLASSIFIERS: Final = {"binary", "multiclass", "multiclassova"}


@dataclass(frozen=True)
class _Header:
    """What the file says of the whole model."""

    n_outputs: int
    n_per_round: int
    n_features: int
    objective: str
    names: tuple[str, ...]
    infos: tuple[str, ...]
    averaged: bool
    pandas: tuple[tuple[Any, ...], ...] = field(default=())


def lightgbm_model(text: str) -> ForeignModel:
    """The model of a LightGBM text file."""
    blocks = list(_blocks(text))
    if not blocks or "max_feature_idx" not in blocks[0]:
        raise ModelFileError("The LightGBM file has no header.")
    header = _header_of(blocks[0], _pandas_of(text))
    trees = [
        LightGBMTree.of_text(block, number, header.n_features) for number, block in enumerate(blocks[1:])
    ]
    return _model_of(header, trees)


def lightgbm_dump(content: Any) -> ForeignModel:
    """The model of what LightGBM's `dump_model` gives.

    It does not say which categories pandas had, so that they are known by their codes.
    """
    fields = header_of_dump(content)
    header = _header_of(fields, _checked_pandas(content.get("pandas_categorical")))
    trees = trees_of_dump(content, header.n_features)
    return _model_of(header, trees)


def _blocks(text: str) -> Iterator[dict[str, str]]:
    """The header's fields, then those of every tree."""
    fields: dict[str, str] = {}
    for line in text.split("\n"):
        line = line.rstrip("\r")
        if line.startswith("end of trees"):
            break
        name, equals, value = line.partition("=")
        if name == "Tree" and equals:
            yield fields
            fields = {}
        elif equals:
            fields[name] = value
        elif line == "average_output":
            fields[line] = "1"
    yield fields


def _pandas_of(text: str) -> tuple[tuple[Any, ...], ...]:
    """The categories of pandas' columns, which the file's last line has as JSON."""
    place = text.rfind("\npandas_categorical:")
    if place < 0:
        return ()
    line = text[place + len("\npandas_categorical:") :].split("\n")[0]
    try:
        return _checked_pandas(json.loads(line))
    except (ValueError, RecursionError):
        raise ModelFileError("The LightGBM file's pandas_categorical is not valid JSON.") from None


def _checked_pandas(stored: Any) -> tuple[tuple[Any, ...], ...]:
    if stored is None:
        return ()
    columns = isinstance(stored, list) and all(isinstance(column, list) for column in stored)
    if not columns or not all(isinstance(value, str | int | float) for column in stored for value in column):
        raise ModelFileError("The LightGBM model's pandas_categorical must be lists of categories.")
    if any(len(set(column)) < len(column) for column in stored):
        raise ModelFileError("The LightGBM model's pandas_categorical has a category twice.")
    return tuple(map(tuple, stored))


def _header_of(fields: Mapping[str, str], pandas: tuple[tuple[Any, ...], ...]) -> _Header:
    n_features = whole_of(fields.get("max_feature_idx"), "the file's max_feature_idx", 0, MOST_COLUMNS) + 1
    n_per_round = whole_of(
        fields.get("num_tree_per_iteration", 1), "the file's num_tree_per_iteration", 1, MOST_OUTPUTS
    )
    n_outputs = whole_of(fields.get("num_class", 1), "the file's num_class", 1, MOST_OUTPUTS)
    return _Header(
        n_outputs,
        n_per_round,
        n_features,
        fields.get("objective", ""),
        tuple(fields.get("feature_names", "").split(" ")),
        tuple(fields.get("feature_infos", "").split(" ")),
        "average_output" in fields,
        pandas,
    )


def _model_of(header: _Header, trees: Sequence[LightGBMTree]) -> ForeignModel:
    name, _, settings = header.objective.partition(" ")
    if name not in _LINKS:
        raise NotSupportedError(
            f"the LightGBM model's objective is {header.objective!r:.60}, which is not known here."
        )
    n_outputs = header.n_per_round
    if len(trees) % n_outputs:
        raise ModelFileError(
            f"The LightGBM file has {len(trees)} trees, which are no whole rounds of {n_outputs}."
        )
    missing = _missing_of(trees)
    dictionaries = _dictionaries(header, trees)
    sizes = [0 if own is None else len(own) for own in dictionaries]
    codes = [None if own is None else {value: code for code, value in enumerate(own)} for own in dictionaries]
    coded = [None] * len(sizes) if header.pandas else codes
    link, factor = _link_of(name, settings)
    found: list[ForeignTree] = []
    for number, tree in enumerate(trees):
        found.append(scaled(tree.as_foreign(number, coded, sizes), factor))
    forest = forest_of(found, header.n_features, np.zeros(n_outputs), averaged=header.averaged)
    classes = numbered_classes(max(2, n_outputs)) if name in _CLASSIFIERS else None
    named = not _are_made_up(header.names)
    schema = schema_of(header.names, dictionaries, named)
    return ForeignModel(SYSTEM, header.objective or "custom", forest, schema, link, classes, missing)


def lightgbm_settings(text: str) -> dict[str, str]:
    """The parameters of the training that a LightGBM text file lists, as text."""
    begin = text.rfind("\nparameters:\n")
    found = {}
    for line in text[begin:].split("\n")[2:] if begin >= 0 else ():
        if line.startswith("end of parameters"):
            break
        name, colon, value = line.strip("[]\r").partition(":")
        if colon:
            found[name] = value.strip()
    return found


def lightgbm_ranges(text: str) -> list[tuple[float | None, float | None]]:
    """The least and the largest number of every column that a LightGBM text file has; None for what is no number."""
    header = next(_blocks(text))
    found: list[tuple[float | None, float | None]] = []
    for info in header.get("feature_infos", "").split(" "):
        low, _, high = info.strip("[]").partition(":")
        if info.startswith("["):
            found.append(
                (number_of(low, "a column's least number"), number_of(high, "a column's largest number"))
            )
        else:
            found.append((None, None))
    return found


def _are_made_up(names: Sequence[str]) -> bool:
    """Whether LightGBM has made the names itself."""
    return all(name == f"Column_{place}" for place, name in enumerate(names))


def _link_of(name: str, settings: str) -> tuple[str, float]:
    """The link, and what scores are multiplied by before it."""
    if name == "regression" and "sqrt" in settings.split():
        return "signed_square", 1.0
    factor = 1.0
    for setting in settings.split():
        key, _, value = setting.partition(":")
        if key == "sigmoid":
            factor = number_of(value, "the objective's sigmoid")
    if factor <= 0.0:
        raise ModelFileError(f"The objective's sigmoid is {factor}; it must be above 0.")
    return _LINKS[name], factor


def _missing_of(trees: Sequence[LightGBMTree]) -> Missing:
    """Which numbers of a table are missing, by what the splits say."""
    kinds = {kind for tree in trees for kind in tree.missing_kinds()}
    if {MISSING_ZERO, MISSING_NAN} <= kinds:
        raise NotSupportedError(
            "the LightGBM model takes zeros for missing in one split and NaN alone in another; a Weald model has one rule."
        )
    return "zero" if MISSING_ZERO in kinds else "nan"


def _dictionaries(header: _Header, trees: Sequence[LightGBMTree]) -> list[tuple[Any, ...] | None]:
    """The categories of every column; those of pandas where the file has them, otherwise whole numbers."""
    is_category = np.zeros(header.n_features, np.bool_)
    for tree in trees:
        is_category[tree.categorical_columns()] = True
    of_infos = [_categories_of(info) for info in header.infos]
    of_infos += [None] * (header.n_features - len(of_infos))
    for column, info in enumerate(of_infos[: header.n_features]):
        is_category[column] |= info is not None
    if header.pandas and len(header.pandas) == int(is_category.sum()):
        parts = iter(header.pandas)
        return [next(parts) if is_one else None for is_one in is_category.tolist()]
    if header.pandas:
        return _pandas_by_size(header, is_category, of_infos, trees)
    found: list[tuple[Any, ...] | None] = []
    in_trees = _categories_in_trees(trees, header.n_features, is_category)
    for column, is_one in enumerate(is_category.tolist()):
        known = set(of_infos[column] or ()) | in_trees[column]
        found.append(tuple(sorted(value for value in known if value >= 0)) if is_one else None)
    return found


def _pandas_by_size(
    header: _Header,
    is_category: NDArray[np.bool_],
    of_infos: Sequence[tuple[int, ...] | None],
    trees: Sequence[LightGBMTree],
) -> list[tuple[Any, ...] | None]:
    """Where a column of pandas' had one category alone, LightGBM forgets that it was categorical: those are passed over."""
    columns = np.flatnonzero(is_category).tolist()
    several = [own for own in header.pandas if len(own) > 1]
    if len(several) != len(columns):
        raise ModelFileError(
            f"The LightGBM model has {len(header.pandas)} lists of categories for {len(columns)} columns."
        )
    found: list[tuple[Any, ...] | None] = [None] * header.n_features
    for column, own in zip(columns, several, strict=True):
        found[column] = own
    return found


def _categories_of(info: str) -> tuple[int, ...] | None:
    """The categories of a column by the file's feature_infos; None: it is numeric, or constant."""
    if not info or info == "none" or info.startswith("["):
        return None
    parts = [number_of(part, "a category in feature_infos") for part in info.split(":")]
    return tuple(integers(parts, "the categories in feature_infos").tolist())


def _categories_in_trees(
    trees: Sequence[LightGBMTree], n_features: int, is_category: NDArray[np.bool_]
) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(n_features)]
    if is_category.any():
        for tree in trees:
            for node, codes in tree.sets.items():
                found[int(tree.feature[node])].update(codes.tolist())
    return found
