"""XGBoost's own files, JSON and UBJSON, as a `Booster`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from weald.dialects.shared.theirs import fitted_of, known_here
from weald.dialects.xgboost.objectives import choose
from weald.estimators.shared.persistence import FittedModel
from weald.exchange.foreign.load import xgboost_content
from weald.exchange.foreign.xgboost_format import xgboost_model
from weald.params.xgboost import XGBOOST_PARAMETERS, read_parameters

if TYPE_CHECKING:
    from weald.dialects.xgboost.booster import Booster


def become_theirs(booster: Booster, data: bytes) -> None:
    """Make a booster what a file of XGBoost's says; everything is checked before anything is changed."""
    content = xgboost_content(data)
    foreign = xgboost_model(content)
    learner = content["learner"]

    def settled() -> tuple[dict[str, Any], FittedModel]:
        params = read_parameters(_params_of(learner))
        return params, fitted_of(foreign, choose(params).loss())

    params, model = known_here(settled)
    columns = model.schema.columns
    named = _has_named_categories(learner)
    attributes = learner.get("attributes")
    booster._params = params
    booster._categories = [list(one.categories) or None for one in columns] if named else None
    booster._names = list(model.schema.names) if model.schema.named else None
    booster._kinds = list(learner["feature_types"]) if learner.get("feature_types") else None
    booster._attributes = (
        {str(name): str(text) for name, text in attributes.items()} if isinstance(attributes, Mapping) else {}
    )
    booster._set_model(model)


def _has_named_categories(learner: Any) -> bool:
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster).get("model", {})
    cats = model.get("cats") if isinstance(model, Mapping) else None
    return isinstance(cats, Mapping) and bool(len(cats.get("enc") or ()))


def _params_of(learner: Any) -> dict[str, Any]:
    """The objective with its options, and the booster."""
    objective = learner["objective"]
    found: dict[str, Any] = {"objective": objective["name"], "booster": learner["gradient_booster"]["name"]}
    for group in objective.values():
        if isinstance(group, Mapping):
            for name, text in group.items():
                if XGBOOST_PARAMETERS.belongs(name, "objective", objective["name"]) or name == "num_class":
                    found[name] = _value(text)
    model = learner["gradient_booster"].get("model")
    sizes = model.get("gbtree_model_param") if isinstance(model, Mapping) else None
    if isinstance(sizes, Mapping) and str(sizes.get("num_parallel_tree", "1")) not in ("0", "1"):
        found["num_parallel_tree"] = _value(sizes["num_parallel_tree"])
    return found


def _value(text: Any) -> Any:
    """A number, or a list of them, that the file has as text."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
