"""GPUs of other systems' interfaces: OpenCL devices take their place, and are named when a training begins."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from weald.devices.found import chosen_devices
from weald.runtime.errors import InputError


@dataclass(frozen=True)
class AskedDevice:
    """What a user has asked for: ``setting`` in the interface's own words, ``numbers`` of devices."""

    setting: str
    numbers: tuple[int, ...] = (0,)

    @property
    def native(self) -> str:
        """The parameter of `BoostedTrees*`.

        >>> AskedDevice("device='cuda:1'", (1,)).native
        'opencl:1'
        """
        return f"opencl:{','.join(map(str, self.numbers))}"

    def announce(self) -> None:
        """Warn which devices are used; an error says so where they are not there, and what to install."""
        try:
            found = chosen_devices(self.numbers)
        except InputError as error:
            raise type(error)(f"{self.setting} means OpenCL here: {error}") from None
        names = " and ".join(device.label for device in found)
        warnings.warn(f"{self.setting}: trees are grown on {names}.", UserWarning, stacklevel=4)


def device_numbers(setting: str, text: str, between: str) -> tuple[int, ...]:
    """Numbers of devices in a text; ``between``: what stands between two of them. A range is "0-3".

    >>> device_numbers("devices='0:2-3'", "0:2-3", between=":")
    (0, 2, 3)
    """
    numbers: list[int] = []
    for word in text.split(between):
        first, dash, last = word.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InputError(f"{setting} must be numbers of devices, such as '0' or '0{between}1'.")
        numbers += range(int(first), int(last if dash else first) + 1)
    return tuple(dict.fromkeys(numbers))
