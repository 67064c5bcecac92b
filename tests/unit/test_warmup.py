"""After the warm-up no kernel is left to be compiled by somebody's first fit."""

from __future__ import annotations

import json
import subprocess
import sys

# Kernels that the warm-up may leave, and why.
_OF_TEAMS = "members of a team alone call it, whose ways to share a tree are many"
ALLOWED: dict[str, str] = {  # kernel -> why the warm-up may leave it out
    **dict.fromkeys(
        [
            "weald.tree.shards.search.settle_root_of_all",
            *(
                f"weald.tree.shards.share_search.{name}"
                for name in (
                    "gains_by_column",
                    "read_columns",
                    "search_level_share",
                    "search_share",
                    "write_columns",
                )
            ),
        ],
        _OF_TEAMS,
    ),
    "weald.tree.shards.kernels.rows_of_node": "medians as leaves of tables in blocks alone ask for it",
}

# Numba compiles what a kernel calls together with it, and a kernel that comes out of the cache brings its callees
# along as machine code. So a kernel is ready when it has a signature, or when one that is ready calls it; one that is called
# from afar is compiled when it is reached, and has a signature then.
SCRIPT = """
import json, sys
from numba.core.dispatcher import Dispatcher
from weald.warmup import warmup

warmup()
kernels = {}
for name, module in list(sys.modules.items()):
    if name == "weald" or name.startswith("weald."):
        for value in list(vars(module).values()):
            if isinstance(value, Dispatcher):
                kernels[f"{value.py_func.__module__}.{value.py_func.__name__}"] = value
waiting = [kernel for kernel in kernels.values() if kernel.signatures]
ready = set()
while waiting:
    kernel = waiting.pop()
    if id(kernel) in ready:
        continue
    ready.add(id(kernel))
    body = getattr(kernel, "far", kernel).py_func  # of a shared kernel, what each task does
    called = [body.__globals__.get(name) for name in body.__code__.co_names]
    waiting += [
        callee
        for callee in called
        if isinstance(callee, Dispatcher) and (callee.signatures or not hasattr(callee, "result"))
    ]
inlined = [name for name, kernel in kernels.items() if kernel.targetoptions.get("inline") == "always"]
left = [name for name, kernel in kernels.items() if id(kernel) not in ready and name not in inlined]
print(json.dumps({"kernels": sorted(kernels), "left": sorted(left)}))
"""


def test_the_warm_up_leaves_no_kernel_without_a_reason() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert len(found["kernels"]) > 50
    assert set(ALLOWED) <= set(found["kernels"]), "a reason for a kernel that is gone"
    assert set(found["left"]) == set(ALLOWED)
