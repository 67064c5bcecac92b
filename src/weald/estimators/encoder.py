"""Categories as numbers for any model: target statistics as a scikit-learn transformer."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from weald.data import Dataset, Schema, read_regression_target, read_several_classes, read_table
from weald.data.read import Categorical
from weald.encoding.columns import n_codes, split_columns
from weald.encoding.formulas import drawn_to_prior, sums_before, sums_without_own, total_sums
from weald.encoding.orders import random_orders, set_aside
from weald.encoding.targets import Targets, border_targets, class_targets, number_targets, target_borders
from weald.params.declare import anything, documented, flag, number, one_of, validate, whole
from weald.params.settable import Settable
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.random import seed_of

Floats = NDArray[np.float64]
Codes = NDArray[np.uint32]
TargetType = Literal["binary", "multiclass", "continuous"]


class _Training(NamedTuple):
    """The training table, and the labels as integers."""

    numbers: Floats
    codes: Codes
    targets: Targets


def _check_prior(prior: Any) -> None:
    is_number = not isinstance(prior, bool) and isinstance(prior, numbers.Real) and math.isfinite(prior)
    if not is_number and not (isinstance(prior, str) and prior == "mean"):
        raise InputError(f"prior must be 'mean' or a number, not {prior!r}.")


@documented
@dataclass(kw_only=True, repr=False, eq=False)
class TargetStatisticsEncoder(TransformerMixin, Settable):  # type: ignore[misc]
    """Replace every category by a mean label of rows that share it, drawn to a prior.

    A row gets (sum of labels + a P) / (number of rows + a) over some rows of its category. `transform` is for new rows and takes
    all training rows (with ``kind="holdout"`` those that are set aside). Training rows must be encoded by `fit_transform`: a
    row's own label would leak into its statistic otherwise. So ``fit(X, y).transform(X)`` and ``fit_transform(X, y)`` differ, and
    a model must be trained on the latter, as a `Pipeline` does. Numeric columns pass through unchanged.

    Missing values are a category of their own. An unknown category gets the prior.

    Attributes
    ----------
    training_rows_ : array of int
        The rows of the training table that may train a model: all of them, but for ``kind="holdout"``. There `fit_transform`
        gives NaN for the statistics of the others, so that none is used by mistake.
    encodings_ : list of arrays (codes, statistics)
        For every categorical column what new rows get: a row for each of ``categories_``, one for unknown categories, one
        for missing values.
    categories_ : list of arrays
        The categories of every categorical column.
    prior_ : array (statistics,)
        P of every statistic.
    target_type_ : str
        What ``y`` was taken for.
    classes_ : array, or None
        The classes; the statistic of two classes is that of the second.
    borders_ : array, or None
        The borders of the labels.

    Examples
    --------
    >>> import weald
    >>> X = [["Ulm"], ["Ulm"], ["Linz"], ["Ulm"], ["Linz"]]
    >>> encoder = weald.TargetStatisticsEncoder()
    >>> encoder.fit_transform(X, [1, 0, 1, 1, 0]).ravel().round(2)
    array([0.6 , 0.87, 0.6 , 0.8 , 0.8 ])
    >>> encoder.transform([["Ulm"], ["Linz"], ["Rome"]]).ravel().round(2)
    array([0.65, 0.53, 0.6 ])
    """

    kind: Annotated[
        str,
        one_of(
            "Whose labels a training row gets. 'ordered': of the rows before it in a random order. 'holdout': of rows that are "
            "set aside; a model may be trained on the other rows alone, see training_rows_. 'greedy', of all rows, and "
            "'leave_one_out', of all but its own, leak the label into the statistic: they are here to be compared with.",
            "ordered",
            "greedy",
            "holdout",
            "leave_one_out",
        ),
    ] = field(default="ordered", kw_only=False)
    prior: Annotated[
        str | float, anything("P, what a statistic is drawn to: 'mean', the mean of the labels, or a number.")
    ] = "mean"
    a: Annotated[float, number("Rows that the prior counts for.", 0, open_low=True)] = 1.0
    permutations: Annotated[
        int, whole("Random orders over which kind='ordered' averages a row's statistics.", 1, 1000)
    ] = 1
    counters: Annotated[
        bool,
        flag(
            "Add a column for every categorical one: the share of rows that have the category. It reads no labels."
        ),
    ] = False
    target_borders: Annotated[
        int | None,
        whole(
            "For numbers as labels: at most so many borders, and for each the share of labels above it. None: the mean label.",
            1,
            255,
            optional=True,
        ),
    ] = None
    holdout: Annotated[
        float,
        number("Share of rows that kind='holdout' sets aside for the statistics.", 0, 0.99, open_low=True),
    ] = 0.5
    target_type: Annotated[
        str,
        one_of(
            "What y holds. 'auto' takes numbers with fractions, or any numbers with target_borders, as continuous, everything "
            "else as classes; say 'continuous' where the labels of a regression are whole numbers. More than two classes have "
            "a statistic each.",
            "auto",
            "binary",
            "multiclass",
            "continuous",
        ),
    ] = "auto"
    categorical_features: Annotated[
        Categorical,
        anything(
            "Columns of text and of category types are categorical; here are names or positions of columns that are too."
        ),
    ] = "auto"
    random_state: Annotated[
        Any, anything("Seed of the random orders; None is 0, so that two fits agree.")
    ] = None

    def fit(self, X: Any, y: Any) -> TargetStatisticsEncoder:
        """Learn what new rows get. The training rows themselves are encoded by `fit_transform`."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Floats:
        """Learn, and encode the training rows as ``kind`` says; float64 (rows, columns)."""
        training = self._fit(X, y)
        orders = []
        if self.kind == "ordered":
            orders = random_orders(self.permutations, len(training.numbers), seed_of(self.random_state))
        return self._assembled(
            training.numbers,
            [
                self._training_statistics(codes, training.targets, encodings, orders)
                for codes, encodings in zip(training.codes, self.encodings_, strict=True)
            ],
        )

    def transform(self, X: Any) -> Floats:
        """Encode new rows by the statistics of the training rows; float64 (rows, columns)."""
        check_is_fitted(self)
        columns = split_columns(self._read(X, self._schema))
        return self._assembled(
            columns.numbers,
            [table[codes] for codes, table in zip(columns.codes, self.encodings_, strict=True)],
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The names of the columns: those of the table, with ``_class``, ``_above_border`` or ``_counter`` where needed."""
        check_is_fitted(self)
        known = self._schema.names
        if input_features is not None:
            given = tuple(input_features)
            if self._schema.named and given != known:
                raise InputError("input_features is not equal to feature_names_in_.")
            if len(given) != len(known):
                raise InputError(
                    f"input_features should have length equal to number of features ({len(known)}), got {len(given)}."
                )
            known = given
        names: list[str] = []
        for name, column in zip(known, self._schema.columns, strict=True):
            names += [name] if column.kind == "numeric" else [name + ending for ending in self._endings()]
        return np.array(names, dtype=object)

    def _fit(self, X: Any, y: Any) -> _Training:
        self._check_parameters()
        dataset = self._read(X, None)
        targets = self._targets(y, dataset.n_rows)
        self._schema = dataset.schema
        self.n_features_in_ = dataset.n_columns
        if self._schema.named:
            self.feature_names_in_ = np.array(self._schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        columns = split_columns(dataset)
        giving, self.training_rows_ = self._parts(dataset.n_rows)
        counted = targets.part(giving)
        self.prior_ = (
            counted.means() if self.prior == "mean" else np.full(len(targets.values), float(self.prior))
        )
        categorical = [column for column in self._schema.columns if column.kind == "categorical"]
        self.categories_ = [np.array(column.categories, dtype=object) for column in categorical]
        self.encodings_ = [
            self._encodings(codes[giving], counted, n_codes(column))
            for codes, column in zip(columns.codes, categorical, strict=True)
        ]
        return _Training(columns.numbers, columns.codes, targets)

    def _check_parameters(self) -> None:
        validate(self)
        _check_prior(self.prior)
        if self.permutations != 1 and self.kind != "ordered":
            raise NotSupportedError(
                f"permutations={self.permutations} belongs to kind='ordered', not to kind={self.kind!r}: leave it at 1."
            )
        if self.holdout != 0.5 and self.kind != "holdout":
            raise NotSupportedError(
                f"holdout={self.holdout} belongs to kind='holdout', not to kind={self.kind!r}: leave it at 0.5."
            )
        if self.target_borders is not None and self.target_type in ("binary", "multiclass"):
            raise NotSupportedError(
                f"target_borders={self.target_borders} is for numbers as labels, but target_type={self.target_type!r}: "
                "leave it at None, every class has a statistic of its own."
            )

    def _read(self, X: Any, schema: Schema | None) -> Dataset:
        if scipy.sparse.issparse(X):
            raise NotSupportedError(
                "X is sparse, but target statistics make a dense table: pass X.toarray() instead."
            )
        return read_table(
            X,
            categorical=self.categorical_features,
            schema=schema,
            owner=type(self).__name__,
            unknown="coded",
            least_rows=1 if schema is None else 0,
        )

    def _targets(self, y: Any, n_rows: int) -> Targets:
        owner = type(self).__name__
        if y is None:
            raise InputError(f"{owner} requires y to be passed, but the target y is None.")
        self.target_type_ = self._found_type(y)
        self.classes_, self.borders_ = None, None
        if self.target_type_ == "continuous":
            labels = read_regression_target(y, n_rows, owner=owner)
            if self.target_borders is None:
                return number_targets(labels)
            self.borders_ = target_borders(labels, self.target_borders)
            if len(self.borders_) == 0:
                raise InputError(f"y has only one value, {labels[0]:g}: target_borders needs at least two.")
            return border_targets(labels, self.borders_)
        codes, self.classes_ = read_several_classes(y, n_rows, None, owner=owner)
        if self.target_type_ == "binary" and len(self.classes_) > 2:
            raise InputError(
                f"target_type='binary', but y has {len(self.classes_)} classes: use 'multiclass'."
            )
        return class_targets(codes, len(self.classes_))

    def _found_type(self, y: Any) -> TargetType:
        if self.target_type != "auto":
            return self.target_type  # type: ignore[return-value]
        if self.target_borders is not None:
            return "continuous"
        found = type_of_target(y, input_name="y")
        if found not in ("binary", "multiclass", "continuous"):
            raise InputError(
                f"Unknown label type: {found}; y must hold one class or one number a row: encode several labels one by one."
            )
        return found  # type: ignore[no-any-return]

    def _parts(self, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows that give statistics, and those that may train a model."""
        every = np.arange(n_rows)
        if self.kind != "holdout":
            return every, every
        if n_rows < 2:
            raise InputError("kind='holdout' parts the rows in two, but X has one sample only.")
        n_training = n_rows - min(max(1, int(self.holdout * n_rows)), n_rows - 1)
        training, giving = set_aside(n_rows, n_training, seed_of(self.random_state))
        return giving, training

    def _encodings(self, codes: Codes, targets: Targets, n_codes: int) -> Floats:
        """What new rows get, by code: a column a statistic, and the counter."""
        found = [total_sums(codes, target, n_codes) for target in targets.values]
        table = [
            drawn_to_prior(sums, targets.scale, prior, self.a)
            for sums, prior in zip(found, self.prior_, strict=True)
        ]
        if self.counters:
            table.append(found[0].counts / len(codes))
        return np.column_stack(table)

    def _training_statistics(
        self, codes: Codes, targets: Targets, encodings: Floats, orders: list[Codes]
    ) -> Floats:
        """One column's statistics of the training rows; the counter is that of new rows, as it reads no labels."""
        statistics = encodings[codes]
        if self.kind == "holdout":
            unused = np.ones(len(codes), np.bool_)
            unused[self.training_rows_] = False
            statistics[unused] = np.nan
        elif self.kind != "greedy":
            for place, (target, prior) in enumerate(zip(targets.values, self.prior_, strict=True)):
                if self.kind == "ordered":
                    others = [sums_before(codes, order, target, len(encodings)) for order in orders]
                else:
                    others = [sums_without_own(codes, target, len(encodings))]
                means = [drawn_to_prior(sums, targets.scale, prior, self.a) for sums in others]
                statistics[:, place] = sum(means) / len(means)
        return statistics

    def _assembled(self, numbers: Floats, statistics: list[Floats]) -> Floats:
        """All columns in the order of the table."""
        parts, next_number, next_category = [], 0, 0
        for is_category in self._schema.categorical_mask:
            if is_category:
                parts.append(statistics[next_category])
                next_category += 1
            else:
                parts.append(numbers[:, next_number : next_number + 1])
                next_number += 1
        return np.hstack(parts)

    def _endings(self) -> list[str]:
        """What is appended to the name of a categorical column, for each of its columns."""
        endings = [""]
        if self.classes_ is not None and len(self.classes_) > 2:
            endings = [f"_{label}" for label in self.classes_.tolist()]
        elif self.borders_ is not None:
            endings = [f"_above_{border}" for border in self.borders_.tolist()]
        return [*endings, "_counter"] if self.counters else endings

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.target_tags.required = True
        return tags
