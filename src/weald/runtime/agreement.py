"""What the members of a team do together before training: each gives its part, or all refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from weald.runtime.errors import InputError
from weald.runtime.team import Team

Own = TypeVar("Own")


def gather_or_refuse(team: Team, make: Callable[[], Own]) -> list[Own]:
    """What every member makes, in the order of their numbers; an `InputError` of one is raised by all.

    No member is left waiting for one that has refused its input. The message names the member, unless all refuse the same.

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
    refusals = [(rank, refusal) for rank, (_, refusal) in enumerate(found) if refusal is not None]
    if not refusals:
        return [one for one, _ in found]
    if len({str(refusal) for _, refusal in refusals}) == 1 and len(refusals) == team.size:
        raise refusals[0][1]
    rank, refusal = refusals[0]
    raise type(refusal)(f"{team.name_of(rank)}: {refusal}")
