"""LightGBM's estimators for Dask, as `weald.lightgbm` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from weald.dask.dialect_estimators import LazyEstimator, classes_of, codes_of
from weald.dask.lightgbm_data import MemberDataset
from weald.dask.members import Brought, Cuts, LastCheckpoint, parts_of, worker_threads
from weald.dask.socket_team import SocketTeam
from weald.dask.teamwork import RowSet, Teamwork, check_client
from weald.dialects.lightgbm import sklearn as alone
from weald.dialects.lightgbm.basic import DOOR
from weald.dialects.lightgbm.callback import record_evaluation
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.refusals import REFUSALS
from weald.dialects.lightgbm.training import train as train_alone
from weald.dialects.shared.estimators import sets_of
from weald.runtime.errors import NotSupportedError

__all__ = ["DaskLGBMClassifier", "DaskLGBMRegressor"]

_OF_PREDICT = (
    "raw_score",
    "start_iteration",
    "num_iteration",
    "pred_leaf",
    "pred_contrib",
    "validate_features",
)
_STARTS = "scores to start from do not travel; train in memory with them."
_FUNCTIONS = "functions of your own see all rows, and members only theirs; use weald.dask.BoostedTrees* with a loss or metric."
_OF_FIT = {
    "init_score": _STARTS,
    "eval_init_score": _STARTS,
    "eval_class_weight": "give eval_sample_weight.",
}


@dataclass(frozen=True)
class _Made:
    """What all members are told; ``sets``: which evaluation sets there are, None the training rows themselves."""

    estimator: Any
    params: Mapping[str, Any]
    of_data: Mapping[str, Any]
    sets: Sequence[int | None]
    options: Mapping[str, Any]


def train_lightgbm(
    team: SocketTeam, _: LastCheckpoint, made: _Made, own: Sequence[tuple[Brought, Cuts]]
) -> tuple[Any, dict[str, Any]]:
    """A member's work: the booster, and the metrics of every round."""
    given = [
        MemberDataset(
            [Dataset(part.X, part.y, weight=part.weight, **made.of_data) for part in parts_of(*rows)], team
        )
        for rows in own
    ]
    data, wanted = given[0], made.estimator.class_weight
    if wanted is not None:
        data.weigh(made.estimator._class_weights(wanted, data.all_labels, data.all_weights))
    found: dict[str, Any] = {}
    options = dict(made.options)
    callbacks = [*(options.pop("callbacks") or ()), record_evaluation(found)]
    params = dict(made.params)
    if params.get("n_jobs") is None:
        params["n_jobs"] = worker_threads(None)
    sets = [data if one is None else given[one] for one in made.sets]
    for valid in sets:
        if valid is not data:
            valid.set_reference(data)
    booster = train_alone(params, data, valid_sets=sets, callbacks=callbacks, **options)
    return booster, found


class OnCluster(LazyEstimator):
    """Mixed in before an estimator of `weald.lightgbm`; ``client``: of the cluster, the current one when None."""

    @REFUSALS.arguments(_OF_FIT)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_class_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_metric: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Any] | None = None,
        init_model: Any = None,
    ) -> Any:
        """Train on collections of Dask; with an asynchronous client it is to be awaited."""
        me: Any = self
        client = check_client(me.client)
        sets = sets_of(alone._pairs(eval_set, eval_X, eval_y), eval_sample_weight=eval_sample_weight)
        of_data = {"feature_name": feature_name, "categorical_feature": categorical_feature}
        model = init_model.booster_ if isinstance(init_model, alone.LGBMModel) else init_model
        options = {"valid_names": eval_names, "callbacks": callbacks, "init_model": model}
        return client.sync(self._fit_on, client, (X, y, sample_weight), sets, of_data, options, eval_metric)

    async def _fit_on(
        self, client: Any, rows: Any, sets: Any, of_data: Any, options: dict[str, Any], metric: Any
    ) -> Any:
        me: Any = self
        me._forget()
        is_classifier = isinstance(self, alone.LGBMClassifier)
        if is_classifier:
            me.classes_ = await classes_of(client, rows[1], type(self).__name__)
            me.n_classes_ = len(me.classes_)
        local = self.to_local()
        params = local._booster_params()
        me._objective = local._objective
        names, functions = local._metrics(params, metric)
        if functions or callable(local._objective):
            raise NotSupportedError(_FUNCTIONS)
        params["metric"] = names or "None"
        given = [RowSet("", *rows)]
        places: list[int | None] = []
        for place, one in enumerate(sets):
            if one[0] is rows[0] and one[1] is rows[1]:
                places.append(None)
                continue
            places.append(len(given))
            given.append(RowSet(f"eval_set[{place}]", *one))
        if is_classifier:
            coded = [codes_of(one.y, me.classes_, type(self).__name__) for one in given]
            given = [RowSet(one.name, one.X, y, one.weight) for one, y in zip(given, coded, strict=True)]
        team = Teamwork(client)
        workers = await team.workers()
        found = [await team.partitions(one) for one in given]
        size = max(1, min(len(workers), found[0]["X"].n_rows))
        tables = [team.brought(own, size) for own in found]
        options["num_boost_round"] = me.n_estimators
        made = _Made(local, params, of_data, places, options)
        me._Booster, me._evals_result = await team.until_done(
            train_lightgbm,
            lambda _: [(made, [own[rank] for own in tables]) for rank in range(size)],
            homes=workers[:size],
        )
        return self

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Predictions of a collection, computed when asked for."""
        which = (raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib, validate_features)
        return self._asked("predict", X, which, kwargs)

    def _asked(self, method: str, X: Any, which: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        return self._lazily(method, X, **dict(zip(_OF_PREDICT, which, strict=True)), **kwargs)


@DOOR.owner
class DaskLGBMRegressor(OnCluster, alone.LGBMRegressor):  # type: ignore[misc]
    """`weald.lightgbm.LGBMRegressor` on a cluster."""

    _alone: ClassVar[type[Any]] = alone.LGBMRegressor

    def __init__(self, *, client: Any = None, **kwargs: Any) -> None:
        self.client = client
        super().__init__(**kwargs)


@DOOR.owner
class DaskLGBMClassifier(OnCluster, alone.LGBMClassifier):  # type: ignore[misc]
    """`weald.lightgbm.LGBMClassifier` on a cluster."""

    _alone: ClassVar[type[Any]] = alone.LGBMClassifier

    def __init__(self, *, client: Any = None, **kwargs: Any) -> None:
        self.client = client
        super().__init__(**kwargs)

    def predict_proba(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Probabilities, (rows, classes), computed when asked for."""
        which = (raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib, validate_features)
        return self._asked("predict_proba", X, which, kwargs)
