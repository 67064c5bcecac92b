"""What all of `weald.lightgbm` uses: the error's name, the result of a metric, and where lines and warnings go."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from weald.dialects.shared.door import Door
from weald.dialects.shared.values import without_warnings


class LightGBMError(ValueError):
    """Whatever this interface refuses or cannot read is one."""


DOOR = Door(LightGBMError)


class LGBMDeprecationWarning(FutureWarning):
    """LightGBM's own warning of what will go; nothing here gives it, but scripts filter it."""


_logger: dict[str, Any] = {}


class EvalResult(tuple[Any, ...]):
    """(set, metric, value, whether larger is better) and, in `cv`, the deviation of the folds.

    >>> result = EvalResult("valid_0", "auc", 0.8, True)
    >>> result.metric_name, len(result)
    ('auc', 4)
    """

    __slots__ = ()

    def __new__(
        cls,
        dataset_name: str,
        metric_name: str,
        metric_value: float,
        maximize: bool,
        metric_std_dev: float | None = None,
    ) -> EvalResult:
        values = (dataset_name, metric_name, metric_value, maximize)
        return super().__new__(cls, values if metric_std_dev is None else (*values, metric_std_dev))

    @property
    def dataset_name(self) -> str:
        """The set."""
        return str(self[0])

    @property
    def metric_name(self) -> str:
        """The metric."""
        return str(self[1])

    @property
    def metric_value(self) -> float:
        """Its value; in `cv` the mean of the folds."""
        return float(self[2])

    @property
    def maximize(self) -> bool:
        """Whether larger is better."""
        return bool(self[3])

    @property
    def metric_std_dev(self) -> float | None:
        """The deviation of the folds, in `cv`."""
        return float(self[4]) if self.is_cv_result() else None

    def is_cv_result(self) -> bool:
        """Whether it is of several folds."""
        return len(self) > 4

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


def register_logger(
    logger: Any, info_method_name: str = "info", warning_method_name: str = "warning"
) -> None:
    """Have lines and warnings go to methods of an object in place of standard output and `warnings`."""
    for name in (info_method_name, warning_method_name):
        if not callable(getattr(logger, name, None)):
            raise TypeError(f"a logger must have a method {name!r}, but {type(logger).__name__} has none.")
    _logger["info"] = getattr(logger, info_method_name)
    _logger["warning"] = getattr(logger, warning_method_name)


def log_info(line: str) -> None:
    """Say a line."""
    _logger.get("info", print)(line)


def log_warning(line: str) -> None:
    """Warn."""
    if "warning" in _logger:
        _logger["warning"](line)
    else:
        warnings.warn(line, stacklevel=3)


def quiet(params: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Without warnings where verbosity is below 0."""
    return without_warnings(any(int(params.get(name) or 0) < 0 for name in ("verbosity", "verbose")))
