"""Trees on OpenCL devices are those of the CPU on one thread, whatever else is chosen: the same bytes."""

from __future__ import annotations

from typing import Any

import pytest

from invariants.block_cases import N_ROWS, TABLE, case_of, make_model
from invariants.test_blocks import Outcome, outcome, part_of, sets_of
from opencl_devices import devices
from weald import OpenCL


def fitted(case: dict[str, str], device: Any) -> Outcome:
    model = make_model(case, device=device)[0]
    sets = [part_of(case, rows) for rows in sets_of(case)]
    train = part_of(case, slice(0, N_ROWS))
    model.fit(train.X, train.y, train.weight, eval_set=[(one.X, one.y, one.weight) for one in sets] or None)
    return outcome(model)


@pytest.mark.parametrize("line", TABLE)
def test_devices_train_the_model_of_the_cpu(line: str) -> None:
    """One device that has room for all rows, and two through which they pass, in turn."""
    first, second = devices(2)
    case = case_of(line)
    device = OpenCL(str(first.number))
    if TABLE.index(line) % 2:
        device = OpenCL(f"{first.number},{second.number}", memory_limit=12_500)
    assert fitted(case, device) == fitted(case, "cpu")
