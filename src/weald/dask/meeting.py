"""How the members of a team find each other: the first says where it waits, the others ask it where the rest wait."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from weald.dask.links import Door, Links, MemberLost, knock, receive_exactly

_LENGTH = struct.Struct("<I")


class Board(Protocol):
    """Where the first member says where it waits."""

    def post(self, address: Sequence[Any]) -> None:
        """Say it."""

    def look(self, seconds: float) -> Sequence[Any] | None:
        """The address; None where none is there after so many seconds."""


@dataclass(frozen=True)
class Place:
    """What a member must know to meet the others."""

    rank: int
    size: int
    host: str  # at which the others reach this member
    secret: bytes
    patience: float  # seconds to wait for the others
    is_wanted: Callable[[], bool]  # whether the work is still asked for


@contextmanager
def met(place: Place, board: Board) -> Iterator[Links]:
    """Connections with all other members."""
    lines: dict[int, socket.socket] = {}
    try:
        with Door(place.host, place.size) as door:
            _meet(place, board, door, lines)
        links = Links(place.rank, lines, place.patience, place.is_wanted)
        yield links
    finally:
        for line in lines.values():
            line.close()


def _meet(place: Place, board: Board, door: Door, lines: dict[int, socket.socket]) -> None:
    deadline = time.monotonic() + place.patience
    if place.rank == 0:
        board.post(door.address)
        addresses: dict[int, Any] = {}
        while len(lines) + 1 < place.size:
            rank, line = door.admit(place.secret, deadline, place.is_wanted)
            if rank in lines:  # it was lost and has come back
                lines[rank].close()
            lines[rank], addresses[rank] = line, _told(line)
        for line in lines.values():
            _tell(line, sorted(addresses.items()))
        return
    line = lines[0] = knock(_first_of(place, board, deadline), place.rank, place.secret)
    _tell(line, door.address)
    line.settimeout(place.patience)
    addresses = dict(_told(line))
    for rank in range(1, place.rank):
        lines[rank] = knock(addresses[rank], place.rank, place.secret)
    while len(lines) + 1 < place.size:
        rank, line = door.admit(place.secret, deadline, place.is_wanted)
        lines[rank] = line


def _first_of(place: Place, board: Board, deadline: float) -> Sequence[Any]:
    while time.monotonic() < deadline and place.is_wanted():
        found = board.look(2.0)
        if found is not None:
            return found
    raise MemberLost("the first member did not come")


def _tell(line: socket.socket, what: Any) -> None:
    message = json.dumps(what).encode()
    try:
        line.sendall(_LENGTH.pack(len(message)) + message)
    except OSError as error:
        raise MemberLost(f"a member has gone: {error}") from error


def _told(line: socket.socket) -> Any:
    try:
        (length,) = _LENGTH.unpack(receive_exactly(line, _LENGTH.size))
        return json.loads(receive_exactly(line, length))
    except OSError as error:
        raise MemberLost(f"a member has gone: {error}") from error
