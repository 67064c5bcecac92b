"""The error that XGBoost's users catch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weald.runtime.errors import InputError, ModelFileError

#: what XGBoost calls the error of whatever it cannot use; here it is that of all parameters, labels, tables and files
XGBoostError = InputError


class UnreadableModelError(ModelFileError, XGBoostError):
    """A model file is damaged, or another system's; `XGBoostError` for those who catch that."""


class MissingFileError(FileNotFoundError, XGBoostError):
    """A file is not there; `XGBoostError` for those who catch that."""


@contextmanager
def reading_files() -> Iterator[None]:
    """A block whose errors of files are XGBoostErrors, too."""
    try:
        yield
    except ModelFileError as error:
        raise UnreadableModelError(str(error)) from None
    except FileNotFoundError as error:
        raise MissingFileError(*error.args) from None
