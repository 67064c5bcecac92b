"""Losses with parameters, as choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weald.losses import LOSSES, make_loss
from weald.losses.parameters import LOSS_CHOICES, Fair, Huber, LossChoice, PseudoHuber, Quantile, Tweedie
from weald.runtime.errors import InputError


@pytest.mark.parametrize(
    ("choice", "name", "options"),
    [
        (Quantile(alpha=0.9), "quantile", {"quantile_alpha": 0.9}),
        (Quantile(alpha=[0.1, 0.9]), "quantile", {"quantile_alpha": [0.1, 0.9]}),
        (Quantile(alpha=np.array([0.1, 0.9])), "quantile", {"quantile_alpha": [0.1, 0.9]}),
        (Huber(delta=2.0), "huber", {"huber_delta": 2.0}),
        (PseudoHuber(delta=2.0), "pseudo_huber", {"huber_delta": 2.0}),
        (Fair(scale=2.0), "fair", {"fair_scale": 2.0}),
        (Tweedie(power=1.2), "tweedie", {"tweedie_power": 1.2}),
    ],
)
def test_a_choice_makes_its_loss(choice: LossChoice, name: str, options: dict[str, Any]) -> None:
    choice.validate()
    assert repr(choice.make()) == repr(make_loss(name, **options))


@pytest.mark.parametrize("kind", LOSS_CHOICES.classes)
def test_defaults_are_those_of_the_name(kind: type[LossChoice]) -> None:
    name = LOSS_CHOICES.names_of(kind)[0]
    assert repr(kind().make()) == repr(make_loss(name))


@pytest.mark.parametrize("name", ["auto", *LOSSES])
def test_every_name_is_known(name: str) -> None:
    resolved = LOSS_CHOICES.resolve(name)
    assert resolved == name or isinstance(resolved, LossChoice)


@pytest.mark.parametrize("alpha", [0.0, 1.0, "0.5", None, True, [], [0.5, 1.0], [0.5, "a"], float("nan")])
def test_a_quantile_lies_between_0_and_1(alpha: Any) -> None:
    with pytest.raises(InputError, match=r"^loss\.alpha must"):
        LOSS_CHOICES.resolve(Quantile(alpha=alpha))


@pytest.mark.parametrize(
    "choice", [Huber(0), PseudoHuber(-1.0), Fair(0.0), Tweedie(1.0), Tweedie(2.0), Tweedie(3)]
)
def test_values_out_of_range_are_refused(choice: LossChoice) -> None:
    with pytest.raises(InputError, match=r"^loss\.(delta|scale|power) must"):
        LOSS_CHOICES.resolve(choice)


def test_a_function_stays_a_function() -> None:
    def loss(y: Any, scores: Any) -> Any:
        return scores - y, np.ones_like(y)

    assert LOSS_CHOICES.resolve(loss) is loss
    with pytest.raises(InputError, match=r"did you mean 'squared'\?$"):
        LOSS_CHOICES.resolve("squard")
