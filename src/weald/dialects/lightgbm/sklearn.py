"""LightGBM's scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_sample_weight

from weald.data import read_weights
from weald.dialects.lightgbm.basic import DOOR, log_warning
from weald.dialects.lightgbm.booster import Booster
from weald.dialects.lightgbm.callback import record_evaluation
from weald.dialects.lightgbm.dataset import Dataset, default_names
from weald.dialects.lightgbm.estimator_parameters import defaults_of, drawn_seed, given_parameters, taken
from weald.dialects.lightgbm.functions import ObjectiveOfLabels, metric_of_labels
from weald.dialects.lightgbm.metrics import names_of
from weald.dialects.lightgbm.refusals import OF_FIT, REFUSALS
from weald.dialects.lightgbm.training import train
from weald.dialects.shared.estimators import ClassLabels, DialectEstimator, as_table, both_classes, sets_of
from weald.params.lightgbm import LIGHTGBM_PARAMETERS
from weald.params.lightgbm_table import OBJECTIVE_ALIASES
from weald.runtime.errors import InputError


@DOOR.owner
class LGBMModel(DialectEstimator):
    """What LightGBM's estimators share; further parameters of LightGBM's come as keywords."""

    def __init__(
        self,
        *,
        boosting_type: str = "gbdt",
        num_leaves: int = 31,
        max_depth: int = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample_for_bin: int = 200000,
        objective: str | Callable[..., Any] | None = None,
        class_weight: Any = None,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        importance_type: str = "split",
        **kwargs: Any,
    ) -> None:
        self._set_parameters(locals())

    # Set above, one by one by name; declared for readers and type checkers.
    n_estimators: int
    #: what an estimator has after `fit` only, beside its properties
    _of_fit: tuple[str, ...] = ()
    objective: str | Callable[..., Any] | None
    class_weight: Any
    importance_type: str

    # --- fitting ------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Parameters that came as further keywords; what only `fit` knows is told to be missing."""
        further = self.__dict__.get("kwargs", {})
        if name in further:
            return further[name]
        own = getattr(type(self), name, None)
        if isinstance(own, property) and own.fget is not None:
            return own.fget(self)  # whose error has led here
        if name in self._of_fit:
            self._holder()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _booster_params(self) -> dict[str, Any]:
        """What `train` is given: the parameters as they are called, but for those of the estimator and of a user's subclass."""
        own = {name: getattr(self, name) for name in SIGNATURE}
        params = given_parameters(
            own | self.get_params(deep=False), self.__dict__.get("kwargs", {}), SIGNATURE
        )
        objective = params.pop("objective", None)
        for name in LIGHTGBM_PARAMETERS["objective"].aliases:
            if params.get(name) is not None:
                objective = params.pop(name)
                log_warning(f"{name}={objective!r} counts in place of objective.")
        self._objective = objective if objective is not None else self._default_objective()
        params["objective"] = (
            ObjectiveOfLabels(self._objective) if callable(self._objective) else self._objective
        )
        if "random_state" in params:  # unless it came by another name
            params["random_state"] = drawn_seed(params["random_state"])
        return params

    @property
    def _objective_name(self) -> str:
        """LightGBM's own name of the objective."""
        return OBJECTIVE_ALIASES.get(self._objective, str(self._objective))

    def _default_objective(self) -> str:
        raise InputError("LGBMModel needs an objective; or use LGBMRegressor or LGBMClassifier.")

    def _metrics(self, params: dict[str, Any], eval_metric: Any) -> tuple[list[str], list[Any]]:
        """The metrics by name, those of fit first, and the functions."""
        several = eval_metric if isinstance(eval_metric, list | tuple) else [eval_metric]
        named = [self._metric_name(name) for name in several if isinstance(name, str)]
        own = names_of(taken(params, "metric") or "") or self._default_metrics()
        functions = [metric_of_labels(function) for function in several if callable(function)]
        return [*(name for name in named if name not in own), *own], functions

    def _metric_name(self, name: str) -> str:
        return name

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels = True
        return tags

    def _default_metrics(self) -> list[str]:
        return ["l2"] if callable(self._objective) else [str(self._objective)]

    def _class_weights(self, wanted: Any, y: NDArray[np.float64], weight: Any) -> Any:
        """The rows' weights times those of their classes."""
        if wanted is None:
            return weight
        factors = np.asarray(compute_sample_weight(self._coded(wanted), y), np.float64)
        return factors if weight is None else factors * weight

    def _coded(self, wanted: Any) -> Any:
        return wanted

    @REFUSALS.arguments(OF_FIT)
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        group: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_class_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_group: Any = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
    ) -> Any:
        """Train on a table.

        eval_set : pairs (X, y) to be evaluated after every round; or tuples eval_X and eval_y
        eval_names, eval_sample_weight, eval_class_weight, eval_init_score : one for each of these
        eval_metric : names, functions(y, predictions[, weight]) -> (name, value, whether larger is better), or both
        callbacks, init_model : as in `train`
        """
        self._forget()
        label, weight = self._labels_and_weights(X, y, sample_weight)
        params = self._booster_params()
        names, functions = self._metrics(params, eval_metric)
        params["metric"] = names or "None"
        weight = self._class_weights(self.class_weight, label, weight)
        data = Dataset(
            as_table(X),
            label,
            weight=weight,
            init_score=init_score,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
        )
        sets = sets_of(
            _pairs(eval_set, eval_X, eval_y),
            eval_sample_weight=eval_sample_weight,
            eval_class_weight=eval_class_weight,
            eval_init_score=eval_init_score,
        )
        found: dict[str, Any] = {}
        self._Booster = train(
            params,
            data,
            self.n_estimators,
            valid_sets=self._valid_sets(data, (X, y), sets),
            valid_names=eval_names,
            feval=functions,
            init_model=init_model.booster_ if isinstance(init_model, LGBMModel) else init_model,
            callbacks=[*(callbacks or ()), record_evaluation(found)],
        )
        self._evals_result = found
        return self

    def _valid_sets(
        self, data: Dataset, own: tuple[Any, Any], several: Sequence[tuple[Any, ...]]
    ) -> list[Dataset]:
        """The sets to evaluate; the training table and labels, ``own``, are the training set."""
        sets = []
        for table, target, weight, factors, start in several:
            if table is own[0] and target is own[1]:
                sets.append(data)
                continue
            valid = data.create_valid(as_table(table), init_score=start)
            label = self._eval_target(target, valid.num_data())
            weight = self._class_weights(factors, label, read_weights(weight, valid.num_data()))
            sets.append(valid.set_label(label).set_weight(weight))
        return sets

    # --- after fitting ------------------------------------------------------------------------------

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
        """Predictions, as `Booster.predict` gives them; of a classifier the most probable class of every row.

        A classifier with an objective of your own gives raw scores.
        """
        which = (start_iteration, num_iteration, raw_score, pred_leaf, pred_contrib)
        found = self._found(X, *which, validate_features=validate_features, **kwargs)
        return found if raw_score or pred_leaf or pred_contrib else self._answer(found)

    def _readable(self, table: Any) -> Any:
        return self.booster_._readable(table)

    def _found(self, X: Any, *which: Any, **options: Any) -> Any:
        """What the booster predicts for a table."""
        self._check_table(X)
        return self.booster_.predict(as_table(X), *which, **options)

    def _answer(self, predicted: Any) -> Any:
        """What `predict` says for a booster's predictions."""
        return predicted

    @property
    def booster_(self) -> Booster:
        """The booster."""
        booster: Booster = self._holder()
        return booster

    @property
    def n_features_(self) -> int:
        """How many columns X had."""
        return self.booster_.num_feature()

    @property
    def feature_name_(self) -> list[str]:
        """Names of the columns."""
        return self.booster_.feature_name()

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns, where X had some, or fit was given some."""
        names = self.feature_name_
        if names == default_names(len(names)):
            raise AttributeError(
                "feature_names_in_ is defined only when X has names of columns, or fit was given feature_name."
            )
        return np.array(names, dtype=object)

    @property
    def feature_importances_(self) -> NDArray[Any]:
        """How often each column is split, or the sum of its gains (``importance_type``)."""
        return self.booster_.feature_importance(self.importance_type)

    @property
    def best_iteration_(self) -> int:
        """The best round of early stopping, counted from 1; 0 without."""
        return self.booster_.best_iteration

    @property
    def best_score_(self) -> dict[str, dict[str, float]]:
        """Set -> metric -> value of the best round, or of the last."""
        return self.booster_.best_score

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """Set -> metric -> a value for every round."""
        self._holder()
        found: dict[str, Any] = self._evals_result
        return found

    @property
    def n_estimators_(self) -> int:
        """How many rounds the model has."""
        return self.booster_.current_iteration()

    @property
    def n_iter_(self) -> int:
        """How many rounds the model has."""
        return self.booster_.current_iteration()

    @property
    def objective_(self) -> str | Callable[..., Any]:
        """What was minimised, as it was asked for."""
        self._holder()
        return self._objective


#: the parameters of the signature, and their defaults
SIGNATURE = defaults_of(LGBMModel)


@DOOR.owner
class LGBMRegressor(RegressorMixin, LGBMModel):  # type: ignore[misc]
    """LightGBM's regressor on Weald's engine.

    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> LGBMRegressor(n_estimators=40).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9
    True
    """

    def _default_objective(self) -> str:
        return "regression"


@DOOR.owner
class LGBMClassifier(ClassifierMixin, ClassLabels, LGBMModel):  # type: ignore[misc]
    """LightGBM's classifier on Weald's engine.

    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> model = LGBMClassifier(n_estimators=5).fit(X, np.where(X[:, 0] > 90, "late", "early"))
    >>> model.predict(X[[0, -1]]).tolist(), model.predict_proba(X).shape
    (['early', 'late'], (200, 2))
    """

    _of_fit = ("classes_", "n_classes_")

    def _default_objective(self) -> str:
        return "multiclass" if self.n_classes_ > 2 else "binary"

    def _default_metrics(self) -> list[str]:
        if callable(self._objective):
            return ["multi_logloss" if self.n_classes_ > 2 else "binary_logloss"]
        return [str(self._objective)]

    def _metric_name(self, name: str) -> str:
        """A metric of the other number of classes is taken as that of this one."""
        kind = name.removeprefix("multi_").removeprefix("binary_")
        if kind not in ("logloss", "error"):
            return name
        return f"{'multi' if self.n_classes_ > 2 else 'binary'}_{kind}"

    def _booster_params(self) -> dict[str, Any]:
        params = super()._booster_params()
        several, objective = self.n_classes_ > 2, self._objective_name
        if several:
            taken(params, "num_class")
            params["num_class"] = self.n_classes_
        if several and objective in ("binary", "cross_entropy"):
            raise InputError(
                f"objective={objective!r} is for two classes, but y has {self.n_classes_}; use 'multiclass'."
            )
        if not several and objective in ("multiclass", "multiclassova"):
            params["num_class"] = 2
        return params

    def _coded(self, wanted: Any) -> Any:
        if not isinstance(wanted, dict):
            return wanted
        known = {value: float(place) for place, value in enumerate(self.classes_.tolist())}
        unknown = [value for value in wanted if value not in known]
        if unknown:
            raise InputError(f"class_weight has the class {unknown[0]!r}, which y does not have.")
        return {known[value]: factor for value, factor in wanted.items()}

    def _answer(self, predicted: Any) -> Any:
        chances = self._chances(predicted)
        return chances if callable(self._objective) else self.classes_[chances.argmax(axis=1)]

    def _chances(self, predicted: Any) -> Any:
        """Probabilities, (rows, classes), of a booster's predictions."""
        if callable(self._objective):
            log_warning("an objective of your own has no probabilities; these are raw scores.")
            return predicted
        return predicted if predicted.ndim == 2 else both_classes(predicted)

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
        """Probabilities, (rows, classes); under an objective of your own, the raw scores."""
        which = (start_iteration, num_iteration, raw_score, pred_leaf, pred_contrib)
        found = self._found(X, *which, validate_features=validate_features, **kwargs)
        return found if raw_score or pred_leaf or pred_contrib else self._chances(found)

    def decision_function(
        self,
        X: Any,
        *,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Raw scores, (rows,) of two classes or (rows, classes)."""
        which = (start_iteration, num_iteration, True)
        return self._found(X, *which, validate_features=validate_features, **kwargs)


def _pairs(eval_set: Any, eval_X: Any, eval_y: Any) -> Any:
    """The sets to evaluate, from pairs or from tuples of tables and of labels."""
    if (eval_X is None) != (eval_y is None):
        raise InputError("eval_X and eval_y go together; give both, or eval_set.")
    if eval_X is None:
        return [eval_set] if isinstance(eval_set, tuple) and len(eval_set) == 2 else eval_set
    if eval_set is not None:
        raise InputError("eval_set and eval_X say the same; give one of them.")
    tables, labels = (part if isinstance(part, tuple) else (part,) for part in (eval_X, eval_y))
    if len(tables) != len(labels):
        raise InputError(f"eval_X has {len(tables)} tables, but eval_y has labels of {len(labels)}.")
    return list(zip(tables, labels, strict=True))
