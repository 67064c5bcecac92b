"""`CatBoost`: a model with CatBoost's methods."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from weald.dialects.catboost.basic import EFstrType
from weald.dialects.catboost.fitting import fitted
from weald.dialects.catboost.importances import check_options, importances, virtual_predictions
from weald.dialects.catboost.labels import known_labels
from weald.dialects.catboost.metrics import metric_of
from weald.dialects.catboost.pool import Pool
from weald.dialects.catboost.predictions import respond
from weald.dialects.catboost.refusals import RefusedMethods
from weald.dialects.catboost.trained import Trained, from_bytes
from weald.dialects.shared.estimators import DialectEstimator, as_table
from weald.dialects.shared.tables import Float64s, scores_of_outputs
from weald.forest.disk import read, save
from weald.runtime.errors import InputError, NotSupportedError

_FORMATS = "is not written; use format='cbm', which is a file of Weald's own"


class CatBoost(RefusedMethods, DialectEstimator):
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

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.params = {} if params is None else params

    # --- parameters ---------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters that were given."""
        return dict(self.params)

    def get_param(self, key: str) -> Any:
        """A parameter that was given, or None."""
        return self.params.get(key)

    def set_params(self, **params: Any) -> Any:
        """Set parameters."""
        self.params = {**self.params, **params}
        return self

    def get_all_params(self) -> dict[str, Any]:
        """Every parameter of the training with the value that it had, those that CatBoost chooses by itself too."""
        return dict(self._trained().full)

    def __sklearn_clone__(self) -> Any:
        other = object.__new__(type(self))
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
        _refuse(given)
        self._forget()
        of_fit = {
            name: given[name]
            for name in (
                "use_best_model",
                "verbose",
                "logging_level",
                "verbose_eval",
                "metric_period",
                "silent",
                "early_stopping_rounds",
                "save_snapshot",
                "snapshot_file",
                "snapshot_interval",
            )
            if given[name] is not None
        }
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
        if not isinstance(data, Pool) or data.baseline is None:
            return table, 0.0
        n_outputs = self._trained().chosen.n_outputs
        return table, scores_of_outputs("baseline", data.baseline, data.num_row(), n_outputs).T

    def _stages(self, data: Any, first: int, stops: Sequence[int], thread_count: int) -> Iterator[Float64s]:
        """Raw scores, (outputs, rows), of the rounds from ``first`` up to each of ``stops``."""
        table, start = self._rows(data)
        stages = self._trained().stages(table, first, stops, _threads(thread_count))
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
        scores = trained.scores(table, *trained.range(ntree_start, ntree_end), _threads(thread_count))
        return self._respond(scores + start, prediction_type)

    def _respond(self, scores: Float64s, prediction_type: str) -> NDArray[Any]:
        trained = self._trained()
        return respond(trained.chosen, scores, prediction_type, trained.classes, trained.threshold)

    def predict(
        self,
        data: Any,
        prediction_type: str = "RawFormulaVal",
        ntree_start: int = 0,
        ntree_end: int = 0,
        thread_count: int = -1,
        verbose: bool | None = None,
        task_type: str = "CPU",
    ) -> NDArray[Any]:
        """Predictions of a table or a `Pool`, by the rounds from ntree_start up to ntree_end (0: all).

        prediction_type : RawFormulaVal, Probability, LogProbability, Class, Exponent or RMSEWithUncertainty
        verbose : accepted, here and in the other predictions; there is nothing to tell, as in CatBoost
        """
        _check_task(task_type)
        return self._predict(data, prediction_type, ntree_start, ntree_end, thread_count)

    def staged_predict(
        self,
        data: Any,
        prediction_type: str = "RawFormulaVal",
        ntree_start: int = 0,
        ntree_end: int = 0,
        eval_period: int = 1,
        thread_count: int = -1,
        verbose: bool | None = None,
    ) -> Iterator[NDArray[Any]]:
        """Predictions after every ``eval_period`` rounds."""
        first, last = self._trained().range(ntree_start, ntree_end)
        _check_period(eval_period)
        stops = [*range(first + eval_period, last, eval_period), last]
        stages = self._stages(data, first, stops, thread_count)
        return (self._respond(scores, prediction_type) for scores in stages)

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
        _refuse(locals())
        if log_cout is not None:
            raise NotSupportedError(
                "log_cout is not supported by weald.catboost: eval_metrics prints nothing; leave it out."
            )
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
        _check_period(eval_period)
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
            _threads(thread_count),
        )

    def calc_leaf_indexes(
        self,
        data: Any,
        ntree_start: int = 0,
        ntree_end: int = 0,
        thread_count: int = -1,
        verbose: bool = False,
    ) -> NDArray[np.int32]:
        """The node, by its number within the tree, that every row reaches: (rows, trees)."""
        trained, (table, _) = self._trained(), self._rows(data)
        return trained._reader(*trained.range(ntree_start, ntree_end), _threads(thread_count)).apply(table)

    # --- what it is ---------------------------------------------------------------------------------

    @property
    def tree_count_(self) -> int | None:
        """How many rounds the model has."""
        return self._trained()._rounds() if self.is_fitted() else None

    @property
    def best_iteration_(self) -> int | None:
        """The best round on the last eval_set, from 0."""
        return self._trained().best_iteration if self.is_fitted() else None

    @property
    def best_score_(self) -> dict[str, dict[str, float]]:
        """Set -> metric -> its best value."""
        return self._trained().best_score if self.is_fitted() else {}

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """Set ("learn", "validation", or "validation_0", …) -> metric -> a value for every round."""
        return self._trained().curves if self.is_fitted() else {}

    @property
    def learning_rate_(self) -> float:
        """The learning rate of the training."""
        return float(self._trained().full["learning_rate"])

    @property
    def random_seed_(self) -> Any:
        """The seed of the training."""
        return self._trained().full["random_seed"]

    @property
    def feature_names_(self) -> list[str]:
        """Names of the columns."""
        return list(self._trained().names)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes; none of a regression."""
        found = self._trained().classes
        return np.array([]) if found is None else found

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """How much predictions change with every column, in percent; see `get_feature_importance`."""
        return importances(self._trained(), None, EFstrType.FeatureImportance)

    def get_best_iteration(self) -> int | None:
        """`best_iteration_`."""
        return self.best_iteration_

    def get_best_score(self) -> dict[str, dict[str, float]]:
        """`best_score_`."""
        return self.best_score_

    def get_evals_result(self) -> dict[str, dict[str, list[float]]]:
        """`evals_result_`."""
        return self.evals_result_

    def get_n_features_in(self) -> int:
        """How many columns X had."""
        return self.n_features_in_

    def get_cat_feature_indices(self) -> list[int]:
        """Positions of the columns of categories."""
        return self._trained().categorical

    def get_text_feature_indices(self) -> list[int]:
        """Positions of the columns of text: there are none."""
        return []

    def get_embedding_feature_indices(self) -> list[int]:
        """Positions of the columns of embeddings: there are none."""
        return []

    def get_tree_leaf_counts(self) -> NDArray[np.uint32]:
        """Leaves of every tree."""
        forest = self._trained()._trees("get_tree_leaf_counts")
        return np.array([forest.tree(place).n_leaves for place in range(forest.n_trees)], np.uint32)

    def get_scale_and_bias(self) -> tuple[float, Any]:
        """1, and the score that every row starts from."""
        base = self._trained()._trees("get_scale_and_bias").base_score
        return 1.0, float(base[0]) if len(base) == 1 else base.tolist()

    def set_feature_names(self, feature_names: Sequence[str]) -> None:
        """Rename the columns."""
        names = [str(name) for name in feature_names]
        if len(names) != self.n_features_in_:
            raise InputError(f"feature_names must be {self.n_features_in_} names, not {len(names)}.")
        self._trained().names = names

    def get_feature_importance(
        self,
        data: Pool | None = None,
        type: EFstrType | str = EFstrType.FeatureImportance,
        prettified: bool = False,
        thread_count: int = -1,
        verbose: bool = False,
        fstr_type: EFstrType | str | None = None,
        shap_mode: str = "Auto",
        model_output: str = "Raw",
        interaction_indices: Any = None,
        shap_calc_type: str = "Regular",
        reference_data: Any = None,
        sage_n_samples: int = 128,
        sage_batch_size: int = 512,
        sage_detect_convergence: bool = True,
        log_cout: Any = None,
        log_cerr: Any = None,
    ) -> Any:
        """What the columns count for: PredictionValuesChange (the default), in percent, LossFunctionChange or ShapValues.

        The last two need data. ShapValues are (rows, columns + 1), and (rows, outputs, columns + 1) where a row has several
        scores; ``prettified``: a frame with the largest first.
        """
        check_options({**locals(), "verbose": bool(verbose)})
        trained = self._trained()
        y = self._codes(data) if isinstance(data, Pool) and data.has_label() else None
        found = importances(trained, data, fstr_type or type, y, _threads(thread_count))
        if not prettified or found.ndim > 1:
            return found
        import pandas as pd

        order = np.argsort(-found, kind="stable")
        return pd.DataFrame({"Feature Id": np.array(trained.names)[order], "Importances": found[order]})

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
        """Become the model of a file of `save_model`, or of its bytes; one of CatBoost's own is refused."""
        if format != "cbm":
            raise NotSupportedError(f"format={format!r} {_FORMATS}.")
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


