"""What the members of a team do together before training: each gives its part, or all refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from weald.runtime.errors import InputError
from weald.runtime.team import Team

Own = TypeVar("Own")


def gather_or_refuse(team: Team, make: Callable[[], Own]) -> list[Own]:
    """What every member makes, in the order of their numbers; an `InputError` of one is raised by all.

    No member is left waiting for one that has refused its input.

    >>> from weald.runtime.team import ALONE
    >>> gather_or_refuse(ALONE, lambda: 3)
    [3]
    """
    own: Own | None = None
    refused = None
    try:
        own = make()
    except InputError as error:
        refused = error
    found: list[tuple[Own, InputError | None]] = team.gather((own, refused))
    for _, refusal in found:
        if refusal is not None:
            raise refusal
    return [one for one, _ in found]
