"""Spellings of verdicts, normalised to one label each."""

from collections.abc import Mapping

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.reading.markup import narrow
from rating.judges.judgement import FIRST, SECOND, TIE, Label

SPELLINGS = {
    **dict.fromkeys(
        ("a", "first", "left", "model_a", "assistant_a", "assistant a", "助手a", "助手 a", "答案a", "左"), FIRST
    ),
    **dict.fromkeys(
        ("b", "second", "right", "model_b", "assistant_b", "assistant b", "助手b", "助手 b", "答案b", "右"), SECOND
    ),
    **dict.fromkeys(
        (
            "tie",
            "c",
            "draw",
            "equal",
            "tie (bothbad)",
            "tie (both bad)",
            "both bad",
            "bothbad",
            "both_bad",
            "平局",
            "平手",
            "平",
        ),
        TIE,
    ),
}
"""Verdicts on two sides by spelling, in lower case; surrounding punctuation is ignored."""

NOTHING = frozenset(("", "none", "null", "nan", "n/a", "na", "abstain", "abstention", "error", "弃权"))
"""Spellings of an abstention, in lower case."""


def read_label(
    text: str, players: tuple[str, str] = ("", ""), spellings: Mapping[str, str] = SPELLINGS
) -> Label | None:
    """Reads a verdict.

    Args:
        text: as written in a file. The name of a player is a verdict for it.
        players: shown first and second.
        spellings: verdicts by spelling.

    Returns:
        ``None`` for an abstention.

    Raises:
        OptionError: if it is not a verdict.
    """
    word = " ".join(narrow(text).strip("[]*`\"' \t\n").split()).casefold()
    named = (FIRST, SECOND)[players.index(text)] if text in players and players[0] != players[1] else None
    if word in spellings:
        if named not in (None, spellings[word]):
            raise OptionError(
                f"{text!r:.60} is the name of a player and a spelling of {spellings[word]} too; give the player another name"
            )
        return spellings[word]
    if named is not None:
        return named
    if word in NOTHING:
        return None
    if _is_number(word):
        return float(word)
    raise OptionError(f"expected A, B, tie or a number, got {text!r:.60}")


def _is_number(word: str) -> bool:
    digits = word.removeprefix("-").replace(".", "", 1)
    return len(word) <= 20 and digits.isascii() and digits.isdecimal()
