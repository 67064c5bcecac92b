"""Parameters from texts of the command line."""

from __future__ import annotations

from typing import Any

import pytest

from weald.binning.parameters import Approximate, Bins
from weald.losses.parameters import Quantile
from weald.params.settings import parse_setting, parse_settings
from weald.runtime.errors import InputError
from weald.training.boosting.parameters import BoostingParameters, Dart, Ordered


def parsed(*settings: str) -> dict[str, Any]:
    return parse_settings(BoostingParameters, settings)


def test_plain_parameters_and_names() -> None:
    assert parsed("n_estimators=20", "booster = dart", "max_leaves=none", "learning_rate=auto") == {
        "n_estimators": 20,
        "booster": "dart",
        "max_leaves": None,
        "learning_rate": "auto",
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (("booster=dart", "booster.rate_drop=0.2"), {"booster": Dart(rate_drop=0.2)}),
        (("booster.rate_drop=0.2", "booster=dart"), {"booster": Dart(rate_drop=0.2)}),
        (
            ("booster=dart", "booster.rate_drop=0.2", "booster.one_drop=true"),
            {"booster": Dart(rate_drop=0.2, one_drop=True)},
        ),
        (("bins=63",), {"bins": 63}),
        (("bins=63", "bins.use_missing=false"), {"bins": Bins(max_bins=63, use_missing=False)}),
        (("bins.max_bins=31",), {"bins": Bins(max_bins=31)}),
        (('bins.by_column={"age": 7}',), {"bins": Bins(by_column={"age": 7})}),
        (("loss=quantile", "loss.alpha=[0.1, 0.9]"), {"loss": Quantile(alpha=[0.1, 0.9])}),
        (("loss=logistic",), {"loss": "logistic"}),
        (("split_finder=approx", "split_finder.eps=0.1"), {"split_finder": Approximate(eps=0.1)}),
    ],
)
def test_fields_of_choices(settings: tuple[str, ...], expected: dict[str, Any]) -> None:
    assert parsed(*settings) == expected


def test_an_object_that_is_there_is_not_changed() -> None:
    booster = Ordered(permutations=2)
    current = {"booster": booster}
    changed = parse_setting(BoostingParameters, "booster.prefix_growth", "3", current)
    assert changed == {"booster": Ordered(permutations=2, prefix_growth=3.0)}
    assert current == {"booster": Ordered(permutations=2)} and current["booster"] is booster


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("boster=dart", "there is no parameter 'boster'; did you mean 'booster'?"),
        ("bins.max_bin=3", "there is no parameter 'bins.max_bin'; did you mean 'bins.max_bins'?"),
        (
            "booster.rate_drop=0.1",
            "booster.rate_drop belongs to booster=dart, but booster is Plain; set booster=dart too",
        ),
        ("loss.alpha=0.1", "loss.alpha belongs to loss=quantile, but loss is auto; set loss=quantile too"),
        ("loss.x=0.1", "there is no parameter 'loss.x'; it has none."),
        ("gamma.x=1", "gamma has no parameters of its own, so there is no 'gamma.x'"),
        ("bins.max_bins=1", "bins.max_bins must be a whole number of at least 2 and at most 65535, not 1."),
        (
            "bins.max_bins=many",
            "bins.max_bins must be a whole number of at least 2 and at most 65535, not 'many'.",
        ),
        ("bins=1", "bins must be a whole number of at least 2 and at most 65535, not 1."),
        ("n_estimators", "--set is 'n_estimators'; write it as name=value"),
    ],
)
def test_mistakes_get_one_sentence(setting: str, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        parsed(setting)
    assert str(error.value) == sentence


def test_a_parameter_is_given_once() -> None:
    with pytest.raises(InputError, match="'gamma' is given twice"):
        parsed("gamma=1", "gamma=1")
    with pytest.raises(InputError, match="'random_state' is given twice"):
        parse_settings(BoostingParameters, ["random_state=1"], {"random_state": 3})


def test_misspelt_names_of_choices_get_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"did you mean 'dart'\?$"):
        parsed("booster=drat")
