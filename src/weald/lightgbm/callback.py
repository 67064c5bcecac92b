"""Callbacks under the name that LightGBM's users import them from."""

from weald.dialects.lightgbm.callback import (
    CallbackEnv,
    EarlyStopException,
    early_stopping,
    log_evaluation,
    record_evaluation,
    reset_parameter,
)

__all__ = [
    "CallbackEnv", "EarlyStopException", "early_stopping", "log_evaluation", "record_evaluation", "reset_parameter",
]  # fmt: skip
