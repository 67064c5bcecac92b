"""XGBoost's interface to Dask, as `weald.xgboost.dask` has it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weald.dask.library import distributed
from weald.dask.members import Brought, Cuts, LastCheckpoint, worker_threads
from weald.dask.prediction import lazily
from weald.dask.socket_team import SocketTeam
from weald.dask.teamwork import Teamwork, check_client
from weald.dask.xgboost_matrix import DaskDMatrix, MemberMatrix
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.callback import EvaluationMonitor
from weald.dialects.xgboost.dmatrix import DMatrix
from weald.dialects.xgboost.refusals import REFUSALS
from weald.dialects.xgboost.training import train as train_alone
from weald.runtime.errors import InputError, NotSupportedError

__all__ = ["inplace_predict", "predict", "train"]

_FUNCTIONS = (
    "members see only their own rows; use weald.dask.BoostedTrees* with a loss or a metric of your own."
)
_OF_TRAIN = {
    "obj": _FUNCTIONS,
    "custom_metric": _FUNCTIONS,
    "coll_cfg": "members wait for each other as long as dask.config's weald.patience says; set that.",
}


@dataclass(frozen=True)
class _Made:
    """What all members are told: arguments of `train`, and how matrices are made."""

    params: Mapping[str, Any]
    matrices: Sequence[
        tuple[str, Mapping[str, Any], int | None]
    ]  # name, options and bins, those to train on first
    options: Mapping[str, Any]
    period: int | None  # rounds after which metrics are told
    topic: str


@REFUSALS.arguments(_OF_TRAIN)
def train(
    client: Any,
    params: Mapping[str, Any],
    dtrain: DaskDMatrix,
    num_boost_round: int = 10,
    *,
    evals: Sequence[tuple[DaskDMatrix, str]] | None = None,
    obj: Any = None,
    early_stopping_rounds: int | None = None,
    xgb_model: Booster | None = None,
    verbose_eval: int | bool = True,
    callbacks: Sequence[Any] | None = None,
    custom_metric: Any = None,
    coll_cfg: Any = None,
) -> Any:
    """Train on a cluster: {"booster": the booster, "history": the metrics of every round}.

    With an asynchronous client it is to be awaited. Every member calls copies of the callbacks. Where a worker is lost,
    training begins anew on the others, and comes to the same model.
    """
    client = check_client(client)
    pairs = list(evals or ())
    if not isinstance(dtrain, DaskDMatrix) or not all(isinstance(one, DaskDMatrix) for one, _ in pairs):
        raise InputError("dtrain and the matrices of evals must be of DaskDMatrix.")
    options = {
        "num_boost_round": num_boost_round,
        "early_stopping_rounds": early_stopping_rounds,
        "xgb_model": xgb_model,
        "callbacks": callbacks,
        "verbose_eval": False,
    }
    period = (1 if verbose_eval is True else int(verbose_eval)) if verbose_eval and pairs else None
    return client.sync(train_on, client, dict(params), [(dtrain, "dtrain"), *pairs], options, period)


async def train_on(
    client: Any,
    params: Mapping[str, Any],
    matrices: Sequence[tuple[DaskDMatrix, str]],
    options: Mapping[str, Any],
    period: int | None,
) -> Any:
    """`train` of the matrices, those to train on first; ``period``: rounds after which metrics are told."""
    team = Teamwork(client)
    made = _Made(
        params,
        [(name, matrix.options, matrix.max_bin) for matrix, name in matrices],
        options,
        period,
        team.topic,
    )
    workers = await team.workers()
    found = [await team.partitions(matrix.rows(name)) for matrix, name in matrices]
    size = max(1, min(len(workers), found[0]["X"].n_rows))
    tables = [team.brought(own, size) for own in found]
    client.subscribe_topic(team.topic, _say)
    try:
        return await team.until_done(
            train_xgboost,
            lambda _: [(made, [own[rank] for own in tables]) for rank in range(size)],
            homes=workers[:size],
        )
    finally:
        client.unsubscribe_topic(team.topic)


def _say(event: tuple[float, Mapping[str, Any]]) -> None:
    """Print what the first member tells."""
    text = event[1].get("text")
    if text is not None:
        sys.stdout.write(text)


def train_xgboost(
    team: SocketTeam, _: LastCheckpoint, made: _Made, own: Sequence[tuple[Brought, Cuts]]
) -> dict[str, Any]:
    """A member's work."""
    matrices = [
        (MemberMatrix(*rows, options, max_bin, team), name)
        for rows, (name, options, max_bin) in zip(own, made.matrices, strict=True)
    ]
    history: dict[str, Any] = {}
    options = dict(made.options)
    callbacks = list(options.pop("callbacks") or ())
    if team.rank == 0 and made.period is not None:
        worker = distributed.get_worker()
        monitor = EvaluationMonitor(
            period=made.period, logger=lambda text: worker.log_event(made.topic, {"text": text})
        )
        callbacks.append(monitor)
    params = dict(made.params)
    if not {"nthread", "n_jobs"} & set(params):
        params["nthread"] = worker_threads(None)
    booster = train_alone(
        params, matrices[0][0], evals=matrices[1:], evals_result=history, callbacks=callbacks, **options
    )
    return {"booster": booster, "history": history}


