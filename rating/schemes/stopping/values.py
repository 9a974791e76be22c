"""Values of stop rules, written beside the limits that they are compared with."""

from typing import Literal

_MOST_DIGITS = 17
"""Two different numbers differ in these digits."""


def compared(value: float, limit: float, digits: int, kind: Literal["f", "g"] = "f") -> str:
    """Writes a value; rounding never moves it onto or across its limit.

    Args:
        value: e.g. 0.9996.
        limit: printed beside it.
        digits: after the point; further ones if rounding would move the value onto the limit.
        kind: ``g`` for significant digits.
    """
    for count in range(digits, _MOST_DIGITS):
        text = f"{value:.{count}{kind}}"
        if (float(text) > limit, float(text) < limit) == (value > limit, value < limit):
            return text
    return repr(value)
