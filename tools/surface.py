"""The public names of XGBoost, LightGBM and CatBoost beside Weald's: ``python -m tools.surface > docs/surface.md``.

It imports the original packages, which must be installed. Arguments and their defaults are compared, not what functions do.
"""

from __future__ import annotations

import importlib
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

SYSTEMS = ("xgboost", "lightgbm", "catboost")
Standing = Literal["same", "differs", "refused", "missing"]
_NOT_COMPARED = (int, float, str, bool, dict, list, tuple)  # values, of which only the name is public


@dataclass(frozen=True)
class Row:
    """A public name of the original: how it stands in Weald, and what is to be said of it."""

    name: str
    standing: Standing
    remark: str = ""


def rows_of(system: str) -> list[Row]:
    """Every public name of a system, with the methods of its classes."""
    theirs, ours = importlib.import_module(system), importlib.import_module(f"weald.{system}")
    reasons = importlib.import_module(f"weald.dialects.{system}.refusals").NAMES
    rows: list[Row] = []
    for name in sorted(_public(theirs)):
        original = getattr(theirs, name)
        if name in reasons:
            rows.append(Row(name, "refused", reasons[name]))
            continue
        try:
            found = getattr(ours, name)
        except (AttributeError, ValueError):
            rows.append(Row(name, "missing"))
            continue
        rows.append(_compared(name, original, found))
        if inspect.isclass(original):
            rows += _methods(name, original, found)
    return rows


def _public(module: Any) -> list[str]:
    named = getattr(module, "__all__", None) or dir(module)
    return [name for name in named if not name.startswith("_")]


def _methods(owner: str, original: type, found: Any) -> Iterator[Row]:
    for name in sorted(dir(original)):
        if name.startswith("_") or name.endswith("_"):  # which is known after fit
            continue
        title = f"{owner}.{name}"
        if not hasattr(found, name):
            yield Row(title, "missing")
        else:
            theirs, ours = (inspect.getattr_static(one, name) for one in (original, found))
            yield _compared(title, _plain(theirs), _plain(ours))


def _plain(member: Any) -> Any:
    return member.__func__ if isinstance(member, staticmethod | classmethod) else member


def _compared(name: str, original: Any, found: Any) -> Row:
    text = inspect.getdoc(found) or ""
    if text.startswith("Refused: "):
        return Row(name, "refused", text.removeprefix("Refused: "))
    if inspect.ismodule(original) or isinstance(original, property) or not callable(original):
        return Row(name, "same")
    try:
        theirs, ours = (dict(inspect.signature(one).parameters) for one in (original, found))
    except (TypeError, ValueError):  # which have no signature: compiled, or exceptions
        return Row(name, "same")
    remark = "; ".join(_differences(theirs, ours))
    return Row(name, "differs" if remark else "same", remark)


def _differences(theirs: dict[str, inspect.Parameter], ours: dict[str, inspect.Parameter]) -> Iterator[str]:
    several = any(entry.kind == entry.VAR_KEYWORD for entry in ours.values())
    spread = {
        name
        for name, entry in {**theirs, **ours}.items()
        if entry.kind in (entry.VAR_KEYWORD, entry.VAR_POSITIONAL)
    }
    lacking = [name for name in theirs if name not in ours and name not in spread]
    if lacking:
        yield f"{'among further keywords' if several else 'without'}: {_listed(lacking)}"
    further = [name for name in ours if name not in theirs and name not in spread]
    if further:
        yield f"further: {_listed(further)}"
    other = [
        name
        for name in theirs
        if name in ours and name != "self" and not _same_default(theirs[name].default, ours[name].default)
    ]
    if other:
        yield f"other defaults: {_listed(other)}"


def _same_default(first: Any, second: Any) -> bool:
    both_nan = isinstance(first, float) and first != first and isinstance(second, float) and second != second
    if both_nan or first is second:
        return True
    comparable = isinstance(first, _NOT_COMPARED) and isinstance(second, _NOT_COMPARED)
    return bool(first == second) if comparable else type(first).__name__ == type(second).__name__


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def page() -> str:
    """The page as Markdown: the counts, and for every system what is not the same."""
    found = {system: rows_of(system) for system in SYSTEMS}
    lines = [
        "# Names: the originals' and Weald's",
        "",
        "Written by `python -m tools.surface`. It compares the public modules, classes, functions, methods, arguments and",
        "defaults of the packages with those of `weald.xgboost`, `weald.lightgbm` and `weald.catboost`. What parameters mean is",
        "on the pages of parameters.",
        "",
        "| system | names | same | differs | refused | missing |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for system, rows in found.items():
        count = Counter(row.standing for row in rows)
        numbers = " | ".join(str(count[standing]) for standing in ("same", "differs", "refused", "missing"))
        lines.append(f"| {title_of(system)} | {len(rows)} | {numbers} |")
    for system, rows in found.items():
        lines += ["", f"## {title_of(system)}", "", "| name | in Weald | |", "| --- | --- | --- |"]
        lines += [
            f"| `{row.name}` | {row.standing} | {row.remark} |" for row in rows if row.standing != "same"
        ]
    return "\n".join(lines) + "\n"


def title_of(system: str) -> str:
    """A system's name and the version that is installed."""
    return f"{system} {importlib.import_module(system).__version__}"


if __name__ == "__main__":
    print(page(), end="")
