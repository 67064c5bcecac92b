"""`Booster`: a trained model, or one in training, with LightGBM's methods."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.data.read import open_table
from weald.dialects.lightgbm import dumps, files
from weald.dialects.lightgbm.basic import DOOR, EvalResult, log_warning, quiet
from weald.dialects.lightgbm.columns import ColumnFacts, as_trained
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.described import DescribedBooster
from weald.dialects.lightgbm.metrics import metrics_of
from weald.dialects.lightgbm.paths import rows_to_predict, with_file
from weald.dialects.lightgbm.refit import refitted
from weald.dialects.lightgbm.refusals import BOOSTER_METHODS, REFUSALS
from weald.dialects.lightgbm.request import (
    CustomObjective,
    Request,
    called,
    functions_of,
    results_of,
)
from weald.dialects.lightgbm.translate import threads_of
from weald.dialects.shared.reader import Reader
from weald.dialects.shared.tables import Float64s, array_of_rows, columns_of, one_a_row
from weald.estimators.boosted.refit import check_refits
from weald.estimators.shared.labels import Labels
from weald.forest.disk import read, save
from weald.params.lightgbm import read_parameters, value_of
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.flat import from_flat
from weald.training.boosting.parameters import BoostingParameters

_MOST_CELLS = 2**22  # of contributions that are there before they become sparse: 32 MiB
_OF_CALLS = ("num_threads", "verbosity")  # the parameters that a single prediction may have of its own


@DOOR.owner
@REFUSALS.methods(BOOSTER_METHODS)
class Booster(DescribedBooster):
    """A model of LightGBM's interface: what `train` returns.

    Parameters
    ----------
    params : LightGBM's parameters
    train_set : rows to train on, round by round, with `update`
    model_file, model_str : a model that `save_model` or `model_to_string` has written

    >>> import numpy as np
    >>> from weald.lightgbm import Dataset, train
    >>> X = np.arange(100.0).reshape(-1, 1)
    >>> booster = train({"num_leaves": 4}, Dataset(X, X[:, 0]), num_boost_round=3)
    >>> booster.num_trees(), booster.predict(X).shape
    (3, (100,))
    """

    _by_position = True

    def __init__(
        self,
        params: dict[str, Any] | None = None,
        train_set: Dataset | None = None,
        model_file: str | os.PathLike[str] | None = None,
        model_str: str | None = None,
    ) -> None:
        self.params = dict(params or {})
        self._set_params(read_parameters(params, warn=log_warning))
        self._names: list[str] = []
        self._train_set: Dataset | None = None
        self._valid_sets: list[tuple[Dataset, str]] = []
        self._train_data_name = "training"
        #: the learning rate of every round
        self._rates: list[float] = []
        self._facts: ColumnFacts | None = None
        self._from_scores = False
        #: the best round of early stopping, counted from 1; -1: there is none
        self.best_iteration = -1
        #: set -> metric -> value of the best round
        self.best_score: dict[str, dict[str, float]] = {}
        if train_set is not None:
            self._set_train_set(train_set)
            self._params = with_file(self._params, train_set.file, train_set.data_params())
            self.params |= train_set.get_params()
        elif model_file is not None:
            files.from_bytes(self, read(model_file))
        elif model_str is not None:
            self.model_from_string(model_str)
        elif params is None:
            raise TypeError("a Booster needs a train_set, a model_file or a model_str.")

    def _set_params(self, known: dict[str, Any]) -> None:
        """Take parameters that were read; a function among them is kept apart, as neither files nor pickles hold it."""
        objective = known.get("objective")
        self._objective: CustomObjective | None = objective if callable(objective) else None
        self._params = {**known, "objective": "custom"} if callable(objective) else known
        self._custom = self._params.get("objective") == "custom"
        self.params = without_functions(self.params)

    @classmethod
    def _of(cls, known: dict[str, Any], params: Mapping[str, Any], train_set: Dataset) -> Booster:
        """A booster by parameters that were read already; ``params``: as they are called."""
        booster = cls({})
        booster._set_train_set(train_set)
        booster.params = {**params, **train_set.get_params()}
        booster._set_params(with_file(known, train_set.file, train_set.data_params()))
        return booster

    def _continue(self, model: Booster) -> None:
        """Go on from another model's trees."""
        if self._train_set is not None and self._train_set.start is not None:
            log_warning("init_score is ignored: training starts from the scores of init_model.")
        self._set_model(model._fitted())
        self._rates, self._facts = model._rates[: model._rounds()], model._facts

    def rollback_one_iter(self) -> Booster:
        """Forget the last round."""
        rounds = self._rounds()
        if rounds:
            self._set_model(self._model_of(0, rounds - 1))
        return self

    # --- sets and their metrics ---------------------------------------------------------------------

    def set_train_data_name(self, name: str) -> Booster:
        """What the training set is called in results."""
        self._train_data_name = name
        return self

    def add_valid(self, data: Dataset, name: str) -> Booster:
        """Have `eval_valid` evaluate a set."""
        if not isinstance(data, Dataset):
            raise TypeError(f"a valid set must be a Dataset, not {type(data).__name__}.")
        self._valid_sets.append((data, str(name)))
        return self

    @property
    def valid_sets(self) -> list[Dataset]:
        """The sets that `eval_valid` evaluates."""
        return [data for data, _ in self._valid_sets]

    @property
    def name_valid_sets(self) -> list[str]:
        """What they are called."""
        return [name for _, name in self._valid_sets]

    def free_dataset(self) -> Booster:
        """Forget the sets; the model stays."""
        self._finish()
        self._train_set, self._valid_sets = None, []
        return self

    def eval(self, data: Dataset, name: str, feval: Any = None) -> list[EvalResult]:
        """The metrics of a set."""
        if not isinstance(data, Dataset):
            raise TypeError(f"eval takes a Dataset, not {type(data).__name__}.")
        chosen = self._chosen()
        if self._is_trained():
            scores = self._scores(self._readable(data.table))
        else:
            scores = np.zeros((chosen.n_outputs, data.num_data()))
        if data.start is not None:
            scores = scores + data.start.reshape(data.num_data(), -1).T
        prediction, y = chosen.predictions(scores), data.labels
        metrics = metrics_of(self._params, chosen)
        values: list[tuple[Any, ...]] = [
            (metric.name, metric(y, prediction, data.weights), metric.greater_is_better) for metric in metrics
        ]
        return results_of(name, [*values, *called(functions_of(feval), prediction, data)], {})

    def eval_train(self, feval: Any = None) -> list[EvalResult]:
        """The metrics of the training set."""
        if self._train_set is None:
            raise InputError(
                "this Booster has no training set any more; train with keep_training_booster=True."
            )
        return self.eval(self._train_set, self._train_data_name, feval)

    def eval_valid(self, feval: Any = None) -> list[EvalResult]:
        """The metrics of the valid sets."""
        return [result for data, name in self._valid_sets for result in self.eval(data, name, feval)]

    # --- predictions --------------------------------------------------------------------------------

    def _scores(self, table: Any) -> Float64s:
        """Raw scores of all rounds, (outputs, rows)."""
        return self._rounds_reader(0, self._rounds(), self._params)._raw(table)

    def _readable(self, table: Any) -> Any:
        """A table with categories as the training table had them."""
        return as_trained(table, self._fitted().schema, self._facts)

    def _rounds_reader(self, first: int, last: int, params: Mapping[str, Any]) -> Reader:
        """The trees of some rounds; without the first score where the first round is left out."""
        whole = first == 0 or self._trees("predictions").averaged
        return self._reader(first, last, threads_of(params), whole)

    def _params_of(self, method: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The model's parameters with those that a call may change: the number of threads and how much is said."""
        known = read_parameters(given, warn=log_warning)
        for name, value in known.items():
            if name not in _OF_CALLS and value != value_of(self._params, name):
                raise NotSupportedError(
                    f"{method} does not take {name}={value!r}: beside its own arguments it takes {' and '.join(_OF_CALLS)}; "
                    "leave it out."
                )
        return {**self._params, **known}

    def predict(
        self,
        data: Any,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        raw_score: bool = False,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        data_has_header: bool = False,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Predictions of a table, or of a text file, with labels or without.

        num_iteration : rounds from start_iteration on; None: up to the best round of early stopping, 0 and below: all
        raw_score : the sum of the trees
        pred_leaf : the number of the leaf that every row reaches, (rows, trees)
        pred_contrib : what every column adds to the raw score, its Shapley value, and last the mean score that they are added to:
            (rows, columns + 1), of several classes one block after the other; of a sparse table a sparse matrix, or a list of
            them, one a class
        kwargs : parameters of this call, num_threads and verbosity
        """
        if isinstance(data, Dataset):
            raise TypeError("predict takes a table, not a Dataset.")
        if isinstance(data, str | os.PathLike):
            label = int(value_of(self._params, "label_column") or 0)
            data = rows_to_predict(data, data_has_header, label, self._names, validate_features)
        elif data_has_header:
            raise NotSupportedError("data_has_header is of files, but data is a table; leave it out.")
        params = self._params_of("predict", kwargs)
        first, last = self._range(start_iteration, num_iteration)
        with quiet(kwargs):
            self._check_names(data, validate_features)
        table = array_of_rows(data) if isinstance(data, list | tuple) else data
        if not self._is_trained() and self._train_set is not None:
            return self._untrained_answer(table, raw_score, pred_leaf, pred_contrib)
        table, reader = self._readable(table), self._rounds_reader(first, last, params)
        if pred_contrib:
            found, times = self._contributions(table, reader), self._added_up(first, last)
            return [part * times for part in found] if isinstance(found, list) else found * times
        if pred_leaf:
            return self._leaves(table, reader, first, last)
        scores = reader._raw(table)
        return self._answer(scores * self._added_up(first, last) if raw_score else scores, raw_score)

    def _added_up(self, first: int, last: int) -> float:
        """By what raw scores are multiplied: of averaged trees LightGBM tells the sum."""
        return float(last - first) if self._trees("predictions").averaged else 1.0

    def _untrained_answer(self, table: Any, raw_score: bool, pred_leaf: bool, pred_contrib: bool) -> Any:
        """What a booster without trees predicts: scores of 0."""
        shape = open_table(table, least_rows=0)
        if len(shape.names) != self.num_feature():
            raise InputError(
                f"data has {len(shape.names)} columns, but the training set has {self.num_feature()}."
            )
        outputs = self.num_model_per_iteration()
        if pred_leaf or pred_contrib:
            return np.zeros((shape.n_rows, 0 if pred_leaf else outputs * (self.num_feature() + 1)))
        return self._answer(np.zeros((outputs, shape.n_rows)), raw_score)

    def _answer(self, scores: Float64s, raw_score: bool) -> Float64s:
        """Scores of all outputs as `predict` hands them out."""
        return (replace(self._chosen(), custom=True) if raw_score else self._chosen()).predictions(scores)

    def _check_names(self, data: Any, wanted: bool) -> None:
        names = columns_of(data)
        own = ["_".join(name.split()) for name in names]
        if not names or own == self._names:
            return
        if wanted:
            raise InputError(f"data has the columns {names}, but the model was trained with {self._names}.")
        if sorted(own) == sorted(self._names):
            log_warning(
                "data has the columns of the training in another order, and they are matched by position; "
                "validate_features=True refuses such a table."
            )

    def _contributions(self, table: Any, reader: Reader) -> Any:
        if not scipy.sparse.issparse(table):
            found = reader.shap_values(table)
            return found.reshape(len(found), int(np.prod(found.shape[1:])))
        return self._sparse_contributions(table, reader)

    def _sparse_contributions(self, table: Any, reader: Reader) -> Any:
        """A few rows at a time, so that what is not 0 alone takes memory."""
        rows, outputs = table.tocsr(), self.num_model_per_iteration()
        step = max(1, _MOST_CELLS // (outputs * (rows.shape[1] + 1)))
        parts: list[list[Any]] = [[] for _ in range(outputs)]
        for first in range(0, max(1, rows.shape[0]), step):
            found = reader.shap_values(rows[first : first + step])
            for place, part in enumerate(parts):
                part.append(scipy.sparse.csr_matrix(found if outputs == 1 else found[:, place]))
        kind = "csc" if table.format == "csc" else "csr"
        several = [scipy.sparse.vstack(part, format=kind) for part in parts]
        return several[0] if outputs == 1 else several

    def _leaves(self, table: Any, reader: Reader, first: int, last: int) -> NDArray[np.int32]:
        nodes = reader.apply(table)
        forest = self._part("pred_leaf", first, last)
        for place in range(forest.n_trees):
            nodes[:, place] = dumps.leaf_numbers(forest.tree(place))[nodes[:, place]]
        return nodes

    def refit(
        self,
        data: Any,
        label: Any,
        decay_rate: float = 0.9,
        reference: Dataset | None = None,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        dataset_params: dict[str, Any] | None = None,
        free_raw_data: bool = True,
        validate_features: bool = False,
        **kwargs: Any,
    ) -> Booster:
        """A model of the same trees whose leaf values are ``decay_rate`` of the old and the rest from other rows.

        reference, feature_name, categorical_feature, dataset_params : may say again what the model has; as rows find their
            leaves by the model's own thresholds and categories, anything else is refused
        free_raw_data : accepted; the new model keeps no rows
        kwargs : parameters of this call, num_threads and verbosity
        """
        if self._custom:
            raise NotSupportedError("refit needs an objective by name; this model has a function of its own.")
        params = self._params_of("refit", kwargs)
        with quiet(kwargs):
            self._check_names(data, validate_features)
        other = Dataset(
            data,
            label,
            reference,
            weight,
            group,
            init_score,
            feature_name,
            categorical_feature,
            dataset_params,
            free_raw_data,
        )
        self._check_data(other)
        chosen = self._chosen()
        start = other.start
        categories = np.flatnonzero(self._fitted().schema.categorical_mask[: other.num_feature()])
        native = Request(params, chosen, Dataset(other.source, categorical_feature=categories)).native()
        y = one_a_row("label", label, other.num_data())
        loss = chosen.loss(y)
        fitted = replace(self._fitted(), loss=loss.name)
        check_refits(fitted, decay_rate)
        dataset = Reader(fitted, by_position=self._by_position)._read(self._readable(other.source))
        labels = Labels(chosen.labels(y), chosen.weights(y, other.weights), loss, None)
        given = BoostingParameters(**from_flat({**native, "categorical_features": "auto"}))
        model = refitted(fitted, given, (dataset, labels, start), self._rates, decay_rate)
        booster = copy.copy(self)
        booster.free_dataset()._set_model(model)
        booster.best_iteration = -1
        return booster

    def _check_data(self, other: Dataset) -> None:
        """Refuse names, categories and parameters of new rows that are not the model's."""
        names, schema = other.get_feature_name(), self._fitted().schema
        if other.names_given and names != self._names:
            raise InputError(f"feature_name is {names}, but the model has the columns {self._names}.")
        wrong = [place for place in other.declared({}) if schema.columns[place].kind != "categorical"]
        if wrong:
            raise InputError(
                f"categorical_feature names the column {self._names[wrong[0]]!r}, which holds numbers in the model; "
                "train another model, or leave it out."
            )
        for name, value in read_parameters(other.params).items():
            if value != value_of(self._params, name):
                raise NotSupportedError(
                    f"dataset_params has {name}={value!r}, but refit keeps the model's thresholds; leave it out."
                )

    # --- files and copies ------------------------------------------------------------------------------

    def save_model(
        self,
        filename: str | os.PathLike[str],
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
    ) -> Booster:
        """Write the model to a file of Weald's own format, atomically; None: the rounds up to the best one."""
        save(filename, self._file(num_iteration, start_iteration, importance_type))
        return self

    def _file(self, num_iteration: int | None, start_iteration: int, importance_type: str) -> bytes:
        if importance_type not in dumps.IMPORTANCES:
            raise InputError(f"importance_type must be one of {', '.join(dumps.IMPORTANCES)}.")
        first, last = self._range(start_iteration, num_iteration)
        return files.to_bytes(self, self._model_of(first, last), self._rates[first:last])

    def model_to_string(
        self, num_iteration: int | None = None, start_iteration: int = 0, importance_type: str = "split"
    ) -> str:
        """The model file as text."""
        return files.to_text(self._file(num_iteration, start_iteration, importance_type))

    def model_from_string(self, model_str: str) -> Booster:
        """Become the model of a text of `model_to_string`, or of LightGBM's own."""
        files.from_bytes(self, files.from_text(model_str))
        return self

    def free_network(self) -> Booster:
        """Nothing: there is one machine."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Without the sets and the function that an objective may be: a pickle predicts, and trains on with `update`'s own."""
        state = {**self.__dict__, "_train_set": None, "_valid_sets": [], "_run": None, "_reader_of_all": None}
        state |= {"_objective": None, "_request": None}
        state.pop("_lock", None)
        state["_model"] = files.to_bytes(self, self._fitted(), self._rates) if self._is_trained() else None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        model, params = state["_model"], state["_params"]
        self._set_model(None)
        if model is not None:
            files.from_bytes(self, model)
        self._params, self._custom = params, state["_custom"]


def without_functions(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as LightGBM keeps them: an objective that is a function is "none"."""
    return {name: "none" if callable(value) else value for name, value in params.items()}
