from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald
from exchange_models import case, coded, hard_rows
from weald.exchange.evaluate import evaluate

pytest.importorskip("coremltools")


def scores_of_spec(spec: Any, rows: Any) -> Any:
    """The scores by the specification: prediction itself needs macOS."""
    kind = spec.WhichOneof("Type")
    trees = getattr(spec, kind).treeEnsemble
    nodes = {(node.treeId, node.nodeId): node for node in trees.nodes}
    roots = sorted({tree for tree, _ in nodes})
    found = np.tile(np.array(trees.basePredictionValue), (len(rows), 1))
    for place, row in enumerate(rows):
        for tree in roots:
            node = nodes[tree, 0]
            while node.nodeBehavior != 6:  # LeafNode
                assert node.nodeBehavior == 0  # BranchOnValueLessThanEqual
                x = row[node.branchFeatureIndex]
                goes_left = node.missingValueTracksTrueChild if np.isnan(x) else x <= node.branchFeatureValue
                node = nodes[tree, node.trueChildNodeId if goes_left else node.falseChildNodeId]
            for info in node.evaluationInfo:
                found[place, info.evaluationIndex] += info.evaluationValue
    return found


@pytest.mark.parametrize("name", ["regressor", "two_classes", "three_classes"])
def test_the_specification_has_the_same_trees(name: str, tmp_path: Path) -> None:
    import coremltools

    one = case(name)
    one.estimator.export(tmp_path / "model.mlmodel", format="coreml")
    spec = coremltools.utils.load_spec(str(tmp_path / "model.mlmodel"))
    rows = coded(one.model, hard_rows(one.model, 40))
    expected = evaluate(one.model, rows).scores
    assert np.array_equal(scores_of_spec(spec, rows), expected)
    assert [entry.name for entry in spec.description.input] == list(one.model.schema.names)


@pytest.mark.parametrize(
    ("name", "reason"), [("sets", "sets of categories"), ("poisson", "no link"), ("quantiles", "one number")]
)
def test_what_core_ml_cannot_hold_is_refused(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(weald.NotSupportedError, match=reason):
        case(name).estimator.export(tmp_path / "m.mlmodel", format="coreml")
