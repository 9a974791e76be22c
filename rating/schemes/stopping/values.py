"""Formatting of stopping-rule values beside their limits."""

from typing import Literal

_MOST_DIGITS = 17
"""Digits that distinguish any two different floats."""


def compared(value: float, limit: float, digits: int, kind: Literal["f", "g"] = "f") -> str:
    """Formats a value; rounding never moves it onto or across its limit.

    Args:
        value: e.g. 0.9996.
        limit: printed beside it.
        digits: after the point; more if rounding would move the value onto the limit.
        kind: ``g`` for significant digits.
    """
    for count in range(digits, _MOST_DIGITS):
        text = f"{value:.{count}{kind}}"
        if (float(text) > limit, float(text) < limit) == (value > limit, value < limit):
            return text
    return repr(value)
