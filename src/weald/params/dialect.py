"""What the tables of other systems' parameters share: an entry, how names and values are read, and their pages."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from weald.params.choice import same as equal
from weald.params.parameter import Parameter
from weald.runtime.errors import InputError, NotSupportedError

Standing = Literal["same", "different", "ignored", "refused"]


@dataclass(frozen=True)
class DialectParameter(Parameter):
    """One parameter of another system.

    ``help`` says what it is for; ``note`` what differs, or what to use instead; ``native`` which parameter of
    `BoostedTrees*` it becomes; ``aliases`` its other names; ``of`` the parameter that it belongs to, and the values of that one
    with which it has a meaning. ``standing`` "ignored": any value is taken, as none changes what is trained or predicted.
    """

    group: str = ""
    standing: Standing = "same"
    note: str = ""
    native: str = ""
    aliases: tuple[str, ...] = ()
    of: tuple[str, tuple[Any, ...]] | None = None


def same(name: str, kind: str, default: Any, help: str, native: str = "", **more: Any) -> DialectParameter:
    """An entry that means the same here."""
    return DialectParameter(name, kind, default, help, native=native, **more)


def different(
    name: str, kind: str, default: Any, help: str, note: str, native: str = "", **more: Any
) -> DialectParameter:
    """An entry that means something else here; ``note`` says what."""
    return DialectParameter(name, kind, default, help, native=native, standing="different", note=note, **more)


def ignored(name: str, default: Any, note: str, *aliases: str) -> DialectParameter:
    """An entry that changes no result; ``note`` says why."""
    return DialectParameter(name, "any", default, "", standing="ignored", note=note, aliases=aliases)


def all_ignored(note: str, entries: Iterable[tuple[Any, ...]]) -> tuple[DialectParameter, ...]:
    """Several of these with one note: (name, default, other names)."""
    return tuple(ignored(name, default, note, *aliases) for name, default, *aliases in entries)


def refused(name: str, default: Any, note: str, *aliases: str) -> DialectParameter:
    """An entry that is not there; ``note`` says what to use instead."""
    return DialectParameter(name, "any", default, "", standing="refused", note=note, aliases=aliases)


def all_refused(note: str, entries: Iterable[tuple[Any, ...]]) -> tuple[DialectParameter, ...]:
    """Several of these with one note: (name, default, other names)."""
    return tuple(refused(name, default, note, *aliases) for name, default, *aliases in entries)


def belonging(entries: Iterable[DialectParameter], owner: str, *values: str) -> tuple[DialectParameter, ...]:
    """Entries that have a meaning with some values of another parameter, unless they say whose they are."""
    return tuple(entry if entry.of else replace(entry, of=(owner, values)) for entry in entries)


class ParameterTable(dict[str, DialectParameter]):
    """Every parameter of another system by its own name; ``groups``: the titles of the page's sections and their entries."""

    def __init__(
        self,
        system: str,
        groups: Mapping[str, tuple[str, Iterable[DialectParameter]]],
        introduction: Sequence[str],
    ) -> None:
        super().__init__(
            (entry.name, replace(entry, group=group))
            for group, (_, entries) in groups.items()
            for entry in entries
        )
        self.system = system
        self._titles = {group: title for group, (title, _) in groups.items()}
        self._introduction = introduction
        self._own = {alias: entry.name for entry in self.values() for alias in entry.aliases}

    def own_name(self, name: str) -> str:
        """The parameter's own name for any of its names."""
        return self._own.get(name, name)

    def value_of(self, params: Mapping[str, Any], name: str) -> Any:
        """A parameter's value, or the system's default."""
        return params.get(name, self[name].default)

    def given(
        self, pairs: Iterable[tuple[str, Any]], *, estimators: bool = False
    ) -> dict[str, list[tuple[str, Any]]]:
        """Own name -> the names and values that were given for it; None means not given, and an unknown name is an error.

        ``estimators``: the parameters of the scikit-learn classes are known too.
        """
        found: dict[str, list[tuple[str, Any]]] = {}
        for name, value in pairs:
            entry = self.get(self.own_name(name))
            if entry is None or (
                entry.group == "estimators" and entry.standing != "refused" and not estimators
            ):
                raise self._unknown(str(name))
            if value is not None:
                found.setdefault(entry.name, []).append((name, value))
        return found

    def _unknown(self, name: str) -> InputError:
        if self.own_name(name) in self:
            return InputError(
                f"there is no parameter {name!r} in {self.system} but for its scikit-learn classes; give it to one of these."
            )
        near = difflib.get_close_matches(name, [*self, *self._own], n=1)
        page = f"docs/{self.system.lower()}_parameters.md"
        hint = f"did you mean {near[0]!r}?" if near else f"{page} lists all."
        return InputError(f"there is no parameter {name!r} in {self.system}; {hint}")

    def read(self, name: str, value: Any) -> Any:
        """A value, checked; text that stands for a number or a truth value is read as one, as those systems read it.

        A refused parameter is no error where it has the system's default, and so asks for nothing.
        """
        entry = self[name]
        if callable(value) and name == "objective":  # a function of the user's own
            return value
        if entry.standing == "refused":
            if self.asks(name, value):
                raise NotSupportedError(
                    f"{name} is not supported by weald.{self.system.lower()}: {entry.note}"
                )
            return value
        if entry.standing == "ignored":
            return value
        if entry.kind == "bool" and value in (0, 1):
            value = bool(value)
        if isinstance(value, str) and entry.kind in ("int", "float", "bool"):
            return entry.parse(value)
        entry.check(value)
        return value

    def asks(self, name: str, value: Any) -> bool:
        """Whether a value is another than the system's default."""
        default = self[name].default
        return not equal(value, default) and str(value).lower() != str(default).lower()

    def check_company(self, found: Mapping[str, Any], *owners: str) -> None:
        """Refuse what belongs to other values of ``owners`` than they have, unless it is the system's default."""
        for _, reason in self.without_meaning(found, *owners):
            raise InputError(f"{reason}; leave it out.")

    def without_meaning(self, found: Mapping[str, Any], *owners: str) -> Iterator[tuple[str, str]]:
        """Names, and why they have no meaning: they belong to other values of ``owners``, and are not at their defaults.

        An objective of the user's own may have any options.
        """
        for name, value in found.items():
            owner, values = self[name].of or ("", ())
            if owner not in owners or callable(value) or equal(value, self[name].default):
                continue
            now = self.value_of(found, owner)
            if now not in values and now != "custom" and not callable(now):
                yield name, f"{name} belongs to {owner}={' and '.join(map(repr, values))}, but {owner} is {now!r}"

    def belongs(self, name: str, owner: str, value: Any) -> bool:
        """Whether a parameter belongs to a value of another one."""
        of, values = self[name].of or ("", ())
        return of == owner and value in values

    def page(self, native_names: Mapping[str, str]) -> str:
        """A page with a table for every group, as Markdown; ``native_names``: what flat names of the table are called now."""
        lines = [f"# {self.system}'s parameters in weald.{self.system.lower()}", "", *self._introduction]
        for group, title in self._titles.items():
            lines += ["", f"## {title}", ""]
            lines.append("| parameter | default | in Weald | meaning | `BoostedTrees*` has it as |")
            lines.append("| --- | --- | --- | --- | --- |")
            lines += [_row(entry, native_names) for entry in self.values() if entry.group == group]
        return "\n".join(lines) + "\n"


def _row(entry: DialectParameter, native_names: Mapping[str, str]) -> str:
    names = ", ".join(f"`{name}`" for name in (entry.name, *entry.aliases))
    if entry.standing == "refused":
        return f"| {names} |  | refused: {entry.note} |  |  |"
    if entry.standing == "ignored":
        return f"| {names} |  | changes nothing: {entry.note} |  |  |"
    standing = "same" if entry.standing == "same" else f"different: {entry.note}"
    native = f"`{native_names.get(entry.native, entry.native)}`" if entry.native else ""
    values = ""
    if entry.kind == "choice":
        values = f" One of {', '.join(f'`{choice}`' for choice in entry.choices)}."
    return f"| {names} | `{entry.default!r}` | {standing} | {entry.help}{values} | {native} |"
