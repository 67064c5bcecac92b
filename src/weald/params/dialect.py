"""What the tables of other systems' parameters share: an entry, how names and values are read, and their pages."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeVar

from weald.params.parameter import Parameter
from weald.runtime.errors import InputError, NotSupportedError

Standing = Literal["same", "different", "refused"]


@dataclass(frozen=True)
class DialectParameter(Parameter):
    """One parameter of another system.

    ``help`` says what it is for; ``note`` what differs, or what to use instead; ``native`` which parameter of
    `BoostedTrees*` it becomes; ``aliases`` its other names.
    """

    #: the system, and the module that speaks in its stead
    system: ClassVar[str] = ""
    module: ClassVar[str] = ""

    group: str = ""
    standing: Standing = "same"
    note: str = ""
    native: str = ""
    aliases: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:
        """The value, checked; text that stands for a number or a truth value is read as one, as those systems read it."""
        if self.standing == "refused":
            raise NotSupportedError(f"{self.name} is not supported by {self.module}: {self.note}")
        if self.kind == "bool" and value in (0, 1):
            value = bool(value)
        if isinstance(value, str) and self.kind in ("int", "float", "bool"):
            return self.parse(value)
        self.check(value)
        return value


Lenient = TypeVar("Lenient", bound="LenientParameter")


class LenientParameter(DialectParameter):
    """A parameter that, refused, is no error where it has the system's default and so asks for nothing."""

    def read(self, value: Any) -> Any:
        """The value, checked."""
        if self.standing != "refused":
            return super().read(value)
        if value != self.default and str(value).lower() != str(self.default).lower():
            raise NotSupportedError(f"{self.name} is not supported by {self.module}: {self.note}")
        return value

    @classmethod
    def same(
        cls: type[Lenient], name: str, kind: str, default: Any, help: str, native: str = "", **more: Any
    ) -> Lenient:
        """An entry that means the same here."""
        return cls(name, kind, default, help, native=native, **more)

    @classmethod
    def different(
        cls: type[Lenient],
        name: str,
        kind: str,
        default: Any,
        help: str,
        note: str,
        native: str = "",
        **more: Any,
    ) -> Lenient:
        """An entry that means something else here; ``note`` says what."""
        return cls(name, kind, default, help, native=native, standing="different", note=note, **more)

    @classmethod
    def refused_one(cls: type[Lenient], name: str, default: Any, note: str, *aliases: str) -> Lenient:
        """An entry that is not there; ``note`` says what to use instead."""
        return cls(name, "any", default, "", standing="refused", note=note, aliases=aliases)

    @classmethod
    def all_refused(cls: type[Lenient], note: str, entries: Iterable[tuple[Any, ...]]) -> tuple[Lenient, ...]:
        """Several of these with one note: (name, default, other names)."""
        return tuple(cls.refused_one(name, default, note, *aliases) for name, default, *aliases in entries)


Entry = TypeVar("Entry", bound=DialectParameter)


def table_of_groups(groups: Mapping[str, Iterable[Entry]]) -> dict[str, Entry]:
    """Every parameter by its own name, with the group that it is listed under."""
    return {entry.name: replace(entry, group=group) for group, entries in groups.items() for entry in entries}


def aliases_of(table: Mapping[str, DialectParameter]) -> dict[str, str]:
    """Other name -> the parameter's own."""
    return {alias: entry.name for entry in table.values() for alias in entry.aliases}


def unknown_parameter(name: str, table: Mapping[str, DialectParameter]) -> InputError:
    """The error of a name that the table does not have."""
    entry = next(iter(table.values()))
    near = difflib.get_close_matches(name, [*table, *aliases_of(table)], n=1)
    page = f"docs/{entry.system.lower()}_parameters.md"
    hint = f"did you mean {near[0]!r}?" if near else f"{page} lists all."
    return InputError(f"there is no parameter {name!r} in {entry.system}; {hint}")


def parse_constraint(name: str, value: Any) -> Any:
    """Constraints written as text, "(1,-1)", "1,-1" or "[[0, 1], [2]]", as lists; anything else as it is.

    >>> parse_constraint("monotone_constraints", "(1,0,-1)")
    [1, 0, -1]
    >>> parse_constraint("interaction_constraints", "[0,1],[2]")
    [[0, 1], [2]]
    """
    if not isinstance(value, str):
        return list(value) if isinstance(value, tuple) else value
    text = value.strip().replace("(", "[").replace(")", "]").replace("'", '"')
    for candidate in (text or "[]", f"[{text}]"):
        try:
            parsed = json.loads(candidate)
        except ValueError:
            continue
        if isinstance(parsed, list):
            return parsed or None
    raise InputError(f"{name}={value!r} cannot be read; write it as (1,-1,0) or [[0, 1], [2, 3]].")


def parameter_page(
    introduction: Sequence[str],
    titles: Mapping[str, str],
    table: Mapping[str, DialectParameter],
    native_names: Mapping[str, str],
) -> str:
    """A page with a table for every group, as Markdown; ``native_names``: what flat names of the table are called now."""
    lines = list(introduction)
    for group, title in titles.items():
        lines += ["", f"## {title}", ""]
        lines.append("| parameter | default | in Weald | meaning | `BoostedTrees*` has it as |")
        lines.append("| --- | --- | --- | --- | --- |")
        lines += [_row(entry, native_names) for entry in table.values() if entry.group == group]
    return "\n".join(lines) + "\n"


def _row(entry: DialectParameter, native_names: Mapping[str, str]) -> str:
    names = ", ".join(f"`{name}`" for name in (entry.name, *entry.aliases))
    if entry.standing == "refused":
        return f"| {names} |  | refused: {entry.note} |  |  |"
    standing = "same" if entry.standing == "same" else f"different: {entry.note}"
    native = f"`{native_names.get(entry.native, entry.native)}`" if entry.native else ""
    values = ""
    if entry.kind == "choice":
        values = f" One of {', '.join(f'`{choice}`' for choice in entry.choices)}."
    return f"| {names} | `{entry.default!r}` | {standing} | {entry.help}{values} | {native} |"
