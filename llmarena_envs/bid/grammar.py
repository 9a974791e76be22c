"""Grammar of bids in a reply: an amount of money."""

import re
from decimal import Decimal

from llmarena_envs.bid.game import CENTS
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.grammar import AMOUNT, GOES_ON, plain_number
from llmarena_envs.core.replies import Grammar, quoted

PUBLISHED = re.compile(r"(player_[0-9]): \$([0-9]{1,6})\.([0-9]{2})")
"""The canonical form of a bid, tried first: it needs no search."""

_AMOUNT = re.compile(
    r"[\"'(\[]*+(?:(?:(?:i|i'll|i will|we) bid|my bid(?: is)?|"
    r"bid(?: of)?|我?(?:的|最终)?出价(?:是|为)?)[ \t]*+:?[ \t]*+)?(?P<sign>[-+]?)[ \t]*+"
    r"(?P<currency>(?:us)?\$|usd|[€£¥₹])?[ \t]*+(?P<sign2>[-+]?)[ \t]*+"
    rf"(?P<number>{AMOUNT})"
    r"(?:[ \t]*+(?P<unit>us dollars?\b|dollars?\b|usd\b|cents?\b|¢|美元|美分|元|块|分))?",
    re.IGNORECASE,
)
_ITEM_NUMBER = re.compile(r"\s*\d++\.\s*")
_CENTS = ("c", "¢", "美分", "分")
_MAX_DIGITS = 15


def read_amount(text: str, labelled: bool) -> tuple[int, int] | None:
    """Reads an amount at the beginning of ``text``; returns it in cents with its end position.

    Accepts cents, thousands separators and a decimal comma, but no amounts in words, ranges, sums or other currencies.

    Raises:
        ParseError: for an impossible amount.
    """
    match = _AMOUNT.match(text)
    if match is None or (not labelled and _ITEM_NUMBER.fullmatch(text)):
        return None
    if GOES_ON.match(text, match.end()):
        if not labelled:
            return None
        raise ParseError(Failure.UNPARSABLE, "not_one_amount", text=quoted(text))
    return _cents(match), match.end()


def _cents(match: re.Match[str]) -> int:
    currency = (match["currency"] or "$").lower()
    if currency[-1] not in "$d":
        raise ParseError(Failure.UNPARSABLE, "other_currency", currency=currency)
    number = plain_number(match["number"])
    if number is None:
        raise ParseError(Failure.UNPARSABLE, "no_amount", number=quoted(match["number"]))
    in_cents = (match["unit"] or "").lower().startswith(_CENTS)
    if len(number.partition(".")[2]) > (0 if in_cents else 2):
        raise ParseError(Failure.UNPARSABLE, "too_precise", number=quoted(number))
    if len(number) > _MAX_DIGITS:
        raise ParseError(Failure.ILLEGAL, "far_too_high")
    cents = int(Decimal(number) * (1 if in_cents else CENTS))
    if cents and "-" in (match["sign"], match["sign2"]):
        raise ParseError(Failure.ILLEGAL, "below_zero")
    return cents


GRAMMAR = Grammar(read_amount, nouns="bid|offer|amount|price|出价|报价|金额", bare="last")
