"""What trees on devices cannot be trained with."""

from __future__ import annotations

from weald.binning.parameters import Histogram
from weald.devices.parameters import DevicePlan
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting


def device_plan(given: BoostingParameters, parts: ResolvedBoosting) -> DevicePlan | None:
    """The devices that were asked for; refused are ways of training that have no kernels for them."""
    plan = parts.device.plan()
    if plan is None:
        return None
    refused = [
        (not isinstance(parts.split_finder, Histogram), f"split_finder={given.split_finder!r}", "'hist'"),
        (bool(parts.splits.forced), "splits.forced", "splits without it"),
    ]
    for is_there, what, instead in refused:
        if is_there:
            raise NotSupportedError(
                f"{what} is not there on OpenCL devices; use {instead}, or device='cpu' in place of {given.device!r}."
            )
    return plan
