"""What XGBoost's scikit-learn estimators share."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from weald.dialects.shared.estimators import DialectEstimator, as_table, sets_of
from weald.dialects.shared.request import name_of
from weald.dialects.shared.tables import is_frame
from weald.dialects.xgboost import dumps
from weald.dialects.xgboost.booster import Booster
from weald.dialects.xgboost.callback import TrainingCallback
from weald.dialects.xgboost.dmatrix import DMatrix, densified
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.positional import by_position
from weald.dialects.xgboost.training import train
from weald.params.xgboost import XGBOOST_PARAMETERS, read_parameters
from weald.runtime.errors import InputError, NotSupportedError

Range = tuple[int, int]
_STORED = "scikit_learn"
# Parameters of the estimator that are none of the booster's.
_OWN = frozenset(name for name, entry in XGBOOST_PARAMETERS.items() if entry.group == "estimators")


@DOOR.owner
class XGBModel(DialectEstimator):
    """What XGBoost's estimators share. A parameter that is None has XGBoost's default; others come as keywords."""

    @by_position
    def __init__(
        self,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        max_bin: int | None = None,
        grow_policy: str | None = None,
        learning_rate: float | None = None,
        n_estimators: int | None = None,
        verbosity: int | None = None,
        objective: str | Callable[..., Any] | None = None,
        booster: str | None = None,
        tree_method: str | None = None,
        n_jobs: int | None = None,
        gamma: float | None = None,
        min_child_weight: float | None = None,
        max_delta_step: float | None = None,
        subsample: float | None = None,
        sampling_method: str | None = None,
        colsample_bytree: float | None = None,
        colsample_bylevel: float | None = None,
        colsample_bynode: float | None = None,
        reg_alpha: float | None = None,
        reg_lambda: float | None = None,
        scale_pos_weight: float | None = None,
        base_score: float | list[float] | None = None,
        random_state: Any = None,
        missing: float = np.nan,
        num_parallel_tree: int | None = None,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        importance_type: str | None = None,
        device: str | None = None,
        validate_parameters: bool | None = None,
        enable_categorical: bool = False,
        feature_types: Sequence[str] | None = None,
        feature_weights: Any = None,
        max_cat_to_onehot: int | None = None,
        max_cat_threshold: int | None = None,
        multi_strategy: str | None = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        callbacks: list[TrainingCallback] | None = None,
        **kwargs: Any,
    ) -> None:
        self._set_parameters(locals())

    # Set above, one by one by name; declared for readers and type checkers.
    n_estimators: int | None
    num_parallel_tree: int | None
    objective: str | Callable[..., Any] | None
    eval_metric: Any
    early_stopping_rounds: int | None
    callbacks: list[TrainingCallback] | None
    missing: float
    feature_weights: Any
    enable_categorical: bool
    feature_types: Sequence[str] | None
    importance_type: str | None
    booster: str | None
    n_jobs: int | None
    random_state: Any

    def get_xgb_params(self) -> dict[str, Any]:
        """The booster's parameters among the estimator's."""
        params = {name: value for name, value in self.get_params().items() if name not in _OWN}
        return params if not callable(params["objective"]) else {**params, "objective": None}

    def get_num_boosting_rounds(self) -> int:
        """Rounds of boosting."""
        return 100 if self.n_estimators is None else self.n_estimators

    def _booster_params(self) -> dict[str, Any]:
        """What `train` is given: only parameters that were set, and no functions."""
        # A subclass's own parameters are its own business.
        ours = {*XGBModel._get_param_names(), *self.__dict__.get("kwargs", {})}
        named = {name: value for name, value in self.get_params(deep=False).items() if name in ours}
        given = read_parameters(named, estimators=True)
        params = {name: value for name, value in given.items() if name not in _OWN}
        metrics = _several(params.pop("eval_metric", None))
        for metric in metrics:
            if not (metric is None or isinstance(metric, str) or callable(metric)):
                raise TypeError(f"eval_metric must be names or functions, but one is {metric!r}.")
        names = [name for name in metrics if isinstance(name, str)]
        if names:
            params["eval_metric"] = names
        if callable(params.get("objective")):
            del params["objective"]
        return params

    def _custom_metric(self) -> Any:
        functions = [function for function in _several(self.eval_metric) if callable(function)]
        if len(functions) > 1:
            raise NotSupportedError("eval_metric may hold one function; give the others as names.")
        return _metric_of_labels(functions[0]) if functions else None

    # --- fitting ------------------------------------------------------------------------------------

    def _matrix(self, X: Any, y: Any = None, weight: Any = None, margin: Any = None) -> DMatrix:
        return DMatrix(
            _columns(X),
            label=y,
            weight=weight,
            base_margin=margin,
            missing=self.missing,
            feature_types=self.feature_types,
            enable_categorical=self.enable_categorical,
        )

    def _objective_params(self) -> dict[str, Any]:
        """What y adds to the parameters."""
        return {}

    @by_position
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: Any = None,
    ) -> Any:
        """Train on a table.

        eval_set : pairs (X, y) to be evaluated after every round
        verbose : print the metrics of the eval_set: always, never, or every so many rounds
        xgb_model : a model, or its file, that training goes on from
        feature_weights : of columns, in place of the parameter
        """
        self._forget()
        params = self._booster_params()
        X = _columns(X)
        label, weight = self._labels_and_weights(X, y, sample_weight)
        dtrain = self._matrix(X, label, weight, base_margin)
        dtrain.set_info(feature_weights=self.feature_weights if feature_weights is None else feature_weights)
        params |= self._objective_params()
        evals = self._evals(eval_set, sample_weight_eval_set, base_margin_eval_set)
        found: dict[str, Any] = {}
        self._Booster = train(
            params,
            dtrain,
            self.get_num_boosting_rounds(),
            evals=evals,
            obj=_objective_of_labels(self.objective) if callable(self.objective) else None,
            early_stopping_rounds=self.early_stopping_rounds,
            evals_result=found,
            verbose_eval=verbose,
            xgb_model=xgb_model.get_booster() if isinstance(xgb_model, XGBModel) else xgb_model,
            callbacks=self.callbacks,
            custom_metric=self._custom_metric(),
        )
        if evals:
            self.evals_result_ = found
        return self

    def _evals(self, eval_set: Any, weights: Any, margins: Any) -> list[tuple[DMatrix, str]]:
        per_set = {"sample_weight_eval_set": weights, "base_margin_eval_set": margins}
        evals = []
        for place, (X, y, weight, margin) in enumerate(sets_of(eval_set, **per_set)):
            matrix = self._matrix(X, None, weight, margin)
            matrix.set_label(self._eval_target(y, matrix.num_row()))
            evals.append((matrix, f"validation_{place}"))
        return evals

    # --- after fitting ------------------------------------------------------------------------------

    def get_booster(self) -> Booster:
        """The booster."""
        booster: Booster = self._holder()
        return booster

    def _range(self, iteration_range: Range | None) -> Range:
        """All rounds, or those up to the best one of early stopping."""
        if iteration_range is not None and tuple(iteration_range) != (0, 0):
            return iteration_range
        booster = self.get_booster()
        best = booster.attr("best_iteration")
        # The weights of a linear model are those after its last round.
        return (0, 0) if best is None or booster._is_linear() else (0, int(best) + 1)

    def _predict(self, X: Any, margin: Any, validate: bool, iteration_range: Range | None, **how: Any) -> Any:
        X = _columns(X)
        if validate:
            self._check_table(X)
        matrix = self._matrix(X, margin=margin)
        return self.get_booster().predict(
            matrix,
            validate_features=validate and is_frame(matrix.table),
            iteration_range=self._range(iteration_range),
            **how,
        )

    @by_position
    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: Range | None = None,
    ) -> NDArray[Any]:
        """Predictions, of a classifier the most probable classes; with early stopping of the rounds up to the best one.

        validate_features : whether a frame must have the columns' names of training, in their order; False: columns go by
            their places
        """
        predicted: NDArray[Any] = self._predict(
            X, base_margin, validate_features, iteration_range, output_margin=output_margin
        )
        return predicted if output_margin else self._answer(predicted)

    def _answer(self, predicted: NDArray[Any]) -> NDArray[Any]:
        """What `predict` says for a booster's predictions."""
        return predicted

    def apply(self, X: Any, iteration_range: Range | None = None) -> NDArray[np.float32]:
        """The number of the leaf that every row reaches in every tree."""
        leaves: NDArray[np.float32] = self._predict(X, None, True, iteration_range, pred_leaf=True)
        return leaves

    def evals_result(self) -> dict[str, Any]:
        """Evaluation set -> metric -> a value for every round."""
        self.get_booster()
        if "evals_result_" not in self.__dict__:
            raise InputError("there are no evaluation results; give fit an eval_set.")
        return dict(self.evals_result_)

    @property
    def best_iteration(self) -> int:
        """The best round of early stopping."""
        return self.get_booster().best_iteration

    @property
    def best_score(self) -> float:
        """The metric of the best round."""
        return self.get_booster().best_score

    @property
    def feature_importances_(self) -> NDArray[np.float32]:
        """Share of every column, by ``importance_type`` (gain)."""
        booster = self.get_booster()
        kind = self.importance_type or ("weight" if self.booster == "gblinear" else "gain")
        values, _ = dumps.importances(booster._fitted(), kind, booster._gain_floor())
        total = values.sum()
        return (values / total if total != 0 else values).astype(np.float32)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the linear booster."""
        return dumps.coefficients(self.get_booster())

    @property
    def intercept_(self) -> NDArray[np.float32]:
        """The bias of the linear booster; of trees the prediction that boosting started from."""
        return dumps.intercept(self.get_booster())

    def save_model(self, fname: str | os.PathLike[str]) -> None:
        """Write the model to a file of Weald's own format."""
        booster = self.get_booster().copy()
        booster.set_attr(**{_STORED: json.dumps(self._stored())})
        booster.save_model(fname)

    def load_model(self, fname: str | os.PathLike[str] | bytearray) -> None:
        """Read a file of `save_model`, or of a Booster's; the objective, the booster and the columns' types are the file's."""
        booster = Booster(model_file=fname)
        self._restore(booster, json.loads(booster.attr(_STORED) or "{}"))
        booster.set_attr(**{_STORED: None})
        self.objective = booster._chosen().name
        self.booster = booster._params.get("booster", "gbtree")
        self.feature_types = booster.feature_types
        self.enable_categorical = "c" in (self.feature_types or ())
        self._Booster = booster

    def _stored(self) -> dict[str, Any]:
        return {"type": type(self).__name__, "kind": _kind_of(self)}

    def _restore(self, booster: Booster, stored: Mapping[str, Any]) -> None:
        """Take over what the file says beside the booster; a file of the other kind of estimator is refused."""
        own = _kind_of(self)
        theirs = stored.get("kind", own)
        if theirs != own:
            raise TypeError(f"this file holds a {theirs}, which a {type(self).__name__} cannot load.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = self.enable_categorical
        return tags


def _columns(X: Any) -> Any:
    """A table: of a list an array, of a series a frame of one column, of sparse columns of pandas plain ones."""
    if nw.dependencies.is_into_series(X):
        return nw.to_native(nw.from_native(X, series_only=True).to_frame())
    return densified(as_table(X))


def _kind_of(estimator: XGBModel) -> str | None:
    return "classifier" if is_classifier(estimator) else "regressor" if is_regressor(estimator) else None


def _several(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, list | tuple) else [wanted]


def _objective_of_labels(function: Callable[..., Any]) -> Callable[..., Any]:
    """function(y, scores[, sample_weight]) as the booster's function(scores, DMatrix)."""
    entries = inspect.signature(function).parameters
    takes_weight = "sample_weight" in entries or any(
        entry.kind == entry.VAR_KEYWORD for entry in entries.values()
    )

    def objective(scores: Any, matrix: DMatrix) -> Any:
        weight = matrix.get_weight()
        if not weight.size:
            return function(matrix.get_label(), scores)
        if not takes_weight:
            raise InputError(
                "fit was given sample_weight, so the objective must have a parameter sample_weight."
            )
        return function(matrix.get_label(), scores, sample_weight=weight)

    objective.__name__ = str(getattr(function, "__name__", "objective"))
    return objective


def _metric_of_labels(function: Callable[..., Any]) -> Callable[..., Any]:
    """function(y, predictions) -> value as the booster's function(predictions, DMatrix) -> (name, value)."""

    def metric(predictions: Any, matrix: DMatrix) -> tuple[str, float]:
        weight = matrix.get_weight()
        more = {"sample_weight": weight} if weight.size else {}
        return name_of(function), float(function(matrix.get_label(), predictions, **more))

    return metric
