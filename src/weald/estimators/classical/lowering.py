"""Trees, forests, bagging and AdaBoost as programs of `weald.exchange.model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weald.data.missing import Missing
from weald.estimators.shared.exporting import exportable
from weald.estimators.shared.lowering import classified, labels_of, mean_of_trees
from weald.exchange.model import (
    Answer,
    Average,
    Builder,
    Choose,
    Constant,
    Divide,
    Label,
    Lookup,
    Map,
    Median,
    Normalise,
    Output,
    Slots,
    Trees,
    TreeValues,
    Votes,
    joined,
)
from weald.exchange.rows import Row, one_missing, reads_for
from weald.runtime.errors import NotSupportedError
from weald.training.classical.adaboost import label_votes

if TYPE_CHECKING:
    from weald.estimators.classical.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from weald.estimators.classical.bagging import BaggingClassifier, BaggingRegressor
    from weald.estimators.classical.tree_models import TreeModel


def lower_trees(model: TreeModel, builder: Builder, row: Row) -> Answer:
    """A tree or a forest: the mean of its trees' leaves."""
    means = mean_of_trees(builder, row, model.schema, model.forest, model.forest.n_trees)
    if model.classes is None:
        return Answer((), (Output(means),))
    if len(model.classes) == 1:
        classes = labels_of(model.classes[0])
        return classified(builder, builder.add(Constant((1.0,))) if len(classes) == 1 else means, classes)
    outputs, first = [], 0
    for found in model.classes:
        part = means[first : first + len(found)]
        outputs.append(Output(part, labels_of(found), "argmax", part))
        first += len(found)
    return Answer((), tuple(outputs))


def missing_of(members: Sequence[Any]) -> Missing:
    """Which numbers are missing to all members."""
    return one_missing([exportable(member, "A member")._exchanged_missing() for member in members])


def lower_member(member: Any, builder: Builder, row: Row) -> Answer:
    """What a member says; it must be ours, with one label a row."""
    answer = exportable(member, "A member")._lower(builder, row)
    if len(answer.outputs) > 1:
        raise NotSupportedError("Members with several labels a row cannot be exported as parts of a model.")
    return answer


def code_slot(builder: Builder, output: Output, classes: Sequence[Label]) -> int:
    """The position among `classes` of the label that a member predicts."""
    assert output.classes is not None
    if output.rule == "majority":
        raise NotSupportedError(
            "A member that refuses rows (voting='majority') cannot be exported as a part of a model."
        )
    if output.rule == "above":
        (code,) = builder.add(Map(output.decided, "choose_above"))
    else:
        (code,) = builder.add(Choose(output.decided))
    places = [list(classes).index(label) for label in output.classes]
    if places == list(range(len(places))):
        return code
    numbers = np.array([places], np.float64)
    size = len(places)
    (code,) = builder.add(Lookup((code,), (size + 1,), np.arange(size), numbers, np.array([np.nan])))
    return code


def probability_slots(builder: Builder, output: Output, classes: Sequence[Label]) -> Slots:
    """A member's probabilities of `classes`; 0 for those that it does not know."""
    if output.classes is None or not output.values:
        raise NotSupportedError("A member without probabilities cannot be exported where they are averaged.")
    known = dict(zip(output.classes, output.values, strict=True))
    if len(known) == len(classes):
        return tuple(known[label] for label in classes)
    (zero,) = builder.add(Constant((0.0,)))
    return tuple(known.get(label, zero) for label in classes)


def lower_bagged_classes(model: BaggingClassifier, builder: Builder, row: Row) -> Answer:
    """The mean of members' probabilities, or the shares of their votes."""
    classes, members = labels_of(model.classes_), len(model.estimators_)
    if model._joined is not None:
        means = builder.add(Trees(reads_for(builder, row, model._schema), model._joined, float(members)))
        return classified(builder, means, classes)
    answers = _of_members(model, builder, row)
    outputs = [answer.outputs[0] for answer in answers]
    if model.voting == "soft" and all(output.values for output in outputs):
        parts = [probability_slots(builder, output, classes) for output in outputs]
        return classified(builder, builder.add(Average(joined(parts), members)), classes)
    codes = tuple(code_slot(builder, output, classes) for output in outputs)
    shares = builder.add(Votes(codes, (1.0,) * members, len(classes), rounded=False))
    return classified(builder, builder.add(Divide(shares, float(members))), classes)


def lower_bagged_values(model: BaggingRegressor, builder: Builder, row: Row) -> Answer:
    """The mean of members' predictions."""
    members = len(model.estimators_)
    if model._joined is not None:
        means = builder.add(Trees(reads_for(builder, row, model._schema), model._joined, float(members)))
        return Answer((), (Output(means),))
    parts = [answer.outputs[0].values for answer in _of_members(model, builder, row)]
    return Answer((), (Output(builder.add(Average(joined(parts), members))),))


def _of_members(model: Any, builder: Builder, row: Row) -> list[Answer]:
    whole = Row(model._schema.columns, model._schema.named, reads_for(builder, row, model._schema))
    return [
        lower_member(member, builder, whole.take(columns.tolist()))
        for member, columns in zip(model.estimators_, model.estimators_features_, strict=True)
    ]


def lower_boosted_classes(model: AdaBoostClassifier, builder: Builder, row: Row) -> Answer:
    """AdaBoost's weighted vote, and probabilities from it."""
    classes = labels_of(model.classes_)
    rounds = len(model.estimators_)
    if model._joined is not None:
        sums = builder.add(Trees(reads_for(builder, row, model._schema), model._joined))
    else:
        sums = _vote_sums(model, classes, builder, row)
    decision = builder.add(Divide(sums, float(model.estimator_weights_[:rounds].sum())))
    if len(classes) == 2:
        second = builder.add(Map(decision, "sigmoid"))
        values = builder.add(Map(second, "complement")) + second
        return Answer(decision, (Output(values, classes, "above", decision),))
    values = builder.add(Normalise(builder.add(Divide(decision, len(classes) - 1.0)), "softmax"))
    return Answer(decision, (Output(values, classes, "argmax", decision),))


def _vote_sums(model: AdaBoostClassifier, classes: tuple[Label, ...], builder: Builder, row: Row) -> Slots:
    """The sum of what members other than our trees vote, weighted."""
    if model.algorithm != "SAMME":
        raise NotSupportedError(
            "algorithm='SAMME.R' over members other than decision trees takes logarithms of their probabilities, which an "
            "exported model cannot; use algorithm='SAMME'."
        )
    votes = label_votes(np.arange(len(classes)), len(classes)).T
    parts = []
    for member, weight in zip(model.estimators_, model.estimator_weights_, strict=False):
        code = code_slot(builder, lower_member(member, builder, row).outputs[0], classes)
        cells: NDArray[np.float64] = float(weight) * votes
        cells = cells[1:] - cells[:1] if len(classes) == 2 else cells
        size = len(classes)
        parts.append(builder.add(Lookup((code,), (size + 1,), np.arange(size), cells, np.zeros(len(cells)))))
    return builder.add(Average(joined(parts), len(parts), (1.0,) * len(parts)))


def lower_boosted_values(model: AdaBoostRegressor, builder: Builder, row: Row) -> Answer:
    """AdaBoost.R2's weighted median."""
    if model._joined is not None:
        values = builder.add(TreeValues(reads_for(builder, row, model._schema), model._joined))
    else:
        values = joined(
            [lower_member(member, builder, row).outputs[0].values for member in model.estimators_]
        )
    weights = tuple(model.estimator_weights_[: len(values)].tolist())
    return Answer((), (Output(builder.add(Median(values, weights))),))
