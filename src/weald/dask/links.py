"""Connections between the members of a team: every member has one with every other, and all speak at once.

A message is its length, the number of the exchange that it belongs to, and its bytes. Nothing that arrives is read before both
ends have proved that they know the team's secret: what is exchanged may be pickled.
"""

from __future__ import annotations

import hmac
import secrets
import selectors
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

_HEAD = struct.Struct("<QQ")
_HELLO = struct.Struct("<I")
_PROOF = 32  # bytes of a nonce and of the proof
_LOOK_UP = 1.0  # seconds between two looks at whether the work is still wanted
_HANDSHAKE = 10.0  # seconds that a stranger may take
_CHUNK = 1 << 20

Buffer = bytes | bytearray | memoryview


class MemberLost(Exception):
    """Another member has gone, or has said nothing for too long."""


class _Flow:
    """One message to a member, and the one that comes from it."""

    def __init__(self, number: int, message: Buffer) -> None:
        view = memoryview(message).cast("B")
        self.out = [memoryview(_HEAD.pack(len(view), number)), view]
        self.number = number
        self.head = bytearray(_HEAD.size)
        self.body: bytearray | None = None
        self.read = 0

    @property
    def is_sent(self) -> bool:
        return not self.out

    @property
    def is_read(self) -> bool:
        return self.body is not None and self.read == len(self.body)

    def send(self, line: socket.socket) -> None:
        while self.out:
            sent = line.send(self.out[0][:_CHUNK]) if len(self.out[0]) else 0
            self.out[0] = self.out[0][sent:]
            if len(self.out[0]):
                return
            self.out.pop(0)

    def receive(self, line: socket.socket) -> None:
        target = self.head if self.body is None else self.body
        count = line.recv_into(memoryview(target)[self.read :], min(len(target) - self.read, _CHUNK))
        if not count:
            raise ConnectionResetError
        self.read += count
        if self.body is None and self.read == len(self.head):
            length, number = _HEAD.unpack(self.head)
            if number != self.number:
                raise MemberLost(f"exchange {self.number} was answered by exchange {number}")
            self.body, self.read = bytearray(length), 0


class Links:
    """The connections of member ``rank`` of a team of ``size``.

    ``patience``: seconds in which something must arrive. ``is_wanted``: asked now and then while waiting; where it says no,
    waiting ends with `MemberLost`.
    """

    def __init__(
        self, rank: int, lines: Mapping[int, socket.socket], patience: float, is_wanted: Callable[[], bool]
    ) -> None:
        self.rank = rank
        self.size = len(lines) + 1
        self._lines = lines
        self._patience = patience
        self._is_wanted = is_wanted
        self._number = 0
        for line in lines.values():
            line.setblocking(False)
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, messages: Mapping[int, Buffer]) -> dict[int, bytearray]:
        """Send every other member its message, and return those that they send."""
        self._number += 1
        flows = {other: _Flow(self._number, message) for other, message in messages.items()}
        with selectors.DefaultSelector() as selector:
            for other in flows:
                selector.register(self._lines[other], selectors.EVENT_READ | selectors.EVENT_WRITE, other)
            self._drive(selector, flows)
        found = {}
        for other, flow in flows.items():
            assert flow.body is not None
            found[other] = flow.body
        return found

    def _drive(self, selector: selectors.BaseSelector, flows: Mapping[int, _Flow]) -> None:
        last = looked = time.monotonic()
        open_lines = len(flows)
        while open_lines:
            ready = selector.select(_LOOK_UP)
            now = time.monotonic()
            if ready:
                last = now
            elif now - last > self._patience:
                silent = [other for other, flow in flows.items() if not flow.is_read]
                raise MemberLost(f"members {silent} have said nothing for {self._patience:.0f} s")
            if now - looked > _LOOK_UP:
                looked = now
                if not self._is_wanted():
                    raise MemberLost("nobody wants the result any more")
            for key, events in ready:
                open_lines -= self._move(selector, key, events, flows[key.data])

    def _move(
        self, selector: selectors.BaseSelector, key: selectors.SelectorKey, events: int, flow: _Flow
    ) -> bool:
        """Send and receive what can be at once; whether this was the last of it."""
        line = self._lines[key.data]
        try:
            if events & selectors.EVENT_WRITE:
                flow.send(line)
            if events & selectors.EVENT_READ:
                flow.receive(line)
        except BlockingIOError:
            return False
        except OSError as error:
            raise MemberLost(f"member {key.data} has gone: {error or 'closed'}") from error
        if flow.is_sent and flow.is_read:
            selector.unregister(line)
            return True
        wanted = 0 if flow.is_sent else selectors.EVENT_WRITE
        wanted |= 0 if flow.is_read else selectors.EVENT_READ
        if wanted != key.events:
            selector.modify(line, wanted, key.data)
        return False

    def close(self) -> None:
        """Close all; the others notice."""
        for line in self._lines.values():
            line.close()


class Door:
    """Where a member waits for the others to connect; ``with Door(host) as door``."""

    def __init__(self, host: str, size: int) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, 0), family=family, backlog=max(size, 8))
        self.address: tuple[str, int] = (host, self._socket.getsockname()[1])

    def __enter__(self) -> Door:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def admit(
        self, secret: bytes, deadline: float, is_wanted: Callable[[], bool]
    ) -> tuple[int, socket.socket]:
        """The next member that connects and knows the secret: its number and the connection; strangers are turned away."""
        self._socket.settimeout(_LOOK_UP)
        while True:
            if time.monotonic() > deadline:
                raise MemberLost("the other members did not come")
            if not is_wanted():
                raise MemberLost("nobody wants the result any more")
            try:
                line, _ = self._socket.accept()
            except TimeoutError:
                continue
            line.settimeout(_HANDSHAKE)
            try:
                _prove(line, secret, b"host", b"guest")
                return _HELLO.unpack(receive_exactly(line, _HELLO.size))[0], line
            except (OSError, MemberLost):
                line.close()


def knock(address: Sequence[Any], rank: int, secret: bytes) -> socket.socket:
    """A connection to the member that waits at an address."""
    host, port = address
    try:
        line = socket.create_connection((host, port), timeout=_HANDSHAKE)
    except OSError as error:
        raise MemberLost(f"nobody is at {host}:{port}: {error}") from error
    try:
        _prove(line, secret, b"guest", b"host")
        line.sendall(_HELLO.pack(rank))
    except OSError as error:
        line.close()
        raise MemberLost(f"the member at {host}:{port} has gone: {error}") from error
    return line


def _prove(line: socket.socket, secret: bytes, own: bytes, other: bytes) -> None:
    """Show that this end knows the secret, and see that the other one does."""
    nonce = secrets.token_bytes(_PROOF)
    line.sendall(nonce)
    asked = receive_exactly(line, _PROOF)
    line.sendall(hmac.digest(secret, own + asked, sha256))
    given = receive_exactly(line, _PROOF)
    if not hmac.compare_digest(given, hmac.digest(secret, other + nonce, sha256)):
        raise ConnectionRefusedError("it does not know the team's secret")


def receive_exactly(line: socket.socket, count: int) -> bytes:
    """So many bytes."""
    found = bytearray()
    while len(found) < count:
        more = line.recv(min(count - len(found), _CHUNK))
        if not more:
            raise ConnectionResetError("closed")
        found += more
    return bytes(found)
