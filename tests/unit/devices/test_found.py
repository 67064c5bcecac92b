"""The list of devices, what `weald doctor` says of them, and errors that name them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

from opencl_devices import devices, program
from weald.devices import found
from weald.devices.found import INSTALL, chosen_devices, device_rows, list_devices, naming
from weald.devices.program import program_of
from weald.devices.room import RoomPlan
from weald.runtime.errors import DeviceError, InputError, MissingExtraError

PAGE = Path(__file__).parents[3] / "docs" / "devices.md"


def test_devices_are_numbered_and_described() -> None:
    own = devices(1)[0]
    assert [one.number for one in list_devices()] == list(range(len(list_devices())))
    assert own.group & (own.group - 1) == 0 and own.memory > 2**20 and own.has_doubles
    assert own.label == f"OpenCL device {own.number} ({own.name})"
    rows = dict(device_rows())
    assert rows[f"OpenCL device {own.number}"] == own.description
    with mock.patch.object(found, "naming", side_effect=DeviceError("no")):
        assert device_rows()[own.number][1] == f"{own.description}; no"
    assert "MiB" in own.description
    assert replace(own, has_doubles=False).description.endswith(", no doubles")
    assert chosen_devices((own.number,)) == [own]


def test_gpus_come_before_cpus() -> None:
    kinds = SimpleNamespace(CPU=2, GPU=4)

    def handle(name: str, kind: int, **more: Any) -> Any:
        facts = {"available": True, "endian_little": True, "max_work_group_size": 1000, "extensions": ""}
        sizes = {"global_mem_size": 2**30, "max_mem_alloc_size": 2**28, "local_mem_size": 2**15}
        return SimpleNamespace(name=name, type=kind, **{**facts, **sizes, **more})

    own = [handle("slow", 2), handle("quick", 4), handle("other", 8), handle("gone", 4, available=False)]
    platform = SimpleNamespace(name="P", get_devices=lambda: own)
    cl = SimpleNamespace(device_type=kinds, get_platforms=lambda: [platform], Error=RuntimeError)
    with mock.patch.object(found, "load_extra", return_value=cl):
        listed = list_devices()
    assert [(one.name, one.kind, one.group) for one in listed] == [
        ("quick", "GPU", 256),
        ("other", "accelerator", 256),
        ("slow", "CPU", 256),
    ]


def test_without_devices_doctor_says_what_to_install() -> None:
    missing = MissingExtraError(
        "device='opencl' needs pyopencl, which is not installed: pip install 'weald[opencl]'"
    )
    with mock.patch.object(found, "load_extra", side_effect=missing):
        assert device_rows() == [("OpenCL", f"not there: {missing}")]
        with pytest.raises(MissingExtraError, match="pip install"):
            chosen_devices((0,))
    with mock.patch.object(found, "list_devices", return_value=[]):
        assert device_rows() == [("OpenCL", f"no device: {INSTALL}")]
        with pytest.raises(
            InputError, match=r"^device='opencl' finds no OpenCL device on this machine; install"
        ):
            chosen_devices((0,))


def test_doctor_lists_devices_at_the_command_line() -> None:
    from typer.testing import CliRunner

    from weald.cli import app

    own = devices(1)[0]
    said = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "300"})
    assert said.exit_code == 0 and f"OpenCL device {own.number}" in said.stdout and own.name in said.stdout


def test_errors_of_opencl_become_sentences_that_name_the_device() -> None:
    own = program()
    label = re.escape(own.device.label)
    with pytest.raises(DeviceError, match=f"^{label} has too little memory for .* memory_limit"):
        own.room(2**50, "uint8")
    with pytest.raises(DeviceError, match=f"^{label} failed while receiving rows: .*; use device='cpu'"):
        own.put(np.zeros(1000), own.room(1, np.float64))
    said = "clBuildProgram failed: long\n\nerror: no such CPU\nDevice that failed"
    sentence = f"^{label} failed while compiling: error: no such CPU; use device='cpu'"
    with pytest.raises(DeviceError, match=sentence), naming(own.device, "compiling"):
        raise RuntimeError(said)


def test_kernels_are_compiled_once() -> None:
    own = devices(1)[0]
    assert program_of(own, "uint8", "uint8") is program_of(list_devices()[own.number], "uint8", "uint8")


def test_a_child_of_fork_is_told_that_it_cannot_use_the_device() -> None:
    own = devices(1)[0]
    program_of(own, "uint8", "uint8")
    for types in (("uint8", "uint8"), ("uint16", "int32")):  # which were used before, and which were not
        pid = os.getpid()
        with (
            mock.patch("os.getpid", return_value=pid + 1),
            pytest.raises(
                DeviceError, match=f"^{re.escape(own.label)} was used before this process was forked"
            ),
        ):
            program_of(own, *types)


def test_a_block_that_is_too_large_for_the_limit_is_refused_by_name() -> None:
    own = devices(1)[0]
    plan = RoomPlan(10, np.dtype(np.uint8), np.dtype(np.uint8), limit=20_000)
    most = plan.most_rows(own)
    assert plan.blocks_that_stay(own, [most, most, most]) == [True, False, False]
    assert plan.blocks_that_stay(own, []) == []
    with pytest.raises(
        DeviceError, match=f"^{re.escape(own.label)} may take 0.0 MiB, but a block of 5,000 rows"
    ):
        plan.blocks_that_stay(own, [5_000])


def test_the_examples_of_the_page_run() -> None:
    devices(1)
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
