"""What LightGBM has and `weald.lightgbm` has not, and what to do instead."""

from __future__ import annotations

from weald.dialects.lightgbm.basic import DOOR
from weald.dialects.shared.refusals import Refusals

REFUSALS = Refusals("weald.lightgbm", DOOR)

_CLUSTERS = "it trains on one machine; train there, or use LightGBM itself."
_RANKING = "ranking is not supported; leave it out."

#: of the module
NAMES = {
    "LGBMRanker": "ranking is not supported; use LGBMRegressor on the relevance.",
    **dict.fromkeys(("DaskLGBMRanker",), _CLUSTERS),
}
#: arguments of a Dataset, and of fit
OF_DATASET = dict.fromkeys(("group", "position"), _RANKING)
OF_FIT = dict.fromkeys(("group", "eval_group"), _RANKING)
DATASET_METHODS = {
    **dict.fromkeys(("set_group", "set_position"), _RANKING),
    "add_features_from": "put the columns together and make a Dataset of them.",
    "feature_num_bin": "Weald bins when it trains.",
}
BOOSTER_METHODS = {
    "shuffle_models": "the order of trees is part of the model.",
    "set_leaf_output": "trees do not change; see refit.",
    "set_network": "it trains on one machine.",
}
NO_PICTURES_OF_TREES = "it draws trees with Graphviz; use Booster.trees_to_dataframe."
