"""A forest as a treelite model in float64, through treelite's own builder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from weald.exchange.model import Model
from weald.exchange.plain import PlainModel, plain_model, refuse_link
from weald.runtime.extras import load_extra

_POSTPROCESSORS: Final = {
    "identity": "identity",
    "log": "exponential",
    "logit": "sigmoid",
    "half_logit": "sigmoid",
    "softmax": "softmax",
    "sigmoids": "multiclass_ova",
}


def write(model: Model, path: Path) -> dict[Path, bytes]:
    """One file, treelite's checkpoint."""
    return {path: treelite_model(model).serialize_bytes()}


def treelite_model(model: Model) -> Any:
    """The model as a `treelite.Model`."""
    plain = plain_model(model, "treelite")
    refuse_link(plain, "treelite", tuple(_POSTPROCESSORS))  # type: ignore[arg-type]
    builder = _builder(plain, load_extra("treelite.model_builder", "format='treelite'"))
    for tree in plain.trees():
        builder.start_tree()
        for node in range(len(tree.feature)):
            builder.start_node(node)
            codes, left = tree.categories_left[node], int(tree.left[node])
            if tree.is_leaf[node]:
                builder.leaf(float(tree.value[node]))
            elif codes is None:
                builder.numerical_test(
                    feature_id=int(tree.feature[node]),
                    threshold=float(tree.threshold[node]),
                    default_left=bool(tree.missing_left[node]),
                    opname="<=",
                    left_child_key=left,
                    right_child_key=left + 1,
                )
            else:
                builder.categorical_test(
                    feature_id=int(tree.feature[node]),
                    default_left=bool(tree.missing_left[node]),
                    category_list=list(codes),
                    category_list_right_child=False,
                    left_child_key=left,
                    right_child_key=left + 1,
                )
            builder.gain(float(tree.gain[node]))
            builder.sum_hess(float(tree.cover[node]))
            builder.data_count(int(tree.count[node]))
            builder.end_node()
        builder.end_tree()
    return builder.commit()


def _builder(plain: PlainModel, api: Any) -> Any:
    outputs, trees = plain.forest.n_outputs, plain.trees()
    as_targets = outputs > 1 and plain.classes is None and plain.link == "identity"
    chosen = [tree.output for tree in trees]
    task = "kRegressor"
    if plain.classes is not None and plain.link != "identity":
        task = "kBinaryClf" if outputs == 1 else "kMultiClf"
    return api.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=api.Metadata(
            num_feature=plain.schema.n_columns,
            task_type=task if outputs == 1 or as_targets else "kMultiClf",
            average_tree_output=plain.averaged != 1.0,
            num_target=outputs if as_targets else 1,
            num_class=[1] * outputs if as_targets else [outputs],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=api.TreeAnnotation(
            num_tree=len(trees),
            target_id=chosen if as_targets else [0] * len(trees),
            class_id=[0] * len(trees) if as_targets else chosen,
        ),
        postprocessor=api.PostProcessorFunc(
            name=_POSTPROCESSORS[plain.link], sigmoid_alpha=2.0 if plain.link == "half_logit" else 1.0
        ),
        base_scores=[0.0] * outputs,
    )
