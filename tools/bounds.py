"""The oldest versions that a wheel allows, as constraints for pip: ``python -m tools.bounds WHEEL``.

They are read from the wheel's metadata, and so from ``pyproject.toml``: nothing is declared twice.
"""

from __future__ import annotations

import re
import sys
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[.*?\])?(?:\s*>=\s*([\w.]+))?")


def metadata_of(wheel: Path) -> Message:
    """What the wheel says about itself."""
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def lower_bounds(metadata: Message) -> dict[str, str]:
    """The oldest allowed version of every package that the wheel or one of its extras requires.

    >>> said = Message()
    >>> said["Name"], said["Requires-Dist"] = "weald", "numpy>=1.24"
    >>> said["Requires-Dist"] = "weald[all]; extra == 'dev'"
    >>> lower_bounds(said)
    {'numpy': '1.24'}
    """
    bounds = {}
    for line in metadata.get_all("Requires-Dist", []):
        found = _REQUIREMENT.match(line)
        if found is None or (found[2] is None and found[1] != metadata["Name"]):
            raise SystemExit(f"{line!r} has no lower bound, as in 'numpy>=1.24'")
        if found[2] is not None:
            bounds[found[1]] = found[2]
    return bounds


def constraints(wheel: Path) -> str:
    """Lines for pip's ``--constraint`` that allow no version but the oldest."""
    return "".join(
        f"{name}=={version}\n" for name, version in sorted(lower_bounds(metadata_of(wheel)).items())
    )


if __name__ == "__main__":
    print(constraints(Path(sys.argv[1])), end="")
