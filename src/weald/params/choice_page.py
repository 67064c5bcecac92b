"""Tables of choices for the pages of the documentation, as Markdown."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from weald.params.choice import Family, Part, declared, values_text
from weald.params.parameter import Parameter


def choice_table(owner: type) -> str:
    """The declared parameters of a class: default, values and meaning; empty where it has none.

    >>> from weald.sampling.parameters import Uniform
    >>> print(choice_table(Uniform))
    | parameter | default | values | meaning |
    | --- | --- | --- | --- |
    | `frequency` | `1` | a whole number of at least 1 and at most 10000000 | Rounds after which rows are drawn anew. |
    """
    parameters = declared(owner)
    if not parameters:
        return ""
    return "\n".join(parameter_rows(parameters))


def parameter_rows(parameters: Mapping[str, Parameter]) -> list[str]:
    """A table of parameters, a line each."""
    lines = ["| parameter | default | values | meaning |", "| --- | --- | --- | --- |"]
    for parameter in parameters.values():
        values = _values(parameter)
        lines.append(f"| `{parameter.name}` | `{parameter.default!r}` | {values} | {parameter.help} |")
    return lines


def family_page(family: Family[Any], level: int = 2) -> str:
    """A section of a family: for every choice its names, what it does, and its parameters."""
    lines = [f"{'#' * level} {family.name}", ""]
    for choice in family.classes:
        names = ", ".join(f"`{name!r}`" for name in family.names_of(choice))
        summary = inspect.cleandoc(choice.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        lines += [f"{'#' * (level + 1)} {choice.__name__}", "", f"{names}: {summary}", ""]
        table = choice_table(choice)
        lines += [table, ""] if table else ["It has no parameters.", ""]
    return "\n".join(lines)


def _values(parameter: Parameter) -> str:
    if parameter.kind in ("int", "float"):
        return parameter.range_text
    if isinstance(parameter, Part) and parameter.family is not None:
        names = ", ".join(f"`{name!r}`" for name in parameter.choices)
        objects = ", ".join(f"`{choice.__name__}`" for choice in parameter.family.classes)
        return f"{names}, or an object of {objects}"
    if parameter.choices:
        return ", ".join(f"`{name!r}`" for name in parameter.choices)
    return values_text(parameter)
