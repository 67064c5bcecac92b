"""Ways to draw rows, as choices."""

from __future__ import annotations

import numpy as np
import pytest

from weald.runtime.errors import InputError, NotSupportedError
from weald.sampling import BayesianRows, GradientRows, UniformRows, VarianceRows
from weald.sampling.parameters import (
    SAMPLINGS,
    Bayesian,
    ByClass,
    Goss,
    MinimalVariance,
    Sampling,
    Uniform,
)

Y = np.array([0.0, 1.0, 1.0])


def test_samplers_of_gradients_and_weights() -> None:
    assert Goss(0.3, 0.2).sampler(Y, 7, 1.0, 0.1) == GradientRows(7, 0.3, 0.2, 10)
    assert Bayesian(0.5, 3).sampler(Y, 7, 1.0, 0.1) == BayesianRows(7, 0.5, 3)
    assert MinimalVariance(0.1).sampler(Y, 7, 0.8, 0.1) == VarianceRows(7, 0.8, 0.1)


def test_uniform_samplers() -> None:
    sampler = Uniform(frequency=2).sampler(Y, 7, 0.5, 0.1)
    assert isinstance(sampler, UniformRows)
    assert (sampler._seed, sampler._shares, sampler._frequency, len(sampler._group)) == (7, (0.5,), 2, 0)
    by_class = ByClass(positive=0.9, negative=0.2, frequency=4).sampler(Y, 7, 1.0, 0.1)
    assert isinstance(by_class, UniformRows)
    assert (by_class._shares, by_class._frequency, by_class._group.tolist()) == ((0.2, 0.9), 4, [0, 1, 1])


@pytest.mark.parametrize(
    ("name", "kind", "takes_subsample", "weighs_rows", "keeps_large_gradients"),
    [
        ("uniform", Uniform, True, False, False),
        ("by_class", ByClass, False, False, False),
        ("goss", Goss, False, False, True),
        ("bayesian", Bayesian, False, True, False),
        ("mvs", MinimalVariance, True, True, False),
    ],
)
def test_names_and_what_they_say_of_themselves(
    name: str, kind: type[Sampling], takes_subsample: bool, weighs_rows: bool, keeps_large_gradients: bool
) -> None:
    sampling = SAMPLINGS.resolve(name)
    assert type(sampling) is kind
    assert sampling.takes_subsample is takes_subsample
    assert sampling.weighs_rows is weighs_rows
    assert sampling.keeps_large_gradients is keeps_large_gradients


def test_shares_of_the_same_rows_are_at_most_1() -> None:
    SAMPLINGS.resolve(Goss(0.5, 0.5))
    with pytest.raises(
        InputError, match=r"^sampling\.top_rate=0\.6 and sampling\.other_rate=0\.5 are shares"
    ):
        SAMPLINGS.resolve(Goss(0.6, 0.5))


@pytest.mark.parametrize(
    ("sampling", "subsample", "n_classes", "sentence"),
    [
        (Goss(), 0.5, 2, r"^subsample=0\.5 has no meaning with sampling=Goss\(\)"),
        (Bayesian(), 0.5, 0, r"^subsample=0\.5 has no meaning with sampling=Bayesian\(\)"),
        (ByClass(), 0.5, 2, r"^subsample=0\.5 has no meaning with sampling=ByClass\(\)"),
        (ByClass(), 1.0, 3, r"is for two classes, but y has 3"),
        (ByClass(), 1.0, 0, r"is for two classes, but this is regression"),
        (MinimalVariance(), 1.0, 0, r"set subsample below 1"),
    ],
)
def test_what_does_not_go_together(
    sampling: Sampling, subsample: float, n_classes: int, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        sampling.check_use(subsample, n_classes)


def test_what_goes_together() -> None:
    Uniform().check_use(0.5, 0)
    MinimalVariance().check_use(0.5, 0)
    ByClass().check_use(1.0, 2)
    Goss().check_use(1.0, 5)


def test_bootstrap_is_refused() -> None:
    with pytest.raises(NotSupportedError, match="use sampling='bayesian'"):
        SAMPLINGS.resolve("bootstrap")
