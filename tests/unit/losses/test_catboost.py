"""CatBoost's losses where they are not Weald's own."""

from __future__ import annotations

import numpy as np
import pytest

from weald.losses.catboost import catboost_loss


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.5, 3.0, 1.0])])
def test_hubers_hessian_is_not_the_slope_of_its_gradient(weight: np.ndarray | None) -> None:
    loss = catboost_loss("Huber", {"delta": 1.5})
    y = np.zeros(5)
    scores = np.array([[-4.0, -1.0, 0.2, 1.4, 1.6]])
    gradient, hessian, ahead = (np.empty((1, 5), np.float32) for _ in range(3))
    loss.gradients(scores, y, weight, gradient, hessian, 1)
    step = 2.0**-10
    loss.gradients(scores + step, y, weight, ahead, np.empty_like(hessian), 1)
    np.testing.assert_allclose(hessian, (ahead - gradient) / step, atol=1e-3)
    assert (hessian[0] == 0.0).tolist() == [True, False, False, False, True]
