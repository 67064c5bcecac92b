"""The errors that Weald raises on purpose; each message is one sentence that says what would be right."""

from __future__ import annotations


class InputError(ValueError):
    """An argument, a label or a column cannot be used as it is."""


class InputTypeError(InputError, TypeError):
    """An argument, a name or a cell is of a type that cannot be used; a `TypeError` too, as Python has it."""


class NotSupportedError(InputError):
    """A value that Weald knows but refuses; the message says what to use instead."""


class UnknownParameterError(InputError, TypeError):
    """A parameter that an estimator or a choice does not have; to Python a TypeError, as any unknown argument is."""


class ModelFileError(ValueError):
    """A model file is damaged, incomplete, or not a Weald model."""


class MissingExtraError(InputError, ImportError):
    """What was asked for needs a package that is not installed; the message names the extra that brings it."""


class DeviceError(InputError):
    """A device cannot do what it was chosen for; the message names it."""


class DataWarning(UserWarning):
    """A table was read, but something in it was probably meant otherwise; the message names the column and what to do."""
