"""The flat parameters of version 0.1.0, 89 names, as those of today: what belongs to one choice becomes its object.

Model files of that version hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weald.params.choice import Choice, declared, same
from weald.params.flat_names import FIELDS, KEPT, PARTS, Field
from weald.runtime.errors import InputError, NotSupportedError
from weald.training.boosting.parameters import FAMILIES

# Ways that have another name today, and one that is another way as soon as any of some parameters is given.
_RENAMED = {("booster", "forest"): "averaging"}
_TURNED = {("sampling", "uniform"): ("by_class", ("positive_subsample", "negative_subsample"))}
#: all of them
FLAT_NAMES = {*KEPT, *PARTS, *(field.name for field in FIELDS)}


def from_flat(params: Mapping[str, Any]) -> dict[str, Any]:
    """Flat parameters, by name, as those of today; an absent one has the default that it had.

    A choice that a name stands for is given by name. A changed parameter of a choice that is not chosen is refused.

    >>> from_flat({"booster": "dart", "rate_drop": 0.2, "max_bins": 63, "n_estimators": 50})
    {'categories': 'onehot', 'booster': Dart(rate_drop=0.2), 'bins': 63, 'n_estimators': 50}
    """
    for name in params:
        if name not in FLAT_NAMES:
            raise InputError(f"there was no parameter {name!r} in version 0.1.0.")
    _refuse_without_owner(params)
    parts_of: dict[str, list[str]] = {}
    for field in FIELDS:
        parts_of.setdefault(field.name, []).append(field.part)
    # The only choice whose default has changed since; everything else that is absent has today's.
    converted: dict[str, Any] = {} if "categories" in params else {"categories": PARTS["categories"]}
    for name, value in params.items():
        if name in KEPT:
            converted[name] = value
            continue
        for part in [name] if name in PARTS else parts_of[name]:
            if part not in converted:
                converted[part] = _converted(part, params)
    return converted


def _refuse_without_owner(params: Mapping[str, Any]) -> None:
    """Refuse a changed parameter that no chosen way has."""
    for name, value in params.items():
        places = [field for field in FIELDS if field.name == name]
        if not places or same(value, places[0].default) or any(_applies(field, params) for field in places):
            continue
        owners = [f"{field.part}={' or '.join(map(repr, field.owners))}" for field in places]
        chosen = [f"{field.part} is {_chosen(field.part, params)!r}" for field in places]
        raise NotSupportedError(
            f"{name}={value!r} belongs to {' or '.join(owners)}, but {' and '.join(chosen)}; "
            f"leave {name} at {places[0].default!r}."
        )


def _chosen(part: str, params: Mapping[str, Any]) -> Any:
    return params.get(part, PARTS.get(part, "auto"))


def _applies(field: Field, params: Mapping[str, Any]) -> bool:
    chosen = _chosen(field.part, params)
    return not field.owners or (isinstance(chosen, str) and chosen in field.owners)


def _converted(part: str, params: Mapping[str, Any]) -> Any:
    """The choice of one parameter, by name where that is enough; a value that is no known way stays for others to refuse."""
    family, chosen = FAMILIES[part], _chosen(part, params)
    if not isinstance(chosen, str):
        return chosen
    name = _RENAMED.get((part, chosen), chosen)
    turned, by = _TURNED.get((part, chosen), (name, ()))
    if any(params.get(given) is not None for given in by):
        name = turned
    if name not in family.names:
        return chosen
    choice = family.resolve(name)
    if not isinstance(choice, Choice):
        return choice
    known = declared(type(choice))
    for field in FIELDS:
        if field.part != part or field.field not in known or not _applies(field, params):
            continue
        value = params.get(field.name, field.default)
        # None was a default of the loss or way itself; where it is today's, it stands for what the default was.
        if value is not None and not (known[field.field].default is None and same(value, field.default)):
            setattr(choice, field.field, value)
    return family.shortest(choice)