def _booster_of(model: Any) -> Booster:
    found = model["booster"] if isinstance(model, Mapping) else model
    if not isinstance(found, Booster):
        raise InputError(f"model must be a Booster or what train has returned, not {type(found).__name__}.")
    return found


@dataclass(frozen=True)
class _Predict:
    """`Booster.predict` of one partition."""

    of_matrix: Mapping[str, Any]
    options: Mapping[str, Any]

    def __call__(self, model: Booster, X: Any) -> Any:
        return model.predict(DMatrix(X, **self.of_matrix), **self.options)


@dataclass(frozen=True)
class _Inplace:
    """`Booster.inplace_predict` of one partition."""

    options: Mapping[str, Any]

    def __call__(self, model: Booster, X: Any) -> Any:
        return model.inplace_predict(X, **self.options)


def predict(
    client: Any,
    model: Any,
    data: Any,
    *,
    output_margin: bool = False,
    missing: float = float("nan"),
    pred_leaf: bool = False,
    pred_contribs: bool = False,
    approx_contribs: bool = False,
    pred_interactions: bool = False,
    validate_features: bool = True,
    iteration_range: tuple[int, int] = (0, 0),
    strict_shape: bool = False,
) -> Any:
    """Predictions of a `DaskDMatrix`, an array or a dataframe: a collection with its partitions, computed when asked for."""
    options = {
        "output_margin": output_margin,
        "pred_leaf": pred_leaf,
        "pred_contribs": pred_contribs,
        "approx_contribs": approx_contribs,
        "pred_interactions": pred_interactions,
        "validate_features": validate_features,
        "iteration_range": iteration_range,
        "strict_shape": strict_shape,
    }
    of_matrix: dict[str, Any] = {"missing": missing, "enable_categorical": True}
    if isinstance(data, DaskDMatrix):
        of_matrix, data = dict(data.options), data.data
        of_matrix.pop("feature_weights")
    return _answer(client, lazily(data, _booster_of(model), _Predict(of_matrix, options)))


def inplace_predict(
    client: Any,
    model: Any,
    data: Any,
    *,
    iteration_range: tuple[int, int] = (0, 0),
    predict_type: str = "value",
    missing: float = float("nan"),
    validate_features: bool = True,
    base_margin: Any = None,
    strict_shape: bool = False,
) -> Any:
    """The same of tables as they are, without a matrix."""
    if base_margin is not None:
        raise NotSupportedError(
            "base_margin does not travel with partitions; add it to predictions of predict_type='margin'."
        )
    options = {
        "iteration_range": iteration_range,
        "predict_type": predict_type,
        "missing": missing,
        "validate_features": validate_features,
        "strict_shape": strict_shape,
    }
    return _answer(client, lazily(data, _booster_of(model), _Inplace(options)))


def _answer(client: Any, found: Any) -> Any:
    """With an asynchronous client something to be awaited, as XGBoost has it."""
    if client is None or not client.asynchronous:
        return found

    async def ready() -> Any:
        return found

    return ready()
