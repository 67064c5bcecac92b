"""A forest as a Core ML tree ensemble, through coremltools; its thresholds and leaves are float64."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from weald.exchange.model import Model
from weald.exchange.plain import PlainModel, plain_model, refuse_categories, refuse_link
from weald.runtime.errors import NotSupportedError
from weald.runtime.extras import load_extra

_TRANSFORMS: Final = {
    "identity": "NoTransform",
    "logit": "Classification_SoftMaxWithZeroClassReference",
    "softmax": "Classification_SoftMax",
}


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One .mlmodel file."""
    return {path: coreml_spec(model).SerializeToString()}


def coreml_spec(model: Model) -> Any:
    """The model as a Core ML specification (a protocol buffer)."""
    plain = plain_model(model, "coreml")
    refuse_categories(plain, "coreml")
    refuse_link(plain, "coreml", ("identity", "logit", "softmax"))
    if plain.classes is not None and plain.link == "identity":
        raise NotSupportedError(
            "format='coreml' has no classes whose scores are probabilities; export as 'onnx'."
        )
    tools = load_extra("coremltools.models.tree_ensemble", "format='coreml'")
    datatypes = load_extra("coremltools.models", "format='coreml'").datatypes
    names = [(name, datatypes.Double()) for name in plain.schema.names]
    builder = _builder(plain, tools, names)
    builder.set_default_prediction_value([0.0] * plain.forest.n_outputs)
    builder.set_post_evaluation_transform(_TRANSFORMS[plain.link])
    for number, tree in enumerate(plain.trees()):
        for node in range(len(tree.feature)):
            if tree.is_leaf[node]:
                builder.add_leaf_node(number, node, {tree.output: float(tree.value[node]) / plain.averaged})
                continue
            left = int(tree.left[node])
            builder.add_branch_node(
                number,
                node,
                int(tree.feature[node]),
                float(tree.threshold[node]),
                "BranchOnValueLessThanEqual",
                left,
                left + 1,
                missing_value_tracks_true_child=bool(tree.missing_left[node]),
            )
    return builder.spec


def _builder(plain: PlainModel, tools: Any, names: Any) -> Any:
    if plain.classes is not None:
        labels: list[Any] = [
            str(label) if isinstance(label, bool | float) else label for label in plain.classes
        ]
        return tools.TreeEnsembleClassifier(names, labels, "label")
    if plain.forest.n_outputs > 1:
        raise NotSupportedError(
            "format='coreml' predicts one number or one class; export the model as 'json' or 'onnx'."
        )
    return tools.TreeEnsembleRegressor(names, "value")
