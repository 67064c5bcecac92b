"""Training on a Dask cluster: the estimators of `weald`, for Dask's arrays and dataframes; the models have the same bytes.

Needs the extra ``dask``. Nothing is lost with a worker but time.
"""

from __future__ import annotations

from weald.runtime.extras import load_extra

load_extra("distributed", "weald.dask")

from weald.dask.boosted import BoostedTreesClassifier, BoostedTreesRegressor  # noqa: E402
from weald.dask.training import TrainingLost  # noqa: E402

__all__ = ["BoostedTreesClassifier", "BoostedTreesRegressor", "TrainingLost"]
