"""Quoting: how the words of a player are shown to judges and to other players."""

import re

_ROLE_TOKEN = re.compile(r"<(?=[|｜]|/?s>|<?/?SYS\b|(?:start|end)_of_turn>)|\[(?=/?INST\b)")

_LINE_END = re.compile("\r\n?|[\u2028\u2029\x85]")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}+")
_LONG_BLANK = re.compile(r"[^\S\n]{33,}+")
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    """Returns a text without control characters and lone surrogates, its lines ended in one way."""
    return _UNPRINTABLE.sub("", _LINE_END.sub("\n", text))


def tidy(text: str) -> str:
    """Returns a text without blanks around it, and with no more of them inside than a text needs."""
    return _LONG_BLANK.sub(" " * 32, _BLANK_LINES.sub("\n\n", text)).strip()


def quote(text: str) -> str:
    """Returns a text of a player, for a judge or another player to read.

    ``> `` stands before every line, so that none of them can pass for a line of the environment; and tokens by which chat
    templates tell who speaks are taken apart.
    """
    lines = _ROLE_TOKEN.sub(lambda match: f"{match[0]} ", text).splitlines()
    return "\n".join(f"> {line}" for line in lines) or ">"
