"""What XGBoost has and `weald.xgboost` has not, and what to do instead."""

from __future__ import annotations

from typing import Any

from weald.dialects.shared.refusals import Refusals
from weald.dialects.xgboost.errors import DOOR

REFUSALS = Refusals("weald.xgboost", DOOR)

_CLUSTERS = "it trains on one machine; train there, or use XGBoost itself."
_RANKING = "ranking is not supported; leave it out."
_SURVIVAL = "survival is not supported; give label instead."
_CONTRIBUTIONS = "use pred_contribs."

#: of the module
NAMES = {
    "XGBRanker": "ranking is not supported; use XGBRegressor on the relevance.",
    **dict.fromkeys(("rabit", "collective", "RabitTracker", "tracker", "spark"), _CLUSTERS),
}
#: arguments of a DMatrix
OF_MATRIX = {
    **dict.fromkeys(("group", "qid"), _RANKING),
    **dict.fromkeys(("label_lower_bound", "label_upper_bound"), _SURVIVAL),
}
MERGED = "max_quantile_batches is not supported: the cuts are those of all rows, however they come; leave it out."
#: arguments of an ExtMemQuantileDMatrix
OF_EXTERNAL = {
    "max_quantile_batches": "the cuts are those of all rows, however they come; leave it out.",
    "cache_host_ratio": "rows are on disk, and the system caches them; leave it out.",
}
#: what XGBoost's own code calls of a DataIter
ITERATOR_METHODS = dict.fromkeys(
    ("get_callbacks", "proxy", "reraise"), "batches are read in Python, without callbacks of C; call next and reset."
)
MATRIX_METHODS = {
    **dict.fromkeys(("set_group", "get_group", "get_uint_info", "set_uint_info"), _RANKING),
}
BOOSTER_METHODS = {"load_config": "use set_param."}
#: arguments of Booster.predict
OF_PREDICT = {
    "approx_contribs": _CONTRIBUTIONS,
    "pred_interactions": _CONTRIBUTIONS,
    "training": "trees of dart are not dropped anew; leave it out.",
}
#: an argument of whatever tells of the trees
OF_TREES = {"fmap": "files of feature names are not read; give the DMatrix feature_names."}
NO_PICTURES_OF_TREES = "it draws trees with Graphviz; use Booster.get_dump(dump_format='dot')."


def absent(name: str) -> Any:
    """The ``__getattr__`` of the module: hasattr is False, and the error says why the name is not there."""
    known = NAMES.get(name)
    raise AttributeError(
        f"module 'weald.xgboost' has no attribute {name!r}"
        if known is None
        else f"weald.xgboost has no {name}: {known}"
    )
