"""The choice of what trees grow on: this machine's cores, or OpenCL devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from weald.params.choice import Choice, Family, anything, documented
from weald.runtime.errors import InputError
from weald.runtime.resident import read_limit


@dataclass(frozen=True)
class DevicePlan:
    """OpenCL devices that share the rows of a table."""

    numbers: tuple[int, ...]  # as `weald doctor` lists them
    memory_limit: int | None  # bytes of each; None: most of what it has

    @property
    def name(self) -> str:
        """What users ask for them by.

        >>> DevicePlan((0, 1), None).name
        'opencl:0,1'
        """
        return f"opencl:{','.join(map(str, self.numbers))}"


class Device(Choice):
    """What trees grow on; the base of the choices."""

    def plan(self) -> DevicePlan | None:
        """The devices; None: the CPU's cores."""
        raise NotImplementedError


@documented
@dataclass(repr=False, eq=False)
class Cpu(Device):
    """Trees grow on the cores of this machine: ``n_jobs`` says how many.

    Examples
    --------
    >>> Cpu()
    Cpu()
    """

    def plan(self) -> None:
        """No devices."""
        return None


@documented
@dataclass(repr=False, eq=False)
class OpenCL(Device):
    """Trees grow on OpenCL devices, to the same bytes as on the CPU. Needs the extra ``opencl``.

    ``"opencl"`` is the first device, ``"opencl:0,1"`` the devices 0 and 1, which share the rows. `weald doctor` lists them.

    Examples
    --------
    >>> OpenCL("0,1", memory_limit="2 GB")
    OpenCL(devices='0,1', memory_limit='2 GB')
    """

    devices: Annotated[
        str, anything("Numbers of the devices, with commas between them; `weald doctor` lists them.")
    ] = "0"
    memory_limit: Annotated[
        int | str | None,
        anything(
            "What the rows of a training may take of every device, a number of bytes or '512 MB'; what is more passes "
            "through it in parts; None: 80 % of what it has."
        ),
    ] = None

    def check_together(self, path: str) -> None:
        """Refuse what are no numbers of devices, and no size."""
        read_limit(self.memory_limit, f"{path}.memory_limit")
        words = self.devices.split(",") if isinstance(self.devices, str) else []
        if not words or not all(word.strip().isdecimal() for word in words):
            raise InputError(
                f"{path}.devices must be numbers of devices with commas between them, such as '0' or '0,1', "
                f"not {self.devices!r}."
            )
        if len(set(self._numbers)) < len(words):
            raise InputError(f"{path}.devices={self.devices!r} names a device twice; name each once.")

    @property
    def _numbers(self) -> tuple[int, ...]:
        return tuple(int(word) for word in self.devices.split(","))

    def plan(self) -> DevicePlan:
        """The devices, in the order in which they share the rows."""
        return DevicePlan(self._numbers, read_limit(self.memory_limit, "memory_limit"))


DEVICES: Family[Device] = Family(
    "device",
    {"cpu": Cpu, "opencl": OpenCL},
    of_rest={"opencl": "devices"},
    instead={"cuda": "opencl", "gpu": "opencl", "GPU": "opencl"},
)
