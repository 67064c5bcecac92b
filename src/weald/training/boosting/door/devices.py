"""What trees on devices cannot be trained with."""

from __future__ import annotations

from weald.binning.parameters import Histogram
from weald.devices.parameters import DevicePlan
from weald.runtime.errors import NotSupportedError
from weald.training.boosting.parameters import BoostingParameters, ResolvedBoosting
from weald.training.boosting.plan import StatisticPlan


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


def check_statistics_on_device(
    given: BoostingParameters, parts: ResolvedBoosting, statistics: StatisticPlan | None
) -> None:
    """Refuse columns that are split by target statistics, which the host makes anew for every tree."""
    if statistics is not None and parts.device.plan() is not None:
        raise NotSupportedError(
            f"categories={given.categories!r} splits columns of this table by target statistics, which are not there on OpenCL "
            f"devices; use categories='partition' or 'onehot', or device='cpu' in place of {given.device!r}."
        )
