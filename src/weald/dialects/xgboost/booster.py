"""`Booster`: a trained model with XGBoost's methods."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weald.data import Schema
from weald.data.read import open_table
from weald.dialects.shared.reader import Reader
from weald.dialects.shared.tables import Float32s, Float64s, is_frame, single
from weald.dialects.shared.trees import histogram, split_values
from weald.dialects.shared.values import names_of_columns
from weald.dialects.xgboost import dumps, files
from weald.dialects.xgboost.attributes import Attributes
from weald.dialects.xgboost.coded import Categories, table_by_names
from weald.dialects.xgboost.config import threads_of
from weald.dialects.xgboost.contributions import contributions
from weald.dialects.xgboost.dmatrix import DMatrix
from weald.dialects.xgboost.errors import DOOR
from weald.dialects.xgboost.learning import LearningBooster
from weald.dialects.xgboost.positional import by_position
from weald.dialects.xgboost.refusals import BOOSTER_METHODS, OF_PREDICT, OF_TREES, REFUSALS
from weald.dialects.xgboost.request import (
    CustomMetric,
    metrics_of,
    named_values,
    scores_before_training,
)
from weald.forest.disk import read, save
from weald.forest.forest import Forest
from weald.losses import LINKS
from weald.params.xgboost import read_parameters
from weald.runtime.errors import InputError

Range = tuple[int, int]


@DOOR.owner
@REFUSALS.methods(BOOSTER_METHODS)
class Booster(Attributes, LearningBooster):
    """A model of XGBoost's interface: what `train` returns.

    >>> import numpy as np
    >>> from weald.xgboost import DMatrix, train
    >>> X = np.arange(40.0).reshape(-1, 1)
    >>> booster = train({"max_depth": 2}, DMatrix(X, label=X[:, 0]), num_boost_round=3)
    >>> booster.num_boosted_rounds(), booster.predict(DMatrix(X)).shape
    (3, (40,))
    """

    _unstored = "missing"

    def __init__(
        self,
        params: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None,
        cache: Sequence[DMatrix] | None = None,
        model_file: Booster | bytearray | bytes | str | os.PathLike[str] | None = None,
    ) -> None:
        for matrix in cache or ():
            if not isinstance(matrix, DMatrix):
                raise InputError(f"cache must hold DMatrix objects, not {type(matrix).__name__}.")
        #: how many columns the rows have that it is to learn from, where some are given
        self._n_columns = cache[0].num_col() if cache else None
        self._params: dict[str, Any] = {}
        self._categories: list[list[Any] | None] | None = None
        self._names: list[str] | None = None
        self._kinds: list[str] | None = None
        self._attributes = {}
        if isinstance(model_file, Booster):
            self.__setstate__(model_file.__getstate__())
        elif model_file is not None:
            self.load_model(model_file)
        self._params |= read_parameters(params)

    # --- predictions --------------------------------------------------------------------------------

    def _range(self, iteration_range: Any) -> Range:
        rounds = self.num_boosted_rounds()
        first, last = (
            (0, 0) if iteration_range is None else (int(iteration_range[0]), int(iteration_range[1]))
        )
        last = rounds if last == 0 else last
        if not 0 <= first < max(last, 1) or last > rounds:
            raise InputError(
                f"iteration_range={iteration_range} must rise within the {rounds} rounds of the model."
            )
        return first, last

    def _reader_of(self, table: Any, iteration_range: Any) -> Reader:
        """What predicts by a range of rounds and takes the table's columns by their places, whatever they are called."""
        reader = self._reader(*self._range(iteration_range), threads_of(self._params))
        schema, opened = reader._model.schema, open_table(table, least_rows=0)
        self._check_count(len(opened.names))
        if (opened.named, tuple(opened.names)) == (schema.named, schema.names):
            return reader
        columns = tuple(
            replace(column, name=name) for column, name in zip(schema.columns, opened.names, strict=True)
        )
        return Reader(replace(reader._model, schema=Schema(columns, opened.named)), reader.n_jobs)

    def _table_of(self, matrix: DMatrix) -> Any:
        """A matrix's table with its categories by name, as the model knows them."""
        return table_by_names(matrix, self._categories, self._fitted().schema.names)

    def _scores(self, matrix: DMatrix, iteration_range: Any) -> Float64s:
        """Raw scores, (outputs, rows)."""
        margin = matrix.start
        if self._is_trained():
            table = self._table_of(matrix)
            scores = self._reader_of(table, iteration_range)._raw(table)
            base = self._fitted().predictor.base_score[:, None]
        else:
            base = scores_before_training(self._params, self._chosen())[:, None]
            scores = np.repeat(base, matrix.num_row(), axis=1)
        if margin is None:
            return scores
        return scores - base + margin.reshape(scores.shape[1], scores.shape[0]).T

    @by_position
    @REFUSALS.arguments(OF_PREDICT)
    def predict(
        self,
        data: DMatrix,
        *,
        output_margin: bool = False,
        pred_leaf: bool = False,
        pred_contribs: bool = False,
        approx_contribs: bool = False,
        pred_interactions: bool = False,
        validate_features: bool = True,
        training: bool = False,
        iteration_range: Range = (0, 0),
        strict_shape: bool = False,
    ) -> Float32s:
        """Predictions of all rounds, or of those from ``iteration_range[0]`` up to ``iteration_range[1]``.

        output_margin : raw scores
        validate_features : whether the columns' names must be those of training; columns go by their places anyhow
        pred_leaf : the number of the leaf that every row reaches, (rows, trees)
        pred_contribs : what every column adds to a row's margin, and last the bias: (rows, columns + 1), of several outputs
            (rows, outputs, columns + 1); of trees exact Shapley values
        strict_shape : always (rows, outputs), of leaves (rows, rounds, outputs, parallel trees)
        """
        if not isinstance(data, DMatrix):
            raise TypeError(
                f"predict takes a DMatrix, not {type(data).__name__}; inplace_predict takes tables."
            )
        if validate_features:
            self._check_columns(data)
        if pred_leaf:
            return self._leaves(self._table_of(data), iteration_range, strict_shape)
        if pred_contribs:
            table = self._table_of(data)
            reader = self._reader_of(table, iteration_range)
            found = single(contributions(reader, table, data.start))
            return found if strict_shape or found.shape[1] > 1 else found[:, 0]
        scores = self._scores(data, iteration_range)
        return self._shaped(scores, output_margin, strict_shape)

    def _shaped(self, scores: Float64s, output_margin: bool, strict_shape: bool) -> Float32s:
        predicted = (
            LINKS["identity"](scores) if output_margin else self._chosen().predictions(scores)
        ).astype(np.float32)
        return predicted.reshape(scores.shape[1], -1) if strict_shape else predicted

    def _leaves(self, table: Any, iteration_range: Any, strict_shape: bool) -> Float32s:
        first, last = self._range(iteration_range)
        outputs = self._trees("pred_leaf").n_outputs
        leaves = self._reader_of(table, iteration_range).apply(table).astype(np.float32)
        return (
            leaves.reshape(len(leaves), last - first, -1, outputs).swapaxes(2, 3) if strict_shape else leaves
        )

    @by_position
    def inplace_predict(
        self,
        data: Any,
        *,
        iteration_range: Range = (0, 0),
        predict_type: str = "value",
        missing: float = np.nan,
        validate_features: bool = True,
        base_margin: Any = None,
        strict_shape: bool = False,
    ) -> Float32s:
        """`predict` of a table that is not a DMatrix; predict_type is "value" or "margin".

        validate_features : whether a frame must have the columns' names of training; an array has none
        """
        if predict_type not in ("value", "margin"):
            raise InputError(f"predict_type must be 'value' or 'margin', not {predict_type!r}.")
        has_categories = "c" in (self._kinds or ())
        matrix = DMatrix(data, base_margin=base_margin, missing=missing, enable_categorical=has_categories)
        return self.predict(
            matrix,
            output_margin=predict_type == "margin",
            validate_features=validate_features and is_frame(matrix.table),
            iteration_range=iteration_range,
            strict_shape=strict_shape,
        )

    def eval(self, data: DMatrix, name: str = "eval", iteration: int = 0) -> str:
        """The metrics of a set, as one line."""
        return self.eval_set([(data, name)], iteration)

    def eval_set(
        self,
        evals: Sequence[tuple[DMatrix, str]],
        iteration: int = 0,
        feval: CustomMetric | None = None,
        output_margin: bool = True,
    ) -> str:
        """The metrics of several sets, as one line."""
        chosen, line = self._chosen(), f"[{iteration}]"
        for matrix, name in evals:
            scores = self._scores(matrix, None)
            predicted, y = chosen.seen(scores), matrix.labels
            for metric in metrics_of(self._params, chosen):
                line += f"\t{name}-{metric.name}:{metric(y, predicted, matrix.weights)}"
            if feval is not None:
                shown = self._shaped(scores, output_margin, False)
                line += "".join(
                    f"\t{name}-{own}:{value}" for own, value in named_values(feval(shown, matrix))
                )
        return line

    def _is_linear(self) -> bool:
        return not isinstance(self._fitted().predictor, Forest)

    # --- what it is ---------------------------------------------------------------------------------

    def num_boosted_rounds(self) -> int:
        """How many rounds the model has."""
        return self._rounds()

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns, or None."""
        return None if self._names is None else list(self._names)

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        checked = None if names is None else names_of_columns("feature_names", names, self.num_features())
        self._names = checked

    @property
    def feature_types(self) -> list[str] | None:
        """Kinds of the columns, or None."""
        return None if self._kinds is None else list(self._kinds)

    @feature_types.setter
    def feature_types(self, kinds: Sequence[str] | None) -> None:
        self._kinds = None if kinds is None else list(kinds)

    def get_categories(self, export_to_arrow: bool = False) -> Categories:
        """The categories of the frame that the model was trained on; `to_arrow` has them where ``export_to_arrow``."""
        return Categories(dumps.names_of(self), self._categories, export_to_arrow)

    def __getitem__(self, rounds: Any) -> Booster:
        """The model of some of the rounds: of one by its number, of a slice, or of all by ``...`` or an end of 0."""
        total = self.num_boosted_rounds()
        if rounds is ...:
            rounds = slice(None)
        if isinstance(rounds, tuple):
            raise InputError(f"rounds are counted in one dimension, but the slice is {rounds}.")
        if isinstance(rounds, int | np.integer):
            if not -total <= rounds < total:
                raise IndexError(f"the model has {total} rounds, but round {rounds} was asked for")
            rounds = slice(int(rounds) % total, int(rounds) % total + 1)
        if (rounds.step or 1) < 0 or any((end or 0) < 0 for end in (rounds.start, rounds.stop)):
            raise InputError("rounds must be counted from the first: neither negative ends nor steps.")
        if rounds.stop == 0:  # which is all, as in iteration_range
            rounds = slice(rounds.start, None, rounds.step)
        if (rounds.start or 0) >= total > 0:
            raise IndexError(
                f"the model has {total} rounds, but rounds from {rounds.start} on were asked for"
            )
        if (rounds.stop or 0) > total:
            raise IndexError(f"the model has {total} rounds, but rounds up to {rounds.stop} were asked for")
        chosen = range(total)[rounds]
        if not len(chosen):
            raise InputError(f"the slice {rounds} has none of the {total} rounds.")
        part, what = self.copy(), "a slice of rounds"
        parts = [self._part(what, k, k + 1) for k in chosen]
        if chosen.step == 1:
            parts = [self._part(what, chosen[0], chosen[-1] + 1)]
        forest = parts[0]
        for other in parts[1:]:
            forest = Forest.concatenate(forest, other)
        part._set_model(replace(self._fitted(), predictor=forest, best_iteration=forest.n_rounds - 1))
        part._attributes = {}
        return part

    def __iter__(self) -> Iterator[Booster]:
        return (self[number] for number in range(self.num_boosted_rounds()))

    # --- trees in words -----------------------------------------------------------------------------

    def _gain_floor(self) -> float:
        """What the trees' gains lack of XGBoost's: gamma, which only leaf-wise growth takes off before it compares."""
        return (
            float(self._params.get("gamma", 0.0)) if self._params.get("grow_policy") == "lossguide" else 0.0
        )

    @REFUSALS.arguments(OF_TREES)
    def get_score(self, fmap: str = "", importance_type: str = "weight") -> dict[str, Any]:
        """Importances of the columns that trees use: weight, gain, cover, total_gain or total_cover."""
        return dumps.scores(self._fitted(), dumps.names_of(self), importance_type, self._gain_floor())

    def get_fscore(self, fmap: str = "") -> dict[str, Any]:
        """How often each column is split."""
        return self.get_score(fmap, "weight")

    @REFUSALS.arguments(OF_TREES)
    def get_dump(self, fmap: str = "", with_stats: bool = False, dump_format: str = "text") -> list[str]:
        """Every tree as "text", "json" or "dot"."""
        return dumps.dump(self._fitted(), dumps.names_of(self), dump_format, with_stats, self._gain_floor())

    def dump_model(
        self,
        fout: str | os.PathLike[str],
        fmap: str = "",
        with_stats: bool = False,
        dump_format: str = "text",
    ) -> None:
        """Write all trees to a text file."""
        trees = self.get_dump(fmap, with_stats, dump_format)
        if dump_format == "json":
            text = "[\n" + ",\n".join(trees) + "\n]"
        else:
            text = "".join(f"booster[{number}]:\n{tree}" for number, tree in enumerate(trees))
        save(fout, text.encode())

    @REFUSALS.arguments(OF_TREES)
    def trees_to_dataframe(self, fmap: str = "") -> Any:
        """All nodes as a pandas frame."""
        return dumps.dataframe(self._fitted(), dumps.names_of(self), self._gain_floor())

    @REFUSALS.arguments(OF_TREES)
    def get_split_value_histogram(
        self, feature: str, fmap: str = "", bins: int | None = None, as_pandas: bool = True
    ) -> Any:
        """How often the thresholds of a numeric column fall into each bin."""
        values = split_values(self._fitted(), dumps.names_of(self), feature)
        return histogram(values, bins, as_pandas)

    # --- files --------------------------------------------------------------------------------------

    def save_model(self, fname: str | os.PathLike[str]) -> None:
        """Write the model to a file of Weald's own format, whatever its name, atomically."""
        save(fname, bytes(self.save_raw()))

    def save_raw(self, raw_format: str = "ubj") -> bytearray:
        """The bytes of the model file; there is one format."""
        if raw_format not in ("ubj", "json", "deprecated"):
            raise InputError(f"raw_format must be 'ubj' or 'json', not {raw_format!r}.")
        return bytearray(files.to_bytes(self))

    def load_model(self, fname: str | os.PathLike[str] | bytearray | bytes) -> None:
        """Read a file of `save_model`, or XGBoost's own JSON or UBJSON."""
        data = bytes(fname) if isinstance(fname, bytes | bytearray) else read(fname)
        files.from_bytes(self, data)

    def save_config(self) -> str:
        """The parameters as JSON."""
        from weald.estimators.shared.plain import plain

        return json.dumps({"params": plain(self._params)})

    def copy(self) -> Booster:
        """A model of its own with the same trees, which are never changed and so are shared."""
        return copy.copy(self)

    def reset(self) -> Booster:
        """Give memory back; the model stays."""
        self._finish()
        return self

    def __getstate__(self) -> dict[str, Any]:
        if not self._is_trained():
            return {"params": self._params, "attributes": self._attributes, "file": None}
        return {"params": self._params, "attributes": self._attributes, "file": files.to_bytes(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Booster.__init__(self)
        if state["file"] is not None:
            files.from_bytes(self, state["file"])
        self._params, self._attributes = dict(state["params"]), dict(state["attributes"])
