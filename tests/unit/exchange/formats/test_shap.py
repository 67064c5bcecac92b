from __future__ import annotations

import numpy as np
import pytest

import weald
from exchange_models import case, numbers


@pytest.mark.parametrize("name", ["regressor", "three_classes", "two_classes", "averaged", "forest", "tree"])
def test_shaps_explainer_finds_our_values(name: str) -> None:
    shap = pytest.importorskip("shap")
    estimator = case(name).estimator
    rows = numbers(40, seed=9)
    explainer = shap.TreeExplainer(estimator.to_shap())
    found = np.asarray(explainer.shap_values(rows, check_additivity=False))
    own = estimator.shap_values(rows)
    expected, base = own[..., :-1], own[..., -1]
    if expected.ndim == 3:
        expected = expected.swapaxes(1, 2)
    scale = np.abs(expected).max()
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * scale)
    assert np.allclose(explainer.expected_value, base[0], rtol=1e-9, atol=1e-9 * scale)


def test_what_shap_cannot_hold_is_refused() -> None:
    with pytest.raises(weald.NotSupportedError, match="sets of categories"):
        case("sets").estimator.to_shap()
    with pytest.raises(weald.NotSupportedError, match="combines several models"):
        case("voting_values").estimator.to_shap()
