"""LightGBM's own text files, as a `Booster`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weald.dialects.lightgbm.columns import ColumnFacts
from weald.dialects.lightgbm.objectives import Chosen
from weald.dialects.shared.theirs import fitted_of, known_here
from weald.estimators.shared.persistence import FittedModel
from weald.exchange.foreign.lightgbm_format import lightgbm_model, lightgbm_ranges, lightgbm_settings
from weald.exchange.foreign.model import ForeignModel
from weald.params.lightgbm import LIGHTGBM_PARAMETERS, read_parameters, value_of
from weald.runtime.errors import InputError, NotSupportedError

if TYPE_CHECKING:
    from weald.dialects.lightgbm.booster import Booster

#: how a text of LightGBM's begins
FIRST_LINE = "tree\n"


def become_theirs(booster: Booster, text: str) -> None:
    """Make a booster what a text of LightGBM's says; everything is checked before anything is changed."""
    foreign = lightgbm_model(text)
    settings = lightgbm_settings(text)

    def settled() -> tuple[dict[str, Any], FittedModel]:
        params = _params_of(settings, foreign)
        return params, fitted_of(foreign, Chosen(params, params["objective"] == "custom").loss())

    params, model = known_here(settled)
    booster.params = dict(params)
    booster._params, booster._custom = params, params["objective"] == "custom"
    names = model.schema.names
    booster._names = list(names) if model.schema.named else [f"Column_{place}" for place in range(len(names))]
    booster._rates = [float(value_of(params, "learning_rate"))] * model.predictor.n_rounds
    booster._facts = _facts_of(text, foreign)
    booster._set_model(model)


def _params_of(settings: dict[str, str], foreign: ForeignModel) -> dict[str, Any]:
    """The parameters that the text has and that are the same here; the objective's with its options."""
    name, *options = foreign.objective.split(" ")
    given: dict[str, Any] = {"objective": name}
    for option in options:
        key, _, value = option.partition(":")
        if key == "sqrt" or (key == "sigmoid" and float(value) != 1.0):
            raise NotSupportedError(f"weald.lightgbm has no {key} of objective={name!r}.")
        if key == "num_class":
            given[key] = value
    params = read_parameters(given)
    for key, text in settings.items():
        entry = LIGHTGBM_PARAMETERS.get(key)
        if entry is not None and entry.standing == "same" and text and key not in given:
            try:
                params |= read_parameters({key: text})
            except InputError:
                continue  # what training goes on by is said anew
    return params


def _facts_of(text: str, foreign: ForeignModel) -> ColumnFacts:
    """The least and the largest number of every column, and its categories."""
    ranges = lightgbm_ranges(text)
    columns = foreign.schema.columns
    ranges += [(None, None)] * (len(columns) - len(ranges))
    categories = [list(column.categories) or None for column in columns]
    is_named = any(isinstance(value, str) for own in categories for value in own or ())
    return ColumnFacts(
        [low for low, _ in ranges[: len(columns)]],
        [high for _, high in ranges[: len(columns)]],
        [True] * len(columns),
        categories if is_named else None,
    )