def _threads(thread_count: int) -> int | None:
    return thread_count if thread_count > 0 else None


def _check_period(eval_period: Any) -> None:
    if isinstance(eval_period, bool) or not isinstance(eval_period, int | np.integer) or eval_period < 1:
        raise InputError(f"eval_period must be a whole number of rounds, at least 1, not {eval_period!r}.")


def _check_task(task_type: str) -> None:
    if task_type != "CPU":
        raise NotSupportedError(f"task_type={task_type!r} is not supported: there is no GPU; use 'CPU'.")


def _trained_of(init_model: Any) -> Trained | None:
    if init_model is None:
        return None
    if isinstance(init_model, CatBoost):
        return init_model._trained()
    return from_bytes(read(init_model))[1]


_NOT_HERE: Mapping[str, str] = {
    **dict.fromkeys(("text_features", "embedding_features"), "make numbers of such columns first."),
    **dict.fromkeys(
        ("pairs", "graph", "group_id", "group_weight", "subgroup_id", "pairs_weight"),
        "ranking is not supported; leave it out.",
    ),
    **dict.fromkeys(
        ("plot", "plot_file"), "there are no pictures in notebooks; draw evals_result_ with matplotlib."
    ),
    "column_description": "files are not read; give a table.",
    "tmp_dir": "nothing is written; leave it out.",
    "log_cerr": "errors are raised; leave it out.",
}


def _refuse(given: Mapping[str, Any]) -> None:
    """Refuse arguments that are not there; None and False ask for nothing."""
    for name, reason in _NOT_HERE.items():
        value = given.get(name)
        if value is not None and value is not False:
            raise NotSupportedError(f"{name} is not supported by weald.catboost: {reason}")
