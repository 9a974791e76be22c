"""Rate-limit headers of a response: requested pauses and reset times."""

import datetime
import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_LIMITS = (
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
)
_UNITS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|us|µs|ns|[dhms])")
_LONGEST = 64  # maximum header length read


def read_retry_after(headers: Mapping[str, str]) -> float:
    """Returns the pause in seconds requested by a response: ``Retry-After`` in seconds or as a date (RFC 9110, section 10.2.3).

    OpenAI's ``retry-after-ms`` takes precedence. A date is compared with the response's ``Date``, so the clocks need not agree.
    Unreadable values count as 0.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _read_number(headers.get(name, ""))
        if seconds is not None:
            return max(seconds * unit, 0.0)
    return _until(_read_date(headers.get("retry-after", "")), headers)


def read_pause(headers: Mapping[str, str]) -> float:
    """Returns the seconds until the quota resets, or 0 if some is left.

    Reads ``x-ratelimit-remaining-requests`` and ``-tokens`` with ``x-ratelimit-reset-...``, in seconds or as ``1m30s``, and
    Anthropic's equivalents, with dates. Unreadable values are ignored.

    Args:
        headers: of the response, names in lower case.
    """
    pause = 0.0
    for remaining, reset in _LIMITS:
        left = headers.get(remaining)
        if left is not None and (number := _read_number(left)) is not None and number <= 0:
            pause = max(pause, _read_reset(headers.get(reset, ""), headers))
    return pause


def _read_reset(text: str, headers: Mapping[str, str]) -> float:
    number = _read_number(text)
    if number is not None:
        return max(number, 0.0)
    text = text[:_LONGEST].strip()
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    try:
        date = datetime.datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return _until(date if date.tzinfo is not None else date.replace(tzinfo=datetime.UTC), headers)


def _read_number(text: str) -> float | None:
    try:
        number = float(text[:_LONGEST])
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _read_date(text: str) -> datetime.datetime | None:
    """Returns the date of a header, or ``None`` if it is invalid; without a time zone it is UTC."""
    try:
        date = parsedate_to_datetime(text[:_LONGEST])
        return date if date.tzinfo is not None else date.replace(tzinfo=datetime.UTC)
    except (ValueError, OverflowError):
        return None


def _until(date: datetime.datetime | None, headers: Mapping[str, str]) -> float:
    """Returns the seconds until a date by the server's clock, or 0 without a date."""
    if date is None:
        return 0.0
    now = _read_date(headers.get("date", "")) or datetime.datetime.now(datetime.UTC)
    try:
        return max((date - now).total_seconds(), 0.0)
    except OverflowError:
        return 0.0
