"""Patterns of amounts in digits, shared by the games."""

import re

NUMBER = r"\d++(?:,\d++)*+(?:\.\d++)?|\.\d++"
"""Pattern of an amount; ``plain_number`` parses it."""

GOES_ON = re.compile(
    r"[.,]\d|\s*+\.\s*+\d|\w|\s*+(?:%|percent|hundred|thousand|million)|\s*+(?:[-+*/^=~×÷]|to\b|or\b|and\b|至|到|或)?\s*+\$?\d",
    re.IGNORECASE,
)
"""Continuation that makes an amount part of a longer number, a sum or a range: 3.5.2, 3k, 50%, 3 million, $7 / 2, 3-4, 3 or 4."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})++(?:\.\d++)?")
_DECIMAL_COMMA = re.compile(r"\d++,\d{1,2}")


def plain_number(number: str) -> str | None:
    """Returns an amount without thousands separators and with a decimal point, or ``None`` if its commas are invalid.

    Args:
        number: a match of ``NUMBER``; commas may separate thousands, or one or two decimals.
    """
    if "," not in number:
        return number
    if _THOUSANDS.fullmatch(number):
        return number.replace(",", "")
    return number.replace(",", ".") if _DECIMAL_COMMA.fullmatch(number) else None
