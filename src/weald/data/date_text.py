"""Dates and times as text."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache

import numpy as np

from weald.runtime.errors import InputError

_ISO = re.compile(
    r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})"
    r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(Z|UTC|[+-][01]\d:?[0-5]\d)?)?"
)
_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?")
# What a person sees as a date, though day and month may be one or the other.
_ANY = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}(?:[T ,]+\d{1,2}:\d{2}.*)?"
    r"|\d{1,2}[- ][A-Za-z]{3,9}\.?[- ,]+\d{2,4}.*|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}.*|\d{1,2}:\d{2}(?::\d{2})?"
)


def looks_like_date(text: str) -> bool:
    """Whether the text is a date or a time, in whatever order.

    >>> [looks_like_date(text) for text in ("2024-01-31", "1/31/24", "31 Jan 2024", "12:30", "1.5", "A-1")]
    [True, True, True, True, False, False]
    """
    return _ANY.fullmatch(text) is not None


@lru_cache(maxsize=65_536)
def date_of(text: str, written: str | None = None) -> np.datetime64 | None:
    """The moment that the text tells, in UTC where it names its offset; None where it tells none.

    ``written`` is the format, as ``strptime`` takes it; None for 2024-01-31 and 31.1.2024, each also with a time.

    >>> date_of("2024-01-31 12:30"), date_of("1/31/2024", "%m/%d/%Y")
    (np.datetime64('2024-01-31T12:30:00.000000'), np.datetime64('2024-01-31T00:00:00.000000'))
    """
    moment = _by_format(text, written) if written is not None else _iso(text) or _day_first(text)
    if moment is None:
        return None
    if moment.tzinfo is not None:
        moment = moment.astimezone(timezone.utc).replace(tzinfo=None)
    return np.datetime64(moment, "us")


def _by_format(text: str, written: str) -> datetime | None:
    try:
        return datetime.strptime(text, written)
    except re.error:
        raise InputError(
            f"--date-format is {written!r}, which is no format; use one such as '%d/%m/%Y'"
        ) from None
    except ValueError as error:
        if "does not match" in str(error) or "unconverted" in str(error) or "out of range" in str(error):
            return None
        raise InputError(
            f"--date-format is {written!r}, which is no format; use one such as '%d/%m/%Y'"
        ) from None


def _iso(text: str) -> datetime | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    micro = int(f"{fraction or '':0<6}"[:6])
    return _moment(year, month, day, hour, minute, second, micro, _zone(zone))


def _zone(zone: str | None) -> timezone | None:
    if zone is None:
        return None
    if zone in ("Z", "UTC"):
        return timezone.utc
    sign = -1 if zone[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:])))


def _day_first(text: str) -> datetime | None:
    match = _DAY_FIRST.fullmatch(text)
    if match is None:
        return None
    day, month, year, hour, minute, second = match.groups()
    return _moment(year, month, day, hour, minute, second, 0, None)


def _moment(
    year: str,
    month: str,
    day: str,
    hour: str | None,
    minute: str | None,
    second: str | None,
    micro: int,
    zone: timezone | None,
) -> datetime | None:
    try:
        return datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micro, zone
        )
    except ValueError:
        return None  # the 31st of February
