"""Grammar of investments in a reply: a number of coins."""

import re
from decimal import Decimal

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.grammar import AMOUNT, CHINESE_DIGITS, DIGIT_WORDS, GOES_ON, plain_number
from llmarena_envs.core.replies import Grammar, quoted
from llmarena_envs.public_goods.game import DECIMALS

PUBLISHED = re.compile(rf'\{{"coins": ([0-9]{{1,6}}(?:\.[0-9]{{1,{DECIMALS}}})?)\}}')
"""The canonical form of an investment, tried first: it needs no search."""

NOBODY_HERE = ""
"""Accepted speaker: none, as players are anonymous and any named seat is another player."""

_WORDS = {
    **{word: number for number, word in enumerate((*DIGIT_WORDS, "ten"))},
    **{word: number for number, word in enumerate((*CHINESE_DIGITS, "十"))},
    "〇": 0,
    "两": 2,
}
_AMOUNT = re.compile(
    r"[\"'(\[]*+(?:(?:(?:i|we)(?:'ll| will| would| choose to| decide to)?[ \t]++)?(?:invest|contribute|put in)[ \t]++|"
    r"我?(?:决定|选择)?(?:投入|投资)[ \t]*+)?(?:(?:all|exactly|only|just)[ \t]++)?(?:(?:of )?(?:my|the)[ \t]++)?"
    rf"(?P<sign>[-+]?)[ \t]*+(?:(?P<number>{AMOUNT})|"
    rf"(?P<word>(?:{'|'.join(word for word in _WORDS if word.isascii())})\b|"
    rf"[{''.join(word for word in _WORDS if not word.isascii())}])|"
    r"(?P<none>(?:nan|inf(?:inity)?|infinite)\b|无穷大?|无限))"
    r"(?:[ \t]*+(?:(?:gold )?coins?\b|tokens?\b|(?:枚|个|块)?(?:硬币|金币|代币)|[枚个]))?",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    r"\s*+(?:and\b\s*+)?(?:(?:a|an|one)\b\s*+)?(?:half|halves|thirds?|quarters?|fourths?)\b|\s*+[½¼¾⅓⅔半]",
    re.IGNORECASE,
)
_ITEM_NUMBER = re.compile(r"\s*\d++\.\s*")
_MAX_DIGITS = 15


def read_coins(text: str, labelled: bool) -> tuple[Decimal, int] | None:
    """Reads a number of coins at the beginning of ``text``; returns it with its end position.

    Accepts words for numbers up to ten, but no ranges, sums, shares or vulgar fractions.

    Raises:
        ParseError: for an impossible amount.
    """
    match = _AMOUNT.match(text)
    if match is None or (not labelled and _ITEM_NUMBER.fullmatch(text)):
        return None
    if match["none"]:
        raise ParseError(Failure.ILLEGAL, "not_finite", text=quoted(match["none"]))
    if GOES_ON.match(text, match.end()) or _FRACTION.match(text, match.end()):
        if not labelled:
            return None
        raise ParseError(Failure.UNPARSABLE, "not_one_amount", text=quoted(text))
    return _amount(match), match.end()


def _amount(match: re.Match[str]) -> Decimal:
    if match["word"]:
        number: str | None = str(_WORDS[match["word"].lower()])
    else:
        number = plain_number(match["number"])
    if number is None:
        raise ParseError(Failure.UNPARSABLE, "no_amount", number=quoted(match["number"]))
    whole, _, decimals = number.partition(".")
    whole, decimals = whole.lstrip("0"), decimals.rstrip("0")
    if match["sign"] == "-" and (whole or decimals):
        raise ParseError(Failure.ILLEGAL, "below_zero")
    if len(whole) > _MAX_DIGITS:
        raise ParseError(Failure.ILLEGAL, "far_too_high")
    if len(decimals) > _MAX_DIGITS:
        raise ParseError(Failure.ILLEGAL, "too_precise", number=quoted(number))
    return Decimal(f"{whole or 0}.{decimals or 0}")


# Excludes remaining, owned or expected coins, others' investments, sums and means.
_NOT_MINE = (
    *("remaining", "left", "kept", "keep", "saved", "total", "current", "available", "overall", "combined", "group"),
    *("average", "mean", "median", "others", "others'", "all", "everyone's", "everybody's", "each", "pool", "pool's"),
    "equilibrium",
)
_NOT_MINE_IN_CHINESE = (
    "剩余",
    "剩余的",
    "保留",
    "保留的",
    "现有",
    "平均",
    "人均",
    "总",
    "大家",
    "大家的",
    "每人",
    "所有人的",
)
_BEHIND = "".join(f"(?<!{word} )" for word in _NOT_MINE) + r"(?<!\d )"
_BEHIND_IN_CHINESE = "".join(f"(?<!{word})" for word in _NOT_MINE_IN_CHINESE)
_NOUNS = r"(?<!my )(?<!your )coins|coins (?:to invest|invested)|investment|invest|contribution|contribute|amount"

GRAMMAR = Grammar(
    read_coins,
    nouns=rf"{_BEHIND}(?:{_NOUNS})|{_BEHIND_IN_CHINESE}(?:投资额|投资|投入|出资|硬币|金额)",
    bare="last",
)
