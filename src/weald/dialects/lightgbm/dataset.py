"""`Dataset`: a table with labels, weights, first scores and names, as LightGBM has it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from weald.dialects.lightgbm.basic import DOOR
from weald.dialects.lightgbm.columns import (
    Categories,
    ColumnFacts,
    categories_of,
    facts_of,
    in_codes,
    ordered_columns,
)
from weald.dialects.lightgbm.paths import FromFile, read_path, write_binary
from weald.dialects.lightgbm.refusals import DATASET_METHODS, OF_DATASET, REFUSALS
from weald.dialects.lightgbm.sequences import rows_of, sequences_of
from weald.dialects.shared.rows import LabelledRows
from weald.dialects.shared.tables import (
    Float32s,
    Float64s,
    declared_numbers,
    frame_types,
    is_category,
    is_frame,
    single,
)
from weald.dialects.shared.values import names_of_columns, position_of
from weald.params.lightgbm import LIGHTGBM_PARAMETERS, read_parameters
from weald.runtime.errors import InputError, NotSupportedError

_JSON_MARKS = ',:[]{}"'


@DOOR.owner
@REFUSALS.methods(DATASET_METHODS)
class Dataset(LabelledRows):
    """A table for `train`; it is binned when a model is trained.

    Parameters
    ----------
    data : array, pandas or polars frame, Arrow table, SciPy sparse matrix, list of rows, a `Sequence` or a list of such, or the
        name of a file, which is read at once: CSV, TSV, libsvm, or of `save_binary`
    label, weight, init_score : one value a row; init_score also one for every class
    reference : the training set of a validation set
    feature_name : "auto", the frame's own or Column_0, …, or a list
    categorical_feature : "auto", the frame's category types without an order, or names and positions of columns; values below 0
        are missing. Of other category columns the codes are read, as numbers
    params : parameters of the data, such as max_bin, and of a file header, label_column, weight_column and ignore_column
    free_raw_data : accepted; the table is kept as long as the Dataset, as training reads it

    >>> data = Dataset([[1.0, 2.0], [3.0, 4.0]], label=[0, 1])
    >>> data.num_data(), data.num_feature(), data.get_feature_name()
    (2, 2, ['Column_0', 'Column_1'])
    """

    _title = "Dataset"
    _start_name = "init_score"
    _start_order = "F"

    @REFUSALS.arguments(OF_DATASET)
    def __init__(
        self,
        data: Any,
        label: Any = None,
        reference: Dataset | None = None,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        params: dict[str, Any] | None = None,
        free_raw_data: bool = True,
        position: Any = None,
    ) -> None:
        sequences = sequences_of(data)
        data = rows_of(sequences) if sequences else _joined(data)
        self.data = data
        self.free_raw_data = free_raw_data
        self.params = dict(params or {})
        #: what a file says; None: data is a table
        self.file: FromFile | None = None
        if isinstance(data, str | os.PathLike):
            width, told = None, self.data_params()
            if isinstance(reference, Dataset):
                width, told = reference.num_feature(), {**reference.data_params(), **told}
            self.file = found = read_path(data, told, width)
            self.params = {**found.params, **self.params}
            label, weight, init_score = found.instead_of(label, weight, init_score)
            if found.categorical is not None and categorical_feature == "auto":
                categorical_feature = found.categorical
        self._open(data if self.file is None else self.file.table)
        self._types = frame_types(self.source) if is_frame(self.source) else {}
        self.used_indices: NDArray[np.int64] | None = None
        self.reference: Dataset | None = None
        self.set_reference(reference)
        self.set_feature_name(feature_name)
        self.set_categorical_feature(categorical_feature)
        self.set_label(label)
        self.set_weight(weight)
        self.set_init_score(init_score)

    # --- what training reads ------------------------------------------------------------------------

    @property
    def table(self) -> Any:
        """The table as Weald's own estimators read it: categories below 0 are missing."""
        return self.table_by({})

    def table_by(self, params: Mapping[str, Any]) -> Any:
        """The same where parameters may say which columns hold categories."""
        return _without_negatives(self.source, self.categorical(params))

    def categorical(self, params: Mapping[str, Any]) -> list[int]:
        """Positions of numeric columns that are declared to be categories."""
        return declared_numbers(self.source, self.declared(params))

    def declared(self, params: Mapping[str, Any]) -> list[int]:
        """Positions of all columns that are declared to be categories, by a parameter too where nothing else says which are."""
        told = {**self.data_params(), **params}.get("categorical_feature")
        if told is None or told == "" or not self._automatic or self._of_category_types:
            return list(self._declared)
        return self._places(_listed(told))

    @property
    def coded(self) -> list[int]:
        """Positions of columns of a category type whose codes are read, as numbers."""
        return [place for place in self._of_category_types if place not in self._categories]

    def has_categories(self, params: Mapping[str, Any]) -> bool:
        """Whether any column holds categories."""
        return bool(self.categorical(params) or self._categories)

    @cached_property
    def categories(self) -> Categories:
        """The categories of a frame's columns."""
        return categories_of(self.source)

    @property
    def _of_category_types(self) -> list[int]:
        return [place for place, dtype in enumerate(self._types.values()) if is_category(dtype)]

    @property
    def _categories(self) -> list[int]:
        """Positions of columns of a category type that are split into sets of categories."""
        several = self._of_category_types
        ordered = ordered_columns(self.source) if several and self._automatic else []
        chosen = [place for place in several if place not in ordered] if self._automatic else self._declared
        return [place for place in chosen if place in several]

    @property
    def all_labels(self) -> NDArray[Any]:
        """The labels of all rows, also where other processes have some of them."""
        return self.labels

    @property
    def all_weights(self) -> Float64s | None:
        """The weights of all rows."""
        return self.weights

    def own(self, values: Float64s | None) -> Float64s | None:
        """Of numbers of all rows those of the rows here."""
        return values

    def facts(self, rows: int) -> ColumnFacts:
        """What a model remembers of the columns, from at most so many rows."""
        return facts_of(in_codes(self.source, self.coded, self.categories), rows, self.categories)

    def data_params(self) -> dict[str, Any]:
        """Of its parameters those that are the data's, by LightGBM's own names."""
        known = read_parameters(self.params)
        return {name: value for name, value in known.items() if LIGHTGBM_PARAMETERS[name].group == "dataset"}

    # --- LightGBM's methods -------------------------------------------------------------------------

    def construct(self) -> Dataset:
        """Nothing: bins are made when a model is trained."""
        return self

    def create_valid(
        self,
        data: Any,
        label: Any = None,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
        params: dict[str, Any] | None = None,
        position: Any = None,
    ) -> Dataset:
        """A validation set with this one as its reference."""
        return Dataset(
            data,
            label,
            reference=self,
            weight=weight,
            group=group,
            init_score=init_score,
            params=params,
            free_raw_data=self.free_raw_data,
            position=position,
        )

    def subset(self, used_indices: Any, params: dict[str, Any] | None = None) -> Dataset:
        """The chosen rows as a Dataset of their own."""
        rows = np.asarray(used_indices, np.int64)
        part = self._take(rows)
        part.data = part.source
        part.__dict__.pop("categories", None)
        part.params = dict(self.params if params is None else params)
        part.used_indices = rows
        part.reference = self
        return part

    def num_data(self) -> int:
        """The number of rows."""
        return self.n_rows

    def num_feature(self) -> int:
        """The number of columns."""
        return self.n_columns

    def get_data(self) -> Any:
        """The table."""
        return self.data

    def get_label(self) -> Float32s | None:
        """The labels."""
        return None if self._label is None else single(self._label)

    def get_weight(self) -> Float32s | None:
        """The weights."""
        return None if self._weight is None else single(self._weight)

    def get_init_score(self) -> Float64s | None:
        """The scores that rows start from."""
        return self._start

    @property
    def label(self) -> Float32s | None:
        """The labels; they may be set."""
        return self.get_label()

    @label.setter
    def label(self, label: Any) -> None:
        self.set_label(label)

    @property
    def weight(self) -> Float32s | None:
        """The weights; they may be set."""
        return self.get_weight()

    @weight.setter
    def weight(self, weight: Any) -> None:
        self.set_weight(weight)

    @property
    def init_score(self) -> Float64s | None:
        """The scores that rows start from; they may be set."""
        return self.get_init_score()

    @init_score.setter
    def init_score(self, init_score: Any) -> None:
        self.set_init_score(init_score)

    @property
    def group(self) -> None:
        """None: there is no ranking."""

    @property
    def position(self) -> None:
        """None: there is no ranking."""

    @property
    def pandas_categorical(self) -> list[list[Any]] | None:
        """The categories of a frame's category columns, in the order of their codes; None: the table is no frame."""
        return None if self.categories is None else [one for one in self.categories if one is not None]

    def get_field(self, field_name: str) -> Any:
        """One of label, weight and init_score; group and position are None, as there is no ranking."""
        return None if field_name in OF_DATASET else self._field(field_name)

    def set_field(self, field_name: str, data: Any) -> Dataset:
        """Set one of label, weight and init_score."""
        if field_name not in OF_DATASET:
            self._field(field_name)
        setter: Any = getattr(self, f"set_{field_name}")
        setter(data)
        return self

    def set_label(self, label: Any) -> Dataset:
        """Set the labels."""
        self._label = self._read_label(label)
        return self

    def set_weight(self, weight: Any) -> Dataset:
        """Set the weights."""
        self._weight = self._read_weight(weight)
        return self

    def set_init_score(self, init_score: Any) -> Dataset:
        """Set the scores that rows start from; flat ones of several classes are class after class."""
        self._start = self._read_start(init_score)
        return self

    def set_reference(self, reference: Dataset | None) -> Dataset:
        """Set the training set that this one is validated for."""
        if reference is not None and not isinstance(reference, Dataset):
            raise TypeError(f"reference must be a Dataset, not {type(reference).__name__}.")
        if reference is not None and reference.num_feature() != self.num_feature():
            raise InputError(
                f"reference has {reference.num_feature()} columns, but data has {self.num_feature()}."
            )
        self.reference = reference
        return self

    def set_feature_name(self, feature_name: Any) -> Dataset:
        """Set the columns' names; "auto": the frame's own, or Column_0, …"""
        self.names_given = not (isinstance(feature_name, str) and feature_name == "auto")
        of_file = None if self.file is None else self.file.names
        own = of_file or list(self._types) or default_names(self.n_columns)
        names = feature_name if self.names_given else own
        names = names_of_columns("feature_name", names, self.n_columns, _JSON_MARKS)
        self.feature_name = ["_".join(name.split()) for name in names]
        self._given_names = names
        return self

    def get_feature_name(self) -> list[str]:
        """The columns' names."""
        return list(self.feature_name)

    def set_categorical_feature(self, categorical_feature: Any) -> Dataset:
        """Set the columns that hold categories; "auto": those of a frame's category types without an order."""
        self.categorical_feature = categorical_feature
        self._automatic = isinstance(categorical_feature, str) and categorical_feature == "auto"
        if isinstance(categorical_feature, str) and not self._automatic:
            raise InputError(f"categorical_feature must be 'auto' or a list, not {categorical_feature!r}.")
        self._declared = (
            [] if self._automatic or categorical_feature is None else self._places(categorical_feature)
        )
        return self

    def _places(self, columns: Sequence[Any]) -> list[int]:
        return sorted({position_of(column, self._given_names, "categorical_feature") for column in columns})

    def save_binary(self, filename: str | os.PathLike[str]) -> Dataset:
        """Write numbers, names and parameters of the data to a file of Weald's own, which ``Dataset(filename)`` reads."""
        if self._of_category_types:
            raise NotSupportedError(
                "save_binary writes numbers, but data has categories; save the data frame as parquet."
            )
        given = {"label": self._label, "weight": self._weight, "init_score": self._start}
        fields = {name: values for name, values in given.items() if values is not None}
        declared = None if self._automatic else self._declared
        write_binary(filename, self.source, fields, self._given_names, declared, self.data_params())
        return self

    def get_params(self) -> dict[str, Any]:
        """The parameters of the data, as they are called."""
        known = self.data_params()
        return {
            name: value for name, value in self.params.items() if LIGHTGBM_PARAMETERS.own_name(name) in known
        }

    def get_ref_chain(self, ref_limit: int = 100) -> set[Dataset]:
        """This set, its reference, the reference's reference, …"""
        chain: set[Dataset] = set()
        one: Dataset | None = self
        while one is not None and one not in chain and len(chain) < ref_limit:
            chain.add(one)
            one = one.reference
        return chain

    def get_group(self) -> None:
        """None: there is no ranking."""

    def get_position(self) -> None:
        """None: there is no ranking."""


