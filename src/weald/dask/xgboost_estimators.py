"""XGBoost's scikit-learn estimators for Dask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from weald.dask.dialect_estimators import LazyEstimator, classes_of, codes_of
from weald.dask.teamwork import check_client
from weald.dask.xgboost import train_on
from weald.dask.xgboost_matrix import DaskDMatrix
from weald.dialects.shared.estimators import sets_of
from weald.dialects.xgboost import sklearn as alone
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.estimator import XGBModel
from weald.dialects.xgboost.refusals import REFUSALS
from weald.runtime.errors import NotSupportedError

_MARGINS = "scores to start from do not travel; train in memory with them."


class OnCluster(LazyEstimator):
    """Mixed in before an estimator of `weald.xgboost`; ``client``: of the cluster, the current one when None."""

    client: Any = None

    @REFUSALS.arguments({"base_margin": _MARGINS, "base_margin_eval_set": _MARGINS})
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        verbose: int | bool | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: Any = None,
    ) -> Any:
        """Train on collections of Dask; with an asynchronous client it is to be awaited."""
        client = check_client(self.client)
        sets = sets_of(eval_set, sample_weight_eval_set=sample_weight_eval_set)
        options = {"verbose": verbose, "xgb_model": xgb_model, "feature_weights": feature_weights}
        return client.sync(self._fit_on, client, (X, y, sample_weight), sets, options)

    async def _fit_on(self, client: Any, rows: Any, sets: Any, options: Any) -> Any:
        me: Any = self
        me._forget()
        params = me._booster_params()
        if callable(me.objective) or me._custom_metric() is not None:
            raise NotSupportedError(
                "functions of your own see all rows, and members only theirs; use weald.dask.BoostedTrees* with a loss or metric."
            )
        if isinstance(self, alone.XGBClassifier):
            me.classes_ = await classes_of(client, rows[1], type(self).__name__)
            me.n_classes_ = len(me.classes_)
        params |= me._objective_params()
        weights = me.feature_weights if options["feature_weights"] is None else options["feature_weights"]
        matrices = [(self._on_cluster(client, rows, weights), "dtrain")]
        matrices += [
            (self._on_cluster(client, one, None), f"validation_{place}") for place, one in enumerate(sets)
        ]
        model = options["xgb_model"]
        asked = {
            "num_boost_round": me.get_num_boosting_rounds(),
            "early_stopping_rounds": me.early_stopping_rounds,
            "xgb_model": model.get_booster() if isinstance(model, XGBModel) else model,
            "callbacks": me.callbacks,
            "verbose_eval": False,
        }
        period = int(options["verbose"]) if options["verbose"] and sets else None
        found = await train_on(client, params, matrices, asked, period)
        me._Booster = found["booster"]
        if sets:
            me.evals_result_ = found["history"]
        return self

    def _on_cluster(self, client: Any, rows: Any, feature_weights: Any) -> DaskDMatrix:
        me: Any = self
        X, y, weight = rows
        if isinstance(self, alone.XGBClassifier):
            y = codes_of(y, me.classes_, type(self).__name__)
        return DaskDMatrix(
            client,
            X,
            y,
            weight=weight,
            missing=me.missing,
            feature_types=me.feature_types,
            feature_weights=feature_weights,
            enable_categorical=me.enable_categorical,
        )

    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Any:
        """Predictions of a collection, computed when asked for."""
        if base_margin is not None:
            raise NotSupportedError(f"base_margin: {_MARGINS}")
        options = {"output_margin": output_margin, "validate_features": validate_features}
        return self._lazily("predict", X, iteration_range=iteration_range, **options)

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> Any:
        """The number of the leaf that every row reaches in every tree, when it is computed."""
        return self._lazily("apply", X, iteration_range=iteration_range)


class ClassesOnCluster(OnCluster):
    """Mixed in before a classifier."""

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Any:
        """Probabilities, (rows, classes), computed when asked for."""
        if base_margin is not None:
            raise NotSupportedError(f"base_margin: {_MARGINS}")
        return self._lazily(
            "predict_proba", X, validate_features=validate_features, iteration_range=iteration_range
        )


@DOOR.owner
class DaskXGBRegressor(OnCluster, alone.XGBRegressor):
    """`weald.xgboost.XGBRegressor` on a cluster."""

    _alone: ClassVar[type[Any]] = alone.XGBRegressor


@DOOR.owner
class DaskXGBClassifier(ClassesOnCluster, alone.XGBClassifier):
    """`weald.xgboost.XGBClassifier` on a cluster."""

    _alone: ClassVar[type[Any]] = alone.XGBClassifier


@DOOR.owner
class DaskXGBRFRegressor(OnCluster, alone.XGBRFRegressor):
    """`weald.xgboost.XGBRFRegressor` on a cluster."""

    _alone: ClassVar[type[Any]] = alone.XGBRFRegressor


@DOOR.owner
class DaskXGBRFClassifier(ClassesOnCluster, alone.XGBRFClassifier):
    """`weald.xgboost.XGBRFClassifier` on a cluster."""

    _alone: ClassVar[type[Any]] = alone.XGBRFClassifier
