"""What an unknown parameter was meant to be: names of other systems, of version 0.1.0, and near spellings.

All of it is read from declarations and from the tables of the other systems; nothing here names a parameter's place twice.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weald.params.choice import Choice, Part
from weald.params.declare import declared, listed_words
from weald.params.flat_names import FIELDS, KEPT
from weald.params.parameter import Parameter
from weald.runtime.errors import UnknownParameterError

# What the tables of the other systems leave open: scikit-learn's names, and names of what is there in another form.
_SAME: Final = {
    "base_estimator": "estimator",
    "meta_estimator": "final_estimator",
    "meta_classifier": "final_estimator",
    "meta_regressor": "final_estimator",
    "classifiers": "estimators",
    "regressors": "estimators",
    "n_trees": "n_estimators",
    "n_rounds": "n_estimators",
    "shrinkage": "learning_rate",
    "threads": "n_jobs",
    "max_features": "colsample_bynode",
    "max_samples": "subsample",
    "interaction_cst": "interaction_constraints",
    "categorical_feature": "categorical_features",
    "class_weights": "class_weight",
    "auto_class_weights": "class_weight",
    "scoring": "eval_metric",
    "custom_metric": "eval_metric",
    "n_iter_no_change": "early_stopping_rounds",
    "early_stopping_round": "early_stopping_rounds",
    "early_stopping": "early_stopping_rounds",
    "od_wait": "early_stopping_rounds",
    "verbosity": "verbose",
    "verbose_eval": "verbose",
    "metric_period": "verbose",
    "logging_level": "verbose",
    "silent": "verbose",
}
# So many parameters are named in a message; of more, `help` has the list.
_MOST_LISTED: Final = 14


@dataclass(frozen=True)
class Place:
    """A parameter, or a field of a choice that the parameter may be."""

    parameter: str
    choice: type | None = None
    field: str = ""
    word: str = ""  # the name that stands for the choice

    @property
    def argument(self) -> str:
        """How it is given in Python."""
        if self.choice is None:
            return self.parameter
        home = "weald.losses" if self.choice.__module__.startswith("weald.losses") else "weald"
        return f"{self.parameter}={home}.{self.choice.__name__}({self.field}=...)"

    @property
    def setting(self) -> str:
        """How it is given on the command line."""
        if self.choice is None:
            return self.parameter
        return f"{self.parameter}.{self.field} of {self.parameter}={self.word}"


def unknown_parameter(owner: type, name: str, elsewhere: Sequence[Place] = ()) -> UnknownParameterError:
    """The error for a parameter that an estimator or a choice does not have; ``elsewhere``: what other places have it."""
    parameters = declared(owner)
    places = places_of(owner, name) or elsewhere
    near = difflib.get_close_matches(name, parameters, n=1)
    if places:
        hint = f"use {listed_words(dict.fromkeys(place.argument for place in places))}."
    elif issubclass(owner, Choice) and _meanings(name).intersection(KEPT):
        hint = f"{name} belongs to the estimator."
    elif near:
        hint = f"did you mean {near[0]!r}?"
    elif not parameters:
        hint = "it takes none."
    elif len(parameters) <= _MOST_LISTED:
        hint = f"it has {listed_words(parameters, 'and')}."
    else:
        hint = f"help(weald.{owner.__name__}) lists all."
    return UnknownParameterError(f"{owner.__name__} has no parameter {name!r}; {hint}")


def places_of(owner: type, name: str) -> list[Place]:
    """Where ``owner`` has what other systems, version 0.1.0, or a choice of its own call ``name``.

    >>> from weald.training.boosting.parameters import BoostingParameters
    >>> [place.argument for place in places_of(BoostingParameters, "num_leaves")]
    ['max_leaves']
    >>> [place.argument for place in places_of(BoostingParameters, "rate_drop")]
    ['booster=weald.Dart(rate_drop=...)']
    """
    meant = _meanings(name)
    parameters = declared(owner)
    own = [Place(known) for known in parameters if meant & (_meanings(known) | _flat_names(owner, known))]
    fields = list(_fields(parameters))
    by_flat_name = [place for place, flat_names in fields if meant & flat_names]
    return own + by_flat_name or [place for place, _ in fields if place.field == name]


def _fields(parameters: Mapping[str, Parameter]) -> Iterator[tuple[Place, set[str]]]:
    """The fields of all choices that parameters may be, and what version 0.1.0 called them."""
    for part in parameters.values():
        if not isinstance(part, Part) or part.family is None:
            continue
        for choice in part.family.classes:
            words = part.family.names_of(choice)
            for field in declared(choice):
                flat = {known.name for known in FIELDS if (known.part, known.field) == (part.name, field)}
                yield Place(part.name, choice, field, words[0] if words else choice.__name__), flat


def _flat_names(owner: type, field: str) -> set[str]:
    """What version 0.1.0 called a field of a choice; nothing of an estimator's parameter."""
    return {known.name for known in FIELDS if known.field == field} if issubclass(owner, Choice) else set()


def _meanings(name: str) -> set[str]:
    """The flat names of boosting's parameters that a name stands for in any system; it stands for itself, too."""
    from weald.params.catboost import CATBOOST_PARAMETERS  # needed for a mistake only
    from weald.params.lightgbm import LIGHTGBM_PARAMETERS
    from weald.params.xgboost import XGBOOST_PARAMETERS

    tables: tuple[Mapping[str, Any], ...] = (XGBOOST_PARAMETERS, LIGHTGBM_PARAMETERS, CATBOOST_PARAMETERS)
    entries = [entry for table in tables for entry in table.values() if name in (entry.name, *entry.aliases)]
    found = {entry.native for entry in entries if entry.native} | {name}
    return found | {_SAME[name]} if name in _SAME else found