def default_names(n_columns: int) -> list[str]:
    """What columns are called that have no names."""
    return [f"Column_{place}" for place in range(n_columns)]


def _joined(data: Any) -> Any:
    """One array of a list of arrays, which hold one block of rows after the other; anything else as it is."""
    blocks = (
        isinstance(data, list)
        and bool(data)
        and all(isinstance(part, np.ndarray) and part.ndim == 2 for part in data)
    )
    if not blocks:
        return data
    widths = {part.shape[1] for part in data}
    if len(widths) > 1:
        raise InputError(
            f"data is a list of arrays, which must have equally many columns, but they have {sorted(widths)}."
        )
    return np.concatenate(data)


def _listed(told: Any) -> Sequence[Any]:
    """The columns of the parameter categorical_feature, which may be text: 0,2 or name:a,b."""
    if isinstance(told, str):
        return [name.strip() for name in told.removeprefix("name:").split(",")]
    return told if isinstance(told, Sequence) else [told]


def _without_negatives(table: Any, columns: Sequence[int]) -> Any:
    """The table with missing values in place of those below 0 in columns of categories."""
    if not columns:
        return table
    if scipy.sparse.issparse(table):
        return _without_stored_negatives(table, columns)
    if is_frame(table):
        frame = nw.from_native(table, eager_only=True)
        names = [frame.columns[place] for place in columns]
        if not any(bool((frame[name] < 0).any()) for name in names):
            return table
        changed = (nw.when(nw.col(name) >= 0).then(nw.col(name)).alias(name) for name in names)
        return nw.to_native(frame.with_columns(*changed))
    part = table[:, list(columns)]
    if not (part < 0).any():
        return table
    changed = table.astype(np.result_type(table.dtype, np.float32))
    changed[:, list(columns)] = np.where(part < 0, np.nan, part)
    return changed


def _without_stored_negatives(table: Any, columns: Sequence[int]) -> Any:
    matrix = table.tocsc()
    stored = np.concatenate([np.arange(*matrix.indptr[place : place + 2]) for place in columns])
    below = stored[matrix.data[stored] < 0]
    if not len(below):
        return table
    changed = matrix.astype(np.result_type(matrix.dtype, np.float32))
    changed.data[below] = np.nan
    return changed
