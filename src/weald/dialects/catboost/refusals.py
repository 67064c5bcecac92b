"""Methods of CatBoost's models that are not there; each says what to use instead."""

from __future__ import annotations

from weald.dialects.shared.refusals import refused

_PICTURES = "there are no pictures; draw with matplotlib, or look at trees with weald's forest_."
_TREES = "trees do not change; train another model."
_REFUSED = {
    "calc_feature_statistics": _PICTURES,
    "plot_partial_dependence": "use sklearn.inspection.PartialDependenceDisplay.",
    "plot_predictions": _PICTURES,
    "plot_tree": _PICTURES,
    "compare": "draw eval_metrics of both models.",
    "create_metric_calcer": "use eval_metrics.",
    "drop_unused_features": "a model holds only what its trees use.",
    "get_borders": "see the thresholds of the trees.",
    "save_borders": "see the thresholds of the trees.",
    "get_leaf_values": "see the trees of weald.BoostedTreesRegressor's forest_.",
    "get_leaf_weights": "see the trees of weald.BoostedTreesRegressor's forest_.",
    "get_metadata": "models carry no notes.",
    "get_object_importance": "rows have no importances; leave some out and train again.",
    "get_test_eval": "use predict with prediction_type='RawFormulaVal'.",
    "get_test_evals": "use predict with prediction_type='RawFormulaVal'.",
    "grid_search": "use sklearn.model_selection.GridSearchCV.",
    "randomized_search": "use sklearn.model_selection.RandomizedSearchCV.",
    "iterate_leaf_indexes": "use calc_leaf_indexes.",
    "select_features": "use sklearn.feature_selection.RFE.",
    "set_leaf_values": _TREES,
    "set_scale_and_bias": _TREES,
}


class RefusedMethods:
    """Has each of them, and raises its sentence."""


for _name, _instead in _REFUSED.items():
    setattr(RefusedMethods, _name, refused(f"{_name} is not supported by weald.catboost: {_instead}"))
