"""What estimators share on their way to `weald.exchange.model`: links, labels, statistics, boosted models."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from weald.encoding.model import ModelStatistics
from weald.encoding.tables import StatisticTable
from weald.estimators.shared.persistence import FittedModel
from weald.exchange.model import (
    Answer,
    Builder,
    Label,
    Lookup,
    Map,
    Normalise,
    Output,
    Slots,
    Trees,
    Weighted,
)
from weald.exchange.rows import Row, reads_for
from weald.forest.forest import Forest
from weald.linear.model import LinearModel
from weald.runtime.errors import NotSupportedError

# Combinations of categories that are asked for their statistics one by one.
_MOST_GROUPS: Final = 2**22


def labels_of(classes: NDArray[Any]) -> tuple[Label, ...]:
    """Classes as Python's own values."""
    return tuple(classes.tolist())


def lower_boosted(model: FittedModel, builder: Builder, row: Row) -> Answer:
    """A model of boosting: statistics, trees or weights, and the link."""
    reads = reads_for(builder, row, model.schema)
    if model.statistics is not None:
        reads += _statistic_slots(model.statistics, builder, reads)
    return lower_predictor(model, builder, reads)


def lower_predictor(model: FittedModel, builder: Builder, reads: Slots) -> Answer:
    """Trees or weights on columns that have been read, and the link."""
    if isinstance(model.predictor, LinearModel):
        weights = model.predictor.weights
        scores = builder.add(Weighted(reads, model.predictor.intercept, weights))
    else:
        scores = builder.add(Trees(reads, model.forest))
    classes = None if model.classes is None else labels_of(model.classes)
    return Answer(scores, (_linked(builder, scores, model.link, classes),))


def _linked(builder: Builder, scores: Slots, link: str, classes: tuple[Label, ...] | None) -> Output:
    values = _values(builder, scores, link)
    if classes is None:
        return Output(values)
    if len(scores) > 1:
        return Output(values, classes, "argmax", scores)
    return Output(builder.add(Map(values, "complement")) + values, classes, "above", scores)


def _values(builder: Builder, scores: Slots, link: str) -> Slots:
    """The predictions that belong to raw scores; see `weald.losses.links`."""
    if link == "identity":
        return scores
    if link == "normal":
        return scores[:1]
    if link in ("softmax", "one_vs_rest"):
        return builder.add(Normalise(scores, "softmax" if link == "softmax" else "one_vs_rest"))
    if link == "half_logit":
        return builder.add(Map(builder.add(Map(scores, "double")), "sigmoid"))
    if link in ("log1p_exp", "signed_square"):
        raise NotSupportedError(
            f"The model's predictions are its raw scores through {link}, which no format has; export one with another objective."
        )
    if link == "step":
        return builder.add(Map(scores, "step"))
    return builder.add(Map(scores, "exp" if link == "log" else "sigmoid"))


def _statistic_slots(statistics: ModelStatistics, builder: Builder, reads: Slots) -> Slots:
    """The derived columns, table after table."""
    slots: Slots = ()
    for table in statistics.tables:
        columns = [int(statistics.categorical[place]) for place in table.projection]
        sizes = tuple(len(statistics.schema.columns[column].categories) + 1 for column in columns)
        check_groups(sizes, [statistics.schema.names[column] for column in columns])
        slots += builder.add(_lookup(table, tuple(reads[column] for column in columns), sizes))
    return slots


def check_groups(sizes: tuple[int, ...], names: list[str]) -> None:
    """Refuse statistics of more combinations than an exported model can list."""
    if prod(sizes) > _MOST_GROUPS:
        joined = " & ".join(map(repr, names))
        raise NotSupportedError(
            f"The statistics of {joined} have {prod(sizes):,} possible combinations of categories, and an exported model "
            f"lists them: at most {_MOST_GROUPS:,}; fit with fewer columns combined (max_combination)."
        )


def _lookup(table: StatisticTable, reads: Slots, sizes: tuple[int, ...]) -> Lookup:
    codes = np.zeros((max(table.projection) + 1, prod(sizes)), np.uint32)
    for place, of_column in zip(table.projection, np.indices(sizes).reshape(len(sizes), -1), strict=True):
        codes[place] = of_column
    return lookup_of(reads, sizes, table.look_up(codes).astype(np.float64), table.default.astype(np.float64))


def lookup_of(
    reads: Slots, sizes: tuple[int, ...], cells: NDArray[np.float64], default: NDArray[np.float64]
) -> Lookup:
    """A look-up of (numbers, combinations) that lists those which differ from the default."""
    groups = np.flatnonzero((cells != default[:, None]).any(axis=0))
    return Lookup(reads, sizes, groups, cells[:, groups], default)


def classified(builder: Builder, means: Slots, classes: tuple[Label, ...], scores: Slots = ()) -> Answer:
    """A classification by probabilities, the label the most probable one; of two classes `means` may be the second's alone."""
    if len(means) == 1 and len(classes) == 2:
        means = builder.add(Map(means, "complement")) + means
    return Answer(scores, (Output(means, classes, "argmax", means),))


def mean_of_trees(builder: Builder, row: Row, schema: Any, forest: Forest, divisor: int) -> Slots:
    """The mean of what trees say."""
    return builder.add(Trees(reads_for(builder, row, schema), forest, float(divisor)))
