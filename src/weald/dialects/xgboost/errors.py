"""The error that XGBoost's users catch, and the door that makes it of ours."""

from __future__ import annotations

from weald.dialects.shared.door import Door


class XGBoostError(ValueError):
    """Whatever this interface refuses or cannot read is one."""


DOOR = Door(XGBoostError)
