"""A process that runs cases one after another and tells of each: ``python -m tools.fuzz.child KIND SEED FIRST LAST STEP``.

It writes a line of JSON before a case and one after it, so that the parent knows which case a crash belongs to.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.fuzz import files, fits, foreign, imports
from weald.runtime.errors import InputError, ModelFileError

#: kind of cases -> what draws one by its number
CASES: dict[str, Callable[[int, int], fits.Case]] = {
    "fits": fits.draw_fit,
    "files": files.draw_file,
    "foreign": foreign.draw_foreign,
    "imports": imports.draw_import,
}
_MOST_MEMORY = 6 * 2**30


def main() -> None:
    """Run the cases that the command line names."""
    kind, (seed, first, last, step) = sys.argv[1], map(int, sys.argv[2:6])
    # What cases print must not get between the lines for the parent.
    channel = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    for number in range(first, last, step):
        case = CASES[kind](seed, number)
        print(json.dumps({"begins": number, "group": case.group, "told": case.told[:2_000]}), file=channel)
        print(json.dumps({"ends": number, **outcome_of(case)}), file=channel)


def outcome_of(case: fits.Case) -> dict[str, Any]:
    """How a case ends, and how long it takes."""
    start = time.monotonic()
    try:
        found = fits.run_quietly(case)
        outcome, detail = ("not finite", found) if found else ("finite", "")
    except (InputError, ModelFileError) as error:
        outcome, detail = "refused", f"{type(error).__name__}: {error}"
    except Exception as error:
        outcome, detail = "error", f"{type(error).__name__} at {_place(error)}: {error}"
    return {"outcome": outcome, "detail": detail[:400], "seconds": time.monotonic() - start}


def _place(error: BaseException) -> str:
    """The innermost line of Weald's that the error went through, and the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/weald/" in frame.filename]
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in [frames[-1], *own[-1:]])


if __name__ == "__main__":
    main()
