"""Members of an ensemble that may be any scikit-learn estimator: copies with seeds, tables cut to rows and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import scipy.sparse
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from weald.binning import BinnedTable
from weald.runtime.errors import InputError, NotSupportedError
from weald.runtime.random import MEMBER_SEED, stream_key

Output = TypeVar("Output")


def seeded_clone(estimator: Any, seed: int, number: int) -> Any:
    """An unfitted copy for member ``number``; every ``random_state`` in it, also a nested one, gets a seed of its own.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=1)
    >>> first, again, second = (seeded_clone(tree, 0, number) for number in (0, 0, 1))
    >>> first.random_state == again.random_state != second.random_state
    True
    """
    member = clone(estimator)
    names = [name for name in sorted(member.get_params()) if name.split("__")[-1] == "random_state"]
    return member.set_params(**{name: member_seed(seed, number, place) for place, name in enumerate(names)})


def member_seed(seed: int, number: int, place: int = 0) -> int:
    """The seed of the random state in this place among those of a member; 31 bits, as scikit-learn has them."""
    return stream_key(seed, MEMBER_SEED, number, place) >> 33


def takes_sample_weight(estimator: Any) -> bool:
    """Whether ``fit`` uses row weights: its own argument or, with metadata routing on, where it is routed to."""
    if get_config()["enable_metadata_routing"]:
        return bool(get_routing_for_object(estimator).consumes("fit", ["sample_weight"]))
    return bool(has_fit_parameter(estimator, "sample_weight"))


def check_member(estimator: Any) -> None:
    """Refuse what cannot be a member at all."""
    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise InputError(f"estimator must be an estimator with fit and predict, not {estimator!r}.")


def indexable(X: Any) -> Any:
    """The table in a form that `take_rows` and `take_columns` can cut: lists become arrays, sparse matrices rows."""
    if scipy.sparse.issparse(X):
        return X if X.format in ("csr", "csc") else X.tocsr()
    if isinstance(X, Mapping) or nw.dependencies.is_into_dataframe(X):
        return X
    array = np.asarray(X)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """The chosen rows of a table in their order; of the same kind as the table."""
    if isinstance(X, BinnedTable):
        return X.take(rows)
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows.tolist(), :].to_native()
    refuse_mapping(X)
    return X[rows]


def params_of_rows(params: Mapping[str, Any], rows: NDArray[np.int64], n_rows: int) -> dict[str, Any]:
    """Arguments of ``fit`` for some of the rows: what has a value for each row is cut, the rest stays."""

    def cut(value: Any) -> Any:
        per_row = hasattr(value, "__len__") and not isinstance(value, str | Mapping) and len(value) == n_rows
        if not per_row:
            return value
        # A series would be cut by its labels.
        return take_rows(value if nw.dependencies.is_into_dataframe(value) else np.asarray(value), rows)

    return {name: cut(value) for name, value in params.items()}


def take_columns(X: Any, columns: NDArray[np.int64]) -> Any:
    """The chosen columns of a table in their order; a data frame can hold each but once."""
    if nw.dependencies.is_into_dataframe(X):
        if len(set(columns.tolist())) < len(columns):
            raise NotSupportedError(
                "bootstrap_features=True draws columns more than once, which a data frame cannot hold; pass X.to_numpy()."
            )
        return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native()
    refuse_mapping(X)
    return X[:, columns]


def refuse_mapping(X: Any) -> None:
    """Refuse a table that `take_rows` and `take_columns` cannot cut."""
    if isinstance(X, Mapping):
        raise NotSupportedError(
            "X is a dict of columns, which cannot be cut to rows or columns; pass a data frame."
        )


Params = Mapping[str, Any]
NO_PARAMS: Params = MappingProxyType({})


def codes_of(member: Any, X: Any, classes: NDArray[Any], params: Params = NO_PARAMS) -> NDArray[np.int64]:
    """The position in ``classes``, which are sorted, of the label that a fitted member predicts for every row.

    ``params``: further arguments of its ``predict``.
    """
    labels = np.asarray(member.predict(X, **params))
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if len(strange):
        raise InputError(
            f"estimator must be a classifier, but {type(member).__name__} predicted {labels[strange[0]]!r}, "
            f"which is none of the classes."
        )
    return codes.astype(np.int64, copy=False)


def probabilities_of(
    member: Any, X: Any, classes: NDArray[Any], params: Params = NO_PARAMS
) -> NDArray[np.float64]:
    """(rows, classes) probabilities of a fitted member; a class that its rows did not have gets 0."""
    probabilities = np.asarray(member.predict_proba(X, **params), dtype=np.float64)
    if probabilities.shape[1] == len(classes):
        return probabilities
    every = np.zeros((len(probabilities), len(classes)))
    every[:, np.searchsorted(classes, member.classes_)] = probabilities
    return every


def values_of(member: Any, X: Any, params: Params = NO_PARAMS) -> NDArray[np.float64]:
    """The numbers that a fitted regressor predicts."""
    return np.asarray(member.predict(X, **params), dtype=np.float64)


def outputs_in_order(
    output: Callable[[Any], Output], members: Sequence[Any], n_jobs: Any
) -> Iterator[Output]:
    """``output`` of every member, in their order, computed on so many threads; only a few are held at a time."""
    jobs = effective_n_jobs(n_jobs)
    if jobs == 1:
        yield from map(output, members)
        return
    with Parallel(n_jobs=jobs, prefer="threads") as run:
        for first in range(0, len(members), jobs):
            yield from run(delayed(output)(member) for member in members[first : first + jobs])
