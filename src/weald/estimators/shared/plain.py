"""Parameters and labels as JSON data and back; what comes back is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weald.params.choice import Choice
from weald.params.stored import from_json, to_json
from weald.runtime.errors import ModelFileError
from weald.training.boosting.parameters import FAMILIES

_DTYPE = re.compile(r"[<>|=]?[biufUSO][0-9]{0,9}")
# Labels may have a type that is wider than they need, but not by more than this in all.
_MOST_BYTES = 2**24
# These change neither the model nor its predictions: the same model must have the same bytes.
NOT_SAVED = frozenset({"n_jobs", "device", "verbose", "warm_start"})


def plain(value: Any) -> Any:
    """A parameter's value as JSON data; functions and other objects are remembered by name only.

    >>> plain({1: (2.5, None)})
    {'pairs': [[1, [2.5, None]]]}
    """
    if isinstance(value, Choice):
        return to_json(value, plain)
    if callable(value):
        return {"function": getattr(value, "__name__", type(value).__name__)}
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return None
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {"pairs": [[plain(key), plain(entry)] for key, entry in value.items()]}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return {"object": repr(value)}


def parameters_to_json(estimator: Any, apart: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The parameters of an estimator as its file has them, without those ``apart``.

    A choice is there by its name where one stands for it; one that no file could be read with is refused.
    """
    return values_to_json(estimator.get_params(deep=False), apart)


def values_to_json(given: Mapping[str, Any], apart: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Parameters by name, as `parameters_to_json` has them."""
    return {
        name: plain(shortest(name, value) if isinstance(value, Choice) else value)
        for name, value in given.items()
        if name not in NOT_SAVED | apart
    }


def shortest(name: str, value: Any) -> Any:
    """The shortest way to say a parameter that is a choice: an object may be what a name or a number stands for."""
    return FAMILIES[name].shortest(FAMILIES[name].resolve(value))


def check_parameters(kind: type[Any], params: dict[str, Any], apart: frozenset[str] = frozenset()) -> None:
    """Refuse parameters of a file that its estimator does not have, or that are ``apart``."""
    unknown = set(params) - (set(kind._get_param_names()) - NOT_SAVED - apart)
    if unknown:
        raise ModelFileError(f"A {kind.__name__} has no parameter {min(unknown)!r} in its file.")
    check_choices(params)


def check_choices(params: dict[str, Any]) -> None:
    """Refuse parameters of a file that are choices of something else."""
    for name, value in params.items():
        if isinstance(value, Choice) and (name not in FAMILIES or type(value) not in FAMILIES[name].classes):
            raise ModelFileError(
                f"The file has the choice {type(value).__name__!r} as {name}, which it cannot be."
            )


def restored(value: Any) -> Any:
    """The value of `plain` data; a function or another object comes back as its name.

    >>> restored({"pairs": [[1, [2.5, None]]]})
    {1: [2.5, None]}
    """
    if isinstance(value, dict):
        if set(value) in ({"function"}, {"object"}):
            return next(iter(value.values()))
        if "choice" in value:
            return from_json(value, FAMILIES.values(), restored)
        pairs = value.get("pairs")
        if set(value) != {"pairs"} or not isinstance(pairs, list):
            raise ModelFileError("A parameter in the file is not in a known form.")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ModelFileError("A parameter in the file is not in a known form.")
        return {_hashable(key): restored(entry) for key, entry in pairs}
    if isinstance(value, list):
        return [restored(entry) for entry in value]
    return value


def _hashable(value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ModelFileError("A parameter in the file is not in a known form.")
    return value


def labels_to_json(labels: NDArray[Any]) -> dict[str, Any]:
    """A flat array of strings, booleans or numbers, with its type."""
    return {"dtype": labels.dtype.str, "values": [plain(value) for value in labels.tolist()]}


def labels_from_json(stored: Any, what: str = "labels") -> NDArray[Any]:
    """The array of `labels_to_json`; `what` is what messages call it.

    >>> labels_from_json(labels_to_json(np.array(["no", "yes"])))
    array(['no', 'yes'], dtype='<U3')
    """
    if (
        not isinstance(stored, dict)
        or set(stored) != {"dtype", "values"}
        or not isinstance(stored["values"], list)
    ):
        raise ModelFileError(f"The file's {what} must have a dtype and values.")
    values = stored["values"]
    if not all(isinstance(value, str | int | float) for value in values):
        raise ModelFileError(f"The file's {what} must be strings, booleans or numbers.")
    dtype = stored["dtype"]
    try:
        if not isinstance(dtype, str) or not _DTYPE.fullmatch(dtype):
            raise TypeError
        needed = 4 * max((len(value) for value in values if isinstance(value, str)), default=4)
        if (np.dtype(dtype).itemsize - needed) * len(values) > _MOST_BYTES:
            raise TypeError
        return np.array(values, dtype=dtype)
    except (TypeError, ValueError, OverflowError):
        raise ModelFileError(f"The file's {what} do not have the type {dtype!r:.40}.") from None


def classes_from_json(stored: Any) -> NDArray[Any]:
    """The classes of a classifier: labels that are all different, at least two."""
    classes = labels_from_json(stored, "classes")
    check_classes(classes)
    return classes


def check_classes(classes: Any) -> None:
    """Refuse what cannot be the classes of a classifier."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1:
        raise ModelFileError("The file's classes must be a flat array.")
    values = classes.tolist()
    if len(set(values)) != len(values):
        raise ModelFileError("The file's classes must be different strings, booleans or numbers.")
    if len(values) < 2:
        raise ModelFileError("The file must have at least two classes.")
