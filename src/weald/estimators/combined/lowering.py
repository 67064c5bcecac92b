"""Voting, stacking and blending as programs of `weald.exchange.model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weald.data import Schema
from weald.data.missing import Missing
from weald.estimators.classical.lowering import code_slot, lower_member, missing_of, probability_slots
from weald.estimators.shared.exporting import Exporting, exportable, schemas_of
from weald.estimators.shared.lowering import labels_of
from weald.exchange.model import (
    Answer,
    Average,
    Builder,
    Choose,
    Label,
    Map,
    Normalise,
    Output,
    Slots,
    Votes,
    Weighted,
    joined,
)
from weald.exchange.rows import Row, numbers_row, united
from weald.runtime.errors import NotSupportedError
from weald.training.combining.layers import Layer

if TYPE_CHECKING:
    from weald.estimators.combined.final_estimator import FinalEstimator
    from weald.estimators.combined.voting import VotingClassifier, VotingRegressor

# Final estimators of scikit-learn's that are sums of weights times numbers; those of stacking's defaults are among them.
_LINEAR_VALUES = frozenset({"LinearRegression", "Ridge", "RidgeCV"})


def schema_of_members(members: Sequence[Any]) -> Schema:
    """The columns of all members."""
    return united(schemas_of([exportable(member, "A member") for member in members]))


def missing_of_members(members: Sequence[Any]) -> Missing:
    """Which numbers are missing to all of them."""
    return missing_of(members)


def lower_voted_classes(model: VotingClassifier, builder: Builder, row: Row) -> Answer:
    """Averaged probabilities, or shares of votes; members know classes by their positions."""
    classes = labels_of(model.classes_)
    codes = tuple(range(len(classes)))
    weights = tuple(model.weights_.tolist())
    if model.ties == "random":
        raise NotSupportedError(
            "ties='random' draws lots from a hash of the row, which an exported model cannot; use ties='first'."
        )
    outputs = [lower_member(member, builder, row).outputs[0] for member in model.estimators_]
    if model.voting == "soft":
        parts = [probability_slots(builder, output, codes) for output in outputs]
        asked = () if model.weights is None else weights
        means = builder.add(Average(joined(parts), len(parts), asked))
        return Answer((), (Output(means, classes, "argmax", means),))
    votes = tuple(code_slot(builder, output, codes) for output in outputs)
    shares = builder.add(Votes(votes, weights, len(classes)))
    if model.voting == "majority":
        return Answer((), (Output((), classes, "majority", shares, model.refusal_label),))
    return Answer((), (Output((), classes, "argmax", shares),))


def lower_voted_values(model: VotingRegressor, builder: Builder, row: Row) -> Answer:
    """The members' predictions, averaged."""
    parts = [lower_member(member, builder, row).outputs[0].values for member in model.estimators_]
    asked = () if model.weights is None else tuple(model.weights_.tolist())
    return Answer((), (Output(builder.add(Average(joined(parts), len(parts), asked))),))


def lower_stack(model: FinalEstimator, builder: Builder, row: Row) -> Answer:
    """Layers of members, and the final estimator over what they say."""
    classes = getattr(model, "classes_", None)
    if isinstance(classes, list):
        raise NotSupportedError("A stack with several labels a row cannot be exported.")
    stack = model._stack
    inputs = row
    for layer in stack.layers:
        parts = [_layer_slots(layer, place, builder, inputs) for place in range(len(layer.names))]
        inputs = numbers_row(joined(parts))
        if stack.passthrough:
            if any(column.kind == "categorical" for column in row.columns):
                raise NotSupportedError("passthrough=True of a table with categories cannot be exported.")
            inputs = inputs.beside(row)
    answer = _lower_final(model.final_estimator_, builder, inputs)
    (output,) = answer.outputs
    if classes is None or output.classes is None:
        return answer
    labels = labels_of(classes)
    named = tuple(labels[int(code)] for code in output.classes)
    return Answer(answer.scores, (Output(output.values, named, output.rule, output.decided),))


def _layer_slots(layer: Layer, place: int, builder: Builder, row: Row) -> Slots:
    """What a member of a layer says: of several models, one a fold, the mean, or the label most of them say."""
    method, models = layer.methods[place], layer.models[place]
    codes = None if layer.classes is None else labels_of(layer.classes)
    answers = [lower_member(model, builder, row) for model in models]
    said = [_said(builder, answer, method, codes) for answer in answers]
    if len(said) == 1:
        return said[0]
    if codes is not None and method == "predict":
        votes = builder.add(Votes(joined(said), (1.0,) * len(said), len(codes), rounded=False))
        return builder.add(Choose(votes))
    return builder.add(Average(joined(said), len(said)))


def _said(builder: Builder, answer: Answer, method: str, codes: Sequence[Label] | None) -> Slots:
    (output,) = answer.outputs
    if output.classes is None:
        return output.values
    assert codes is not None
    if method == "predict":
        return (code_slot(builder, output, codes),)
    if method == "predict_proba":
        slots = probability_slots(builder, output, codes)
        return slots[1:] if len(codes) == 2 else slots
    return answer.scores


def _lower_final(final: Any, builder: Builder, row: Row) -> Answer:
    if isinstance(final, Exporting):
        return lower_member(final, builder, row)
    kind = type(final).__name__ if type(final).__module__.startswith("sklearn.") else ""
    if kind in _LINEAR_VALUES:
        weights = np.atleast_2d(np.asarray(final.coef_, np.float64))
        start = np.broadcast_to(np.asarray(final.intercept_, np.float64), (len(weights),)).copy()
        return Answer((), (Output(builder.add(Weighted(row.slots, start, weights))),))
    if kind == "LogisticRegression":
        scores = builder.add(Weighted(row.slots, final.intercept_.astype(float), final.coef_.astype(float)))
        classes = labels_of(final.classes_)
        if len(scores) > 1:
            return Answer(
                scores, (Output(builder.add(Normalise(scores, "softmax")), classes, "argmax", scores),)
            )
        second = builder.add(Map(scores, "sigmoid"))
        values = builder.add(Map(second, "complement")) + second
        return Answer(scores, (Output(values, classes, "above", scores),))
    raise NotSupportedError(
        f"final_estimator is a {type(final).__name__}; a stack is exported with a final estimator of Weald's, or "
        "scikit-learn's LogisticRegression, LinearRegression, Ridge or RidgeCV."
    )


def first_models(model: FinalEstimator) -> list[Any]:
    """The members that read the table: all models of the first layer."""
    return [one for models in model._stack.layers[0].models for one in models]
