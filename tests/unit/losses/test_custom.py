"""A loss given as a Python function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.losses import make_loss
from weald.runtime.errors import InputError


def squared(y: Any, raw_scores: Any) -> Any:
    return raw_scores - y, np.ones_like(raw_scores)


def fill(function: Any, weight: Any = None, outputs: int = 1, rows: int = 4) -> tuple[Any, Any]:
    loss = make_loss(function, n_outputs=outputs, link="identity")
    scores = np.arange(outputs * rows, dtype=np.float64).reshape(outputs, rows)
    gradient = np.full(scores.shape, np.nan, dtype=np.float32)
    hessian = np.full(scores.shape, np.nan, dtype=np.float32)
    loss.gradients(scores, np.ones(rows), weight, gradient, hessian, 2)
    return gradient, hessian


def test_a_function_gives_the_gradients_of_the_built_in_loss_times_the_weights() -> None:
    gradient, hessian = fill(squared, weight=np.array([1.0, 2.0, 0.0, 0.5]))
    assert gradient.tolist() == [[-1.0, 0.0, 0.0, 1.0]]
    assert hessian.tolist() == [[1.0, 2.0, 0.0, 0.5]]


def test_several_outputs_arrive_and_return_one_row_of_the_table_each() -> None:
    def function(y: Any, raw_scores: Any) -> Any:
        assert raw_scores.shape == (4, 3)
        return raw_scores, np.ones_like(raw_scores)

    gradient, _ = fill(function, outputs=3, weight=np.array([1.0, 2.0, 1.0, 1.0]))
    assert gradient.tolist() == [[0.0, 2.0, 2.0, 3.0], [4.0, 10.0, 6.0, 7.0], [8.0, 18.0, 10.0, 11.0]]


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (np.ones(4), "must return a tuple"),
        ((np.ones(3), np.ones(4)), r"gradient of shape \(4,\), not \(3,\)"),
        ((np.ones(4), np.ones((4, 1))), r"hessian of shape \(4,\), not \(4, 1\)"),
        ((np.array([1.0, np.nan, 1.0, 1.0]), np.ones(4)), "finite gradient .*row 1 has nan"),
        ((np.ones(4), np.array([1.0, 1.0, np.inf, 1.0])), "finite hessian .*row 2 has inf"),
        ((np.full(4, 1e300), np.ones(4)), "finite gradient .*row 0 has 1e\\+300"),
        ((np.ones(4), np.array([1.0, 1.0, 1.0, -1.0])), "no hessian below 0, but row 3"),
        ((["a"] * 4, np.ones(4)), "must return numbers as gradient"),
    ],
)
def test_a_wrong_result_is_refused_in_a_sentence_that_names_the_function(result: Any, sentence: str) -> None:
    def my_loss(y: Any, raw_scores: Any) -> Any:
        return result

    with pytest.raises(InputError, match=f"'my_loss' .*{sentence}"):
        fill(my_loss)


def test_the_function_cannot_change_the_scores_or_labels() -> None:
    def vandal(y: Any, raw_scores: Any) -> Any:
        raw_scores[0] = 5.0

    with pytest.raises(ValueError, match="read-only"):
        fill(vandal)


def test_scores_start_at_zero_and_the_link_gives_predictions() -> None:
    loss = make_loss(squared, link="logit")
    assert loss.initial_score(np.ones(3), None).tolist() == [0.0]
    assert loss.respond(np.zeros((1, 2))).tolist() == [0.5, 0.5]
    assert loss.default_metric == "logloss"
    assert make_loss(squared, n_outputs=2).respond(np.array([[1.0], [2.0]])).tolist() == [[1.0, 2.0]]
    with pytest.raises(InputError, match="row 1 has nan"):
        loss.check_target(np.array([0.0, np.nan]))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"link": "probit"},
            "link must be one of half_logit, identity, log, log1p_exp, logit, one_vs_rest, sigmoids, signed_square, softmax, "
            "step, not 'probit'",
        ),
        ({"link": "logit", "n_outputs": 2}, "link='logit' needs n_outputs of 1, not 2"),
        ({"link": "softmax"}, "link='softmax' needs n_outputs of 2 or more, not 1"),
        ({"n_outputs": 0}, "n_outputs must be 1 or more"),
        ({"huber_delta": 1.0}, "has no option 'huber_delta'; it takes n_outputs, link"),
    ],
)
def test_a_wrong_option_of_a_function_is_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make_loss(squared, **options)


def test_something_that_is_neither_name_nor_function_is_refused() -> None:
    with pytest.raises(InputError, match="loss must be a name or a function"):
        make_loss(3)  # type: ignore[arg-type]
