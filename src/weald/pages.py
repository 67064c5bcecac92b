"""Writes the pages of parameters: ``python -m weald.pages``, and with ``xgboost`` and the like those of other interfaces."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from weald.params.catboost import CATBOOST_PARAMETERS
from weald.params.choice_page import family_page, parameter_rows
from weald.params.declare import declared
from weald.params.flat_names import FIELDS
from weald.params.lightgbm import LIGHTGBM_PARAMETERS
from weald.params.xgboost import XGBOOST_PARAMETERS


def parameter_page() -> str:
    """The page of parameters, ``docs/parameters.md``, as Markdown."""
    from weald.estimators.boosted.boosted import BoostedTreesClassifier
    from weald.estimators.classical.gradient_boosting import GradientBoostingRegressor
    from weald.training.boosting.parameters import FAMILIES

    lines = [
        "# Parameters",
        "",
        "Written by `python -m weald.pages`. `class_weight` and `scale_pos_weight` belong to the classifier; all others to the",
        "classifier and the regressor. Where a parameter is a name or an object, the sections below list the objects: each",
        "has parameters of its own, `weald.Dart(rate_drop=0.2)`, which `set_params`, `GridSearchCV` and pipelines reach as",
        "`booster__rate_drop`, and the command line as `--set booster.rate_drop=0.2`. A name is the object with its defaults.",
        "",
        "## BoostedTreesClassifier and BoostedTreesRegressor",
        "",
        *parameter_rows(declared(BoostedTreesClassifier)),
        "",
        *(family_page(family) for family in FAMILIES.values()),
        "## GradientBoostingClassifier and GradientBoostingRegressor",
        "",
        "`alpha` belongs to the regressor, and so does the default of `loss`; that of the classifier is `'log_loss'`.",
        "",
        *parameter_rows(declared(GradientBoostingRegressor)),
    ]
    return "\n".join(lines) + "\n"


def native_names() -> Mapping[str, str]:
    """Flat names, as the tables of other interfaces have them -> the parameter or the field of a choice that they are."""
    names: dict[str, str] = {}
    for field in FIELDS:
        place = f"{field.part}.{field.field}"
        names[field.name] = f"{names[field.name]}, {place}" if field.name in names else place
    return names


PAGES: dict[str, Callable[[], str]] = {
    "": parameter_page,
    "catboost": lambda: CATBOOST_PARAMETERS.page(native_names()),
    "xgboost": lambda: XGBOOST_PARAMETERS.page(native_names()),
    "lightgbm": lambda: LIGHTGBM_PARAMETERS.page(native_names()),
}

if __name__ == "__main__":
    print(PAGES["".join(sys.argv[1:])](), end="")
