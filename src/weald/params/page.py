"""The page of parameters, written by ``python -m weald.params``."""

from __future__ import annotations

from collections.abc import Mapping

from weald.params.boosted import PARAMETERS
from weald.params.classical import GRADIENT_BOOSTING_PARAMETERS
from weald.params.parameter import Parameter


def parameter_table() -> str:
    """The page of parameters, ``docs/parameters.md``, as Markdown."""
    lines = [
        "# Parameters",
        "",
        "Written by `python -m weald.params`. `huber_delta`, `quantile_alpha` and `tweedie_power` belong to the regressor,",
        "`class_weight` and `scale_pos_weight` to the classifier; all others to both.",
        "",
        *_rows(PARAMETERS),
        "",
        "## GradientBoostingClassifier and GradientBoostingRegressor",
        "",
        "`alpha` belongs to the regressor. The losses are log_loss and exponential, and squared_error, absolute_error, huber",
        "and quantile.",
        "",
        *_rows(GRADIENT_BOOSTING_PARAMETERS),
    ]
    return "\n".join(lines) + "\n"


def _rows(table: Mapping[str, Parameter]) -> list[str]:
    lines = ["| parameter | default | values | meaning |", "| --- | --- | --- | --- |"]
    for parameter in table.values():
        lines.append(
            f"| `{parameter.name}` | `{parameter.default!r}` | {_values_text(parameter)} | {parameter.help} |"
        )
    return lines


def _values_text(parameter: Parameter) -> str:
    if parameter.kind == "choice":
        refused = ", ".join(f"`{name!r}`" for name, _ in parameter.refused)
        known = ", ".join(f"`{name!r}`" for name in parameter.choices)
        return f"{known} (refused for now: {refused})" if refused else known
    if parameter.kind in ("int", "float"):
        return parameter.range_text
    return {"bool": "True or False", "none": "None"}.get(parameter.kind, "see its meaning")
