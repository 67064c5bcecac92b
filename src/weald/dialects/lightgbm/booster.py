"""`Booster`: a trained model, or one in training, with LightGBM's methods."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.dialects.lightgbm import dumps, files
from weald.dialects.lightgbm.basic import EvalResult, log_warning, quiet
from weald.dialects.lightgbm.columns import ColumnFacts, by_codes, facts_of
from weald.dialects.lightgbm.dataset import Dataset
from weald.dialects.lightgbm.engine import (
    CustomMetric,
    CustomObjective,
    Training,
    called,
    functions_of,
    results_of,
)
from weald.dialects.lightgbm.metrics import metrics_of
from weald.dialects.lightgbm.objectives import Chosen
from weald.dialects.lightgbm.translate import threads_of
from weald.dialects.shared.booster import ModelHolder
from weald.dialects.shared.reader import Reader
from weald.dialects.shared.run import Run
from weald.dialects.shared.tables import Float64s, columns_of, one_a_row
from weald.dialects.shared.trees import histogram, split_values
from weald.estimators.boosted.refit import check_refits, refitted_model
from weald.estimators.shared.labels import Labels
from weald.estimators.shared.persistence import FittedModel
from weald.forest.disk import read, save
from weald.forest.forest import Forest
from weald.params.dialect import parse_constraint
from weald.params.lightgbm import ALIASES, LIGHTGBM_PARAMETERS, read_parameters, value_of
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.flat import from_flat
from weald.training.boosting.parameters import BoostingParameters

_ONE_MACHINE = "is not supported by weald.lightgbm, which trains on one machine."
_FIXED = frozenset({"num_class", "boosting", "metric", "objective"})
_OWNERS = ("boosting", "data_sample_strategy", "objective")  # what other parameters belong to
_OF_CALLS = ("num_threads", "verbosity")  # the parameters that a single prediction may have of its own

#: told of a round before it begins, by its number from 0
Before = Callable[[int], None]
#: told of a round and its metrics; whether to stop
After = Callable[[int, list[EvalResult]], bool]


class Booster(ModelHolder):
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
        self._set_params(read_parameters(params))
        self._custom = self._params.get("objective") == "custom"
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
        self.params = without_functions(self.params)

    def _set_train_set(self, train_set: Any) -> None:
        if not isinstance(train_set, Dataset):
            raise TypeError(f"train_set must be a Dataset, not {type(train_set).__name__}.")
        if self._rounds() and train_set.num_feature() != self.num_feature():
            raise InputError(
                f"train_set has {train_set.num_feature()} columns, but the model was trained with {self.num_feature()}."
            )
        self._train_set = train_set
        self._names = train_set.get_feature_name()

    def _continue(self, model: Booster) -> None:
        """Go on from another model's trees."""
        if self._train_set is not None and self._train_set.start is not None:
            log_warning("init_score is ignored: training starts from the scores of init_model.")
        self._set_model(model._fitted())
        self._rates, self._facts = model._rates[: model._rounds()], model._facts

    # --- training -----------------------------------------------------------------------------------

    def _chosen(self) -> Chosen:
        return Chosen(self._params, self._custom)

    def _boost(
        self,
        rounds: int,
        metrics: Sequence[CustomMetric] = (),
        evals: Sequence[tuple[Dataset, str]] = (),
        before: Before = lambda number: None,
        after: After = lambda number, results: False,
    ) -> None:
        """Add rounds to the model; callbacks may change parameters between them."""
        self._begin(None, metrics, evals)
        for number in range(rounds):
            before(number)
            if after(number, self._step()):
                break
        self._finish()

    def _begin(
        self,
        objective: CustomObjective | None = None,
        metrics: Sequence[CustomMetric] = (),
        evals: Sequence[tuple[Dataset, str]] = (),
    ) -> None:
        """Open a run that goes on from the model."""
        data, earlier = self._train_set, self._finish()
        if data is None:
            raise InputError("this Booster has no train_set to learn from; give update one.")
        if earlier is None:
            self._from_scores = data.start is not None or not value_of(self._params, "boost_from_average")
        self._check_starts(evals)
        objective = self._objective_of(objective)
        training = Training(
            dict(self._params), self._chosen(), data, evals, objective, metrics, self._from_scores
        )
        self._rates = self._rates[: self._rounds()]
        if self._facts is None:
            self._facts = facts_of(data.source, value_of(self._params, "bin_construct_sample_cnt"))
        if earlier is not None and earlier.missing != training.missing:
            raise InputError(
                "training goes on with use_missing and zero_as_missing of the model that is there; leave them as they were."
            )
        self._missing = training.missing
        self._set_run(Run(training.order(earlier), earlier))
        self._training = training

    def _objective_of(self, objective: CustomObjective | None) -> CustomObjective | None:
        """The user's function that gives gradients, if there is one; otherwise the parameters must name an objective."""
        objective = self._objective if objective is None else objective
        if objective is None and self._params.get("objective") == "custom":
            raise InputError(
                "objective is 'custom', so a function must give the gradients; pass one as objective, or to update."
            )
        self._custom = objective is not None
        if objective is None:
            self._chosen().loss()  # which says what it lacks
        return objective

    def _step(self) -> list[EvalResult]:
        """Train a round by the parameters as they are now, and tell its metrics."""
        assert self._run is not None and self._training is not None
        before = self._training
        if _but_the_rate(self._params) != _but_the_rate(before.params):
            self._ask(replace(before, params=dict(self._params), chosen=self._chosen()))
        rate = None if value_of(self._params, "boosting") == "rf" else value_of(self._params, "learning_rate")
        self._rates.append(self._run.step(rate).learning_rate)
        metrics = metrics_of(self._params, self._training.chosen)
        larger = {metric.name: metric.greater_is_better for metric in metrics}
        return [
            result for name, found in self._run.values().items() for result in results_of(name, found, larger)
        ]

    def _ask(self, training: Training) -> None:
        """Have the run go on by other parameters, or another objective."""
        assert self._run is not None
        self._run.follow(training.order(self._run.model()))
        self._training = training

    def _finish(self) -> FittedModel | None:
        """The model, if there is one; a run that was open is over."""
        self._set_model(self._fitted() if self._is_trained() else None)
        return self._model

    def _check_starts(self, evals: Sequence[tuple[Dataset, str]]) -> None:
        for data, name in evals:
            if data.start is not None and not self._from_scores:
                raise InputError(f"the valid set {name!r} has an init_score, but the training set has none.")

    def update(self, train_set: Dataset | None = None, fobj: CustomObjective | None = None) -> bool:
        """Train one more round; ``fobj``: function(scores, Dataset) -> (gradient, hessian). False: it may go on."""
        if train_set is not None:
            self._set_train_set(train_set)
        training = self._training
        if training is None or self._train_set is None or not training.is_of(self._train_set):
            self._begin(fobj)
        else:
            objective = self._objective_of(fobj)
            if objective is not training.objective:
                self._ask(replace(training, chosen=self._chosen(), objective=objective))
        self._step()
        return False

    def rollback_one_iter(self) -> Booster:
        """Forget the last round."""
        rounds = self._rounds()
        if rounds:
            self._set_model(self._model_of(0, rounds - 1))
        return self

    def reset_parameter(self, params: dict[str, Any]) -> Booster:
        """Set parameters of the rounds to come; those of the data and the task cannot be changed any more."""
        given = {ALIASES.get(name, name) for name in params}
        company = {name: self._params[name] for name in _OWNERS if name in self._params and name not in given}
        known = read_parameters({**company, **params})
        for name, value in known.items():
            fixed = name in _FIXED or LIGHTGBM_PARAMETERS[name].group == "dataset"
            if fixed and value != value_of(self._params, name):
                raise InputError(f"{name} cannot be changed while a model is trained; train another one.")
        kept = {name: value for name, value in self.params.items() if ALIASES.get(name, name) not in given}
        self.params = {**kept, **params}
        self._params = {**self._params, **known}
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
        scores = self._scores(data.table)
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

    def _range(self, start_iteration: int, num_iteration: int | None) -> tuple[int, int]:
        """The first round and the one after the last; None: up to the best round, where there is one."""
        first, rounds = max(0, int(start_iteration)), self._rounds()
        if num_iteration is None:
            num_iteration = self.best_iteration if first == 0 else -1
        last = rounds if num_iteration <= 0 else min(rounds, first + int(num_iteration))
        return min(first, rounds), last

    def _scores(self, table: Any) -> Float64s:
        """Raw scores of all rounds, (outputs, rows)."""
        return self._rounds_reader(0, self._rounds(), self._params)._raw(table)

    def _rounds_reader(self, first: int, last: int, params: Mapping[str, Any]) -> Reader:
        """The trees of some rounds; without the first score where the first round is left out."""
        whole = first == 0 or self._trees("predictions").averaged
        return self._reader(first, last, threads_of(params), whole)

    def _params_of(self, method: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The model's parameters with those that a call may change: the number of threads and how much is said."""
        known = read_parameters(given)
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
        """Predictions of a table.

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
        if isinstance(data, str | Path):
            raise NotSupportedError(
                "predict does not read files; read the table first, for example with pandas."
            )
        if data_has_header:
            raise NotSupportedError(
                "data_has_header=True is of files, which predict does not read; leave it out."
            )
        params, (first, last) = (
            self._params_of("predict", kwargs),
            self._range(start_iteration, num_iteration),
        )
        with quiet(kwargs):
            self._check_names(data, validate_features)
        table = np.asarray(data) if isinstance(data, list | tuple) else data
        table = by_codes(table, self._fitted().schema, self._facts)
        reader = self._rounds_reader(first, last, params)
        if pred_contrib:
            return self._contributions(table, reader)
        if pred_leaf:
            return self._leaves(table, reader, first, last)
        scores = reader._raw(table)
        if raw_score:
            return replace(self._chosen(), custom=True).predictions(scores)
        return self._chosen().predictions(scores)

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
        found = reader.shap_values(table)
        if not scipy.sparse.issparse(table):
            return found.reshape(len(found), -1)
        kind = scipy.sparse.csc_matrix if table.format == "csc" else scipy.sparse.csr_matrix
        return kind(found) if found.ndim == 2 else [kind(found[:, place]) for place in range(found.shape[1])]

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
        native = Training(params, chosen, Dataset(other.source, categorical_feature=categories)).native()
        y = one_a_row("label", label, other.num_data())
        loss = chosen.loss(y)
        fitted = replace(self._fitted(), loss=loss.name)
        check_refits(fitted, decay_rate)
        dataset = Reader(fitted, by_position=self._by_position)._read(
            by_codes(other.source, fitted.schema, self._facts)
        )
        labels = Labels(y, chosen.weights(y, other.weights), loss, None)
        given = BoostingParameters(**from_flat({**native, "categorical_features": "auto"}))
        model = refitted_model(fitted, given, dataset, labels, decay_rate, start)
        booster = copy.copy(self)
        booster.free_dataset()._set_model(model)
        return booster

    def _check_data(self, other: Dataset) -> None:
        """Refuse names, categories and parameters of new rows that are not the model's."""
        names, schema = other.get_feature_name(), self._fitted().schema
        if other.names_given and names != self._names:
            raise InputError(f"feature_name is {names}, but the model has the columns {self._names}.")
        wrong = [place for place in other.declared if schema.columns[place].kind != "categorical"]
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

    # --- what it is ---------------------------------------------------------------------------------

    def current_iteration(self) -> int:
        """How many rounds the model has."""
        return self._rounds()

    def num_model_per_iteration(self) -> int:
        """Trees of a round: one, or one for every class."""
        return self._chosen().n_outputs

    def num_trees(self) -> int:
        """How many trees the model has."""
        return self._rounds() * self.num_model_per_iteration()

    def num_feature(self) -> int:
        """How many columns the model was trained on."""
        if self._train_set is not None:
            return self._train_set.num_feature()
        return self._fitted().schema.n_columns

    def feature_name(self) -> list[str]:
        """Names of the columns."""
        return list(self._names)

    def feature_importance(
        self, importance_type: str = "split", iteration: int | None = None
    ) -> NDArray[Any]:
        """How often each column is split, or the sum of its gains; of the rounds up to the best one, or ``iteration``."""
        return dumps.importances(self._view(0, iteration), importance_type)

    def get_leaf_output(self, tree_id: int, leaf_id: int) -> float:
        """The value of a leaf."""
        trees = list(dumps.whole_trees(self._fitted(), self._trees("get_leaf_output")))
        if not 0 <= tree_id < len(trees) or not 0 <= leaf_id < trees[tree_id].n_leaves:
            raise InputError(f"there is no leaf {leaf_id} of a tree {tree_id}.")
        tree = trees[tree_id]
        return float(tree.value[tree.feature < 0][leaf_id])

    def _extremes(self, largest: bool) -> float:
        forest = self._trees("bounds")
        pick = np.max if largest else np.min
        leaves = [
            float(pick(tree.value[tree.feature < 0])) for tree in dumps.whole_trees(self._fitted(), forest)
        ]
        return float(np.mean(leaves) if forest.averaged else np.sum(leaves))

    def lower_bound(self) -> float:
        """A raw score that no row is below."""
        return self._extremes(False)

    def upper_bound(self) -> float:
        """A raw score that no row is above."""
        return self._extremes(True)

    def get_split_value_histogram(
        self, feature: int | str, bins: int | None = None, xgboost_style: bool = False
    ) -> Any:
        """How often the thresholds of a numeric column fall into each bin."""
        name = self._names[feature] if isinstance(feature, int | np.integer) else feature
        values = split_values(self._fitted(), self._names, name)
        if xgboost_style:
            return histogram(values, bins, True)
        return np.histogram(values, bins=max(len(np.unique(values)), 1) if bins is None else bins)

    # --- trees, files and copies --------------------------------------------------------------------

    def _view(self, start_iteration: int, num_iteration: int | None) -> Forest:
        return self._part("trees", *self._range(start_iteration, num_iteration))

    def _model_of(self, first: int, last: int) -> FittedModel:
        """The model of some of the rounds."""
        forest = self._part("a range of rounds", first, last)
        if first and not forest.averaged:
            forest = replace(forest, base_score=np.zeros(forest.n_outputs))
        return replace(self._fitted(), predictor=forest, best_iteration=forest.n_rounds - 1)

    def dump_model(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
        object_hook: Callable[[dict[str, Any]], Any] | None = None,
    ) -> dict[str, Any]:
        """The model as nested dicts."""
        model, forest = self._fitted(), self._view(start_iteration, num_iteration)
        factors = self._factors(forest, self._range(start_iteration, num_iteration)[0])
        missing = dumps.missing_types(model, self._facts)
        trees = [
            dumps.tree_dict(tree, index, factors[index], missing)
            for index, tree in enumerate(dumps.whole_trees(model, forest))
        ]
        values = dumps.importances(forest, importance_type)
        monotone = parse_constraint("monotone_constraints", value_of(self._params, "monotone_constraints"))
        dump = {
            "name": "tree",
            "version": "weald",
            "num_class": self.num_model_per_iteration(),
            "num_tree_per_iteration": self.num_model_per_iteration(),
            "label_index": 0,
            "max_feature_idx": self.num_feature() - 1,
            "objective": self._chosen().name,
            "average_output": forest.averaged,
            "feature_names": self.feature_name(),
            "monotone_constraints": list(monotone or ()),
            "feature_infos": {} if self._facts is None else self._facts.infos(self._names, model.schema),
            "tree_info": [object_hook(tree) if object_hook is not None else tree for tree in trees],
            "feature_importances": {
                name: value.item() for name, value in zip(self._names, values, strict=True) if value
            },
            "pandas_categorical": self.pandas_categorical,
        }
        return dump if object_hook is None else object_hook(dump)

    @property
    def pandas_categorical(self) -> list[list[Any]] | None:
        """The categories of a frame's category columns, in the order of their codes; None: the training table was no frame."""
        return None if self._facts is None else self._facts.pandas_categorical

    def _factors(self, forest: Forest, first: int) -> list[float]:
        """What the values of every tree were multiplied by: the learning rate of its round, and what dart has left of it."""
        if forest.averaged:
            return [1.0] * forest.n_trees
        per = forest.trees_per_round
        last = self._rates[-1] if self._rates else value_of(self._params, "learning_rate")
        rates = [*self._rates[first : first + forest.n_rounds], *([last] * forest.n_rounds)]
        weights = forest.tree_weights if forest.tree_weights.size else np.ones(forest.n_trees)
        return [float(rates[place // per] * weight) for place, weight in enumerate(weights.tolist())]

    def trees_to_dataframe(self) -> Any:
        """All nodes as a pandas frame."""
        model, forest = self._fitted(), self._trees("trees_to_dataframe")
        return dumps.dataframe(model, forest, self._names, dumps.missing_types(model, self._facts))

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
        """Become the model of a text of `model_to_string`; one of LightGBM's own is refused."""
        files.from_bytes(self, files.from_text(model_str))
        return self

    def shuffle_models(self, start_iteration: int = 0, end_iteration: int = -1) -> Booster:
        """Refused: the order of trees is part of the model."""
        raise NotSupportedError("shuffle_models is not supported: the order of trees is part of the model.")

    def set_leaf_output(self, tree_id: int, leaf_id: int, value: float) -> Booster:
        """Refused: trees do not change."""
        raise NotSupportedError("set_leaf_output is not supported: trees do not change; see refit.")

    def set_network(self, *machines: Any, **options: Any) -> Booster:
        """Refused: there is one machine."""
        raise NotSupportedError(f"set_network {_ONE_MACHINE}")

    def free_network(self) -> Booster:
        """Nothing: there is one machine."""
        return self

    def __copy__(self) -> Booster:
        other = Booster.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.params, other._params = dict(self.params), dict(self._params)
        other._valid_sets = list(self._valid_sets)
        other._set_model(self._fitted() if self._is_trained() else None)
        return other

    def __deepcopy__(self, memo: Any) -> Booster:
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        """Without the sets and the function that an objective may be: a pickle predicts, and trains on with `update`'s own."""
        state = {**self.__dict__, "_train_set": None, "_valid_sets": [], "_run": None, "_reader_of_all": None}
        state |= {"_objective": None, "_training": None}
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


def _but_the_rate(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "learning_rate"}
