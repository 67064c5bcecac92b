"""`CatBoost`: a model with CatBoost's methods."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.dialects.catboost.basic import DOOR
from weald.dialects.catboost.described import DescribedModel, threads_of
from weald.dialects.catboost.examined import ExaminedModel, leaf_indexes
from weald.dialects.catboost.fitting import fitted
from weald.dialects.catboost.importances import virtual_predictions
from weald.dialects.catboost.labels import known_labels
from weald.dialects.catboost.metrics import metric_of
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.predictions import respond
from weald.dialects.catboost.refusals import METHODS, OF_EVAL_METRICS, OF_FIT, OF_PREDICT, REFUSALS
from weald.dialects.catboost.searches import Searching
from weald.dialects.catboost.selection import Selecting
from weald.dialects.catboost.trained import Trained, from_bytes
from weald.dialects.shared.estimators import DialectEstimator, as_table
from weald.dialects.shared.tables import Float64s
from weald.dialects.shared.values import whole_number
from weald.forest.disk import read, save
from weald.runtime.errors import InputError, NotSupportedError

#: parameters of the model that `fit` takes, too
_OF_FIT = (
    "use_best_model", "verbose", "logging_level", "verbose_eval", "metric_period", "silent", "early_stopping_rounds",
    "save_snapshot", "snapshot_file", "snapshot_interval",
)  # fmt: skip
_FORMATS = "is not written; use format='cbm', which is a file of Weald's own"


@DOOR.owner
@REFUSALS.methods(METHODS)
class CatBoost(DescribedModel, ExaminedModel, Searching, Selecting, DialectEstimator):
    """A model of CatBoost's interface, for any loss.

    Parameters
    ----------
    params : CatBoost's parameters; docs/catboost_parameters.md says which are the same here

    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> model = CatBoost({"iterations": 20, "learning_rate": 0.5, "verbose": False}).fit(X, X[:, 0])
    >>> model.tree_count_, model.predict(X).shape
    (20, (100,))
    """

    #: the loss where none is named; None: by the labels
    _default_loss: ClassVar[str | None] = "RMSE"
    #: "classes" or "numbers" where labels are checked as such; None: by the loss
    _labels: ClassVar[str | None] = None
    #: what is predicted where nothing else is asked for
    _prediction_type: ClassVar[str] = "RawFormulaVal"

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.params = {} if params is None else params

    # --- parameters ---------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters that were given, and those that the constructors of subclasses keep as attributes."""
        return {**self.params, **{name: getattr(self, name) for name in self._own_names()}}

    def _own_names(self) -> list[str]:
        """What constructors of subclasses name and keep as attributes, as scikit-learn's estimators do."""
        classes = (one for one in type(self).__mro__ if "__init__" in vars(one) and issubclass(one, CatBoost))
        named = {
            name: None for one in classes for name in inspect.signature(vars(one)["__init__"]).parameters
        }
        return [name for name in named if name in self.__dict__ and name != "params"]

    def get_param(self, key: str) -> Any:
        """A parameter that was given, or None."""
        return self.params.get(key)

    def set_params(self, **params: Any) -> Any:
        """Set parameters."""
        own = self._own_names()
        for name in own:
            if name in params:
                setattr(self, name, params[name])
        kept = {name: value for name, value in params.items() if name not in own or name in self.params}
        self.params = {**self.params, **kept}
        return self

    def get_all_params(self) -> dict[str, Any]:
        """Every parameter of the training with the value that it had, those that CatBoost chooses by itself too."""
        return dict(self._trained().full)

    def __sklearn_clone__(self) -> Any:
        # Not by the constructor: that of a subclass may take other arguments than these parameters.
        other = object.__new__(type(self))
        other.__dict__ = {name: clone(getattr(self, name), safe=False) for name in self._own_names()}
        other.params = {name: clone(value, safe=False) for name, value in self.params.items()}
        return other

    def copy(self) -> Any:
        """A copy, trained as this one is."""
        return copy.deepcopy(self)

    def is_fitted(self) -> bool:
        """Whether it is trained."""
        return self.__sklearn_is_fitted__()

    def _trained(self) -> Trained:
        trained: Trained = self._holder()
        return trained

    # --- fitting ------------------------------------------------------------------------------------

    @REFUSALS.arguments(OF_FIT)
    def fit(
        self,
        X: Any,
        y: Any = None,
        cat_features: Sequence[str | int] | None = None,
        text_features: Any = None,
        embedding_features: Any = None,
        pairs: Any = None,
        graph: Any = None,
        sample_weight: Any = None,
        group_id: Any = None,
        group_weight: Any = None,
        subgroup_id: Any = None,
        pairs_weight: Any = None,
        baseline: Any = None,
        use_best_model: bool | None = None,
        eval_set: Any = None,
        verbose: bool | int | None = None,
        logging_level: str | None = None,
        plot: bool = False,
        plot_file: Any = None,
        column_description: Any = None,
        verbose_eval: bool | int | None = None,
        metric_period: int | None = None,
        silent: bool | None = None,
        early_stopping_rounds: int | None = None,
        save_snapshot: bool | None = None,
        snapshot_file: Any = None,
        snapshot_interval: int | None = None,
        init_model: Any = None,
        callbacks: Sequence[Any] | None = None,
        log_cout: Any = None,
        log_cerr: Any = None,
    ) -> Any:
        """Train on a table or a `Pool`.

        cat_features : names or positions of the columns of categories
        sample_weight, baseline : weights and raw scores to start from, one a row
        eval_set : a `Pool`, a pair (X, y), or a list of these; the last one decides which round is the best
        init_model : a model, or its file, that training goes on from
        callbacks : objects with after_iteration(info) -> whether to go on; info has iteration and metrics
        log_cout : where lines go; standard output
        """
        given = locals()
        self._forget()
        of_fit = {name: given[name] for name in _OF_FIT if given[name] is not None}
        self._Booster = fitted(
            type(self).__name__,
            (self._default_loss, self._labels),
            {**self.params, **of_fit},
            (X, y, {"cat_features": cat_features, "weight": sample_weight, "baseline": baseline}),
            eval_set,
            _trained_of(init_model),
            callbacks or (),
            log_cout,
        )
        return self

    # --- predictions --------------------------------------------------------------------------------

    def _rows(self, data: Any) -> tuple[Any, Any]:
        """The table and the first scores, (outputs, rows) or 0, of what is to be predicted; columns are checked."""
        table = data.table if isinstance(data, Pool) else as_table(data)
        table = self._check_table(table)
        if not isinstance(data, Pool) or data.start is None:
            return table, 0.0
        return table, data.starts(self._trained().chosen.n_outputs).T

    def _stages(self, data: Any, first: int, stops: Sequence[int], thread_count: int) -> Iterator[Float64s]:
        """Raw scores, (outputs, rows), of the rounds from ``first`` up to each of ``stops``."""
        table, start = self._rows(data)
        stages = self._trained().stages(table, first, stops, threads_of(thread_count))
        return (scores + start for scores in stages)

    def _predict(
        self,
        data: Any,
        prediction_type: str,
        ntree_start: int = 0,
        ntree_end: int = 0,
        thread_count: int = -1,
    ) -> NDArray[Any]:
        trained, (table, start) = self._trained(), self._rows(data)
        scores = trained.scores(table, *trained.range(ntree_start, ntree_end), threads_of(thread_count))
        return self._respond(scores + start, prediction_type)

    def _respond(self, scores: Float64s, prediction_type: str) -> NDArray[Any]:
        trained = self._trained()
        return respond(trained.chosen, scores, prediction_type, trained.classes, trained.threshold)

    @REFUSALS.arguments(OF_PREDICT)
    def predict(
        self,
        data: Any,
        prediction_type: str | None = None,
        ntree_start: int = 0,
        ntree_end: int = 0,
        thread_count: int = -1,
        verbose: bool | None = None,
        task_type: str = "CPU",
    ) -> NDArray[Any]:
        """Predictions of a table or a `Pool`, by the rounds from ntree_start up to ntree_end (0: all).

        prediction_type : RawFormulaVal, Probability, LogProbability, Class, Exponent or RMSEWithUncertainty; None: of a
            classifier Class, of a regressor what its loss is for, else RawFormulaVal
        verbose : accepted, here and in the other predictions; there is nothing to tell, as in CatBoost
        """
        return self._predict(data, prediction_type or self._predicts(), ntree_start, ntree_end, thread_count)

    def _predicts(self) -> str:
        """The prediction type of `predict` where none is named."""
        return self._prediction_type

    def staged_predict(
        self,
        data: Any,
        prediction_type: str | None = None,
        ntree_start: int = 0,
        ntree_end: int = 0,
        eval_period: int = 1,
        thread_count: int = -1,
        verbose: bool | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Predictions after every ``eval_period`` rounds; without a type those of a classifier are classes, else raw scores."""
        kind = prediction_type or self._prediction_type
        first, last = self._trained().range(ntree_start, ntree_end)
        whole_number("eval_period", eval_period, 1)
        stops = [*range(first + eval_period, last, eval_period), last]
        stages = self._stages(data, first, stops, thread_count)
        return (self._respond(scores, kind) for scores in stages)

    @REFUSALS.arguments(OF_EVAL_METRICS)
    def eval_metrics(
        self,
        data: Pool,
        metrics: Any,
        ntree_start: int = 0,
        ntree_end: int = 0,
        eval_period: int = 1,
        thread_count: int = -1,
        tmp_dir: Any = None,
        plot: bool = False,
        plot_file: Any = None,
        log_cout: Any = None,
        log_cerr: Any = None,
    ) -> dict[str, list[float]]:
        """Metric -> its values after the first round, every ``eval_period`` further ones, and the last."""
        trained = self._trained()
        if not isinstance(data, Pool):
            raise InputError(f"eval_metrics takes a Pool, not {type(data).__name__}.")
        wanted = [
            metric_of(metric, trained.chosen)
            for metric in (metrics if isinstance(metrics, list | tuple) else [metrics])
        ]
        y, weight, loss = self._codes(data), data.weights, trained.chosen.loss()
        found: dict[str, list[float]] = {one.name: [] for one in wanted}
        first, last = trained.range(ntree_start, ntree_end)
        whole_number("eval_period", eval_period, 1)
        stops = sorted({*range(first + 1, last, eval_period), last})
        for scores in self._stages(data, first, stops, thread_count):
            for one in wanted:
                found[one.name].append(one.value(loss, scores, y, weight))
        return found

    def _codes(self, pool: Pool) -> NDArray[np.float64]:
        """A pool's labels as the numbers that training had."""
        trained = self._trained()
        return known_labels(pool, trained.chosen, trained.classes, trained.full, type(self).__name__)

    def virtual_ensembles_predict(
        self,
        data: Any,
        prediction_type: str = "VirtEnsembles",
        ntree_end: int = 0,
        virtual_ensembles_count: int = 10,
        thread_count: int = -1,
        verbose: bool | None = None,
    ) -> NDArray[np.float64]:
        """Predictions of several parts of one model, (rows, parts, outputs); or what they say of uncertainty.

        prediction_type : VirtEnsembles, or TotalUncertainty: mean prediction, how far the parts differ and, where the loss has
            it, the noise of the data
        """
        table, start = self._rows(data)
        return virtual_predictions(
            self._trained(),
            table,
            start,
            prediction_type,
            ntree_end,
            virtual_ensembles_count,
            threads_of(thread_count),
        )

    def calc_leaf_indexes(
        self,
        data: Any,
        ntree_start: int = 0,
        ntree_end: int = 0,
        thread_count: int = -1,
        verbose: bool = False,
    ) -> NDArray[np.uint32]:
        """The number of the leaf that every row reaches: (rows, trees)."""
        trained, (table, _) = self._trained(), self._rows(data)
        rounds = trained.range(ntree_start, ntree_end)
        nodes = trained._reader(*rounds, threads_of(thread_count)).apply(table)
        return leaf_indexes(trained._part("calc_leaf_indexes", *rounds), nodes)

    # --- files and copies ---------------------------------------------------------------------------

    def shrink(self, ntree_end: int, ntree_start: int = 0) -> None:
        """Keep the rounds from ntree_start up to ntree_end."""
        trained = self._trained()
        trained.keep(range(*trained.range(ntree_start, ntree_end)))

    def save_model(
        self,
        fname: str | os.PathLike[str],
        format: str = "cbm",
        export_parameters: Any = None,
        pool: Any = None,
    ) -> None:
        """Write the model to a file of Weald's own format, atomically; ``pool``, which other formats need, is accepted."""
        if format != "cbm" or export_parameters is not None:
            raise NotSupportedError(f"format={format!r} {_FORMATS}.")
        save(fname, self._trained().to_bytes(self.params))

    def load_model(
        self,
        fname: str | os.PathLike[str] | None = None,
        format: str = "cbm",
        stream: Any = None,
        blob: bytes | None = None,
    ) -> Any:
        """Become the model of a file of `save_model`, or of its bytes; with ``format="json"`` of CatBoost's own JSON."""
        if format not in ("cbm", "json"):
            raise NotSupportedError(f"format={format!r} {_FORMATS}; 'json' is read.")
        given = [one for one in (fname, stream, blob) if one is not None]
        if len(given) != 1:
            raise InputError("load_model needs one of fname, stream and blob.")
        data = read(fname) if fname is not None else stream.read() if stream is not None else blob
        self.params, self._Booster = from_bytes(bytes(data or b""))
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        trained = state.get("_Booster")
        if trained is not None and trained.chosen.own is None:
            state["_Booster"] = trained.to_bytes({})
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if isinstance(state.get("_Booster"), bytes):
            self._Booster = from_bytes(state["_Booster"])[1]


def _trained_of(init_model: Any) -> Trained | None:
    if init_model is None:
        return None
    if isinstance(init_model, CatBoost):
        return init_model._trained()
    return from_bytes(read(init_model))[1]
