"""Parsing of the value of a statement and of the rest of its line."""

import re
from typing import Any, Generic

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.candidates import Rank
from llmarena_envs.core.reading.grammar import Grammar, Value
from llmarena_envs.core.reading.labels import Labels
from llmarena_envs.core.reading.markup import narrow

MAX_STATEMENT = 2_000
"""Maximum number of characters parsed after a label."""

# Text allowed after a value on its line.
_NOTHING = re.compile(r"[\s.!,;。、…\"')\]}>_$|]*+(?:\((?P<remark>[^()\n]{0,200})\))?[^\w?%(\ue000\ue001]*+")
_REJECTED = re.compile(
    r"[\s\"')\]]*+\(\s*+(?:illegal|taken|occupied|full|rejected|blocked|weak|bad|worse|no)\b|\s*+[✗✘❌✖]", re.IGNORECASE
)
_QUESTION = re.compile(r"[\s\"')\]!]*+\?")
_ANOTHER = re.compile(
    r"[\s\"')\]]*+(?:[-–~/|&,、;+]|\b(?:or|and|to|then|but)\b|[或和与及到至])[\s\"'(\[]*+", re.IGNORECASE
)
CORRECTION = re.compile(
    r"(?:^|[.!?;,。！？—–(#-])\s*+(?:or\b|no\b(?!\s+(?:other|need|one|more|matter))|"
    r"wait\b|actually\b|rather\b(?! than)|correction\b|sorry\b|"
    r"hmm\b|oops\b|scratch that\b|but\b|however\b|或者|不对|等等|但是|不过)"
    r"|^\s*+(?:or\b|或)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"[A-Za-z0-9_]|[.,]\d|[ \t]*+[-.,]?\d")
_REMARK = re.compile(
    r"[\s\"')\]}>]*+(?:[.,;:!。，、；：！()\[–—→|-]|(?:because|since|as|so|for|to|which|that|in|with|due|given|when|where|while|after|by|"
    r"from|at|on|thus|this)\b|因为|由于|以便|来|这样|理由)",
    re.IGNORECASE,
)
_JUDGED = re.compile(
    r"[\s\"')\]]*+(?:would|could|might|may|was|were|looks?|seems?|loses?|fails?|lets?|should|can|does|doesn't|isn't|will|has|had|"
    r"if|unless|instead|rather|is (?!my|the best|the right|the correct|final))\b",
    re.IGNORECASE,
)
_OPENINGS = (re.compile(r"[\s\"'_<{$]*+"), re.compile(r"[^\w\n+~≈≤≥≠¬-]*+"))


class Values(Generic[Value]):
    """Parses values of one game.

    Args:
        grammar: grammar of a statement.
        labels: its labels.
    """

    def __init__(self, grammar: Grammar[Value], labels: Labels) -> None:
        self._grammar = grammar
        self._labels = labels

    def read(
        self, text: str, raw: str, start: int, end: int, rank: Rank, labelled: bool = True
    ) -> tuple[Rank, Any, int] | None:
        """Parses a value at ``start``; returns its rank, the value or a ``ParseError``, and its end offset."""
        grammar = self._grammar
        if grammar.free:
            if grammar.lines > 1:
                value = grammar.read(raw[start:end], labelled)
                return None if value is None else (rank, value[0], start + value[1])
            value = grammar.read(_free_text(text, raw, start, end), labelled)
            return None if value is None else (rank, value[0], end)
        piece = text[start : min(end, start + MAX_STATEMENT)]
        for opening in _OPENINGS if labelled else _OPENINGS[1:]:
            match = opening.match(piece)
            skipped = match.end() if match else 0
            while skipped and piece[skipped - 1] in "([.":
                skipped -= 1
            for begin in {skipped: None, (match.end() if match else 0): None}:
                try:
                    read = grammar.read(piece[begin:], labelled)
                except ParseError as error:
                    first_end = text.find("\n", start)
                    return rank, error, first_end if 0 <= first_end < end else end
                if read is not None:
                    value_end = begin + read[1]
                    kind = self._after(piece[value_end:].partition("\n")[0], read[0], rank)
                    if kind is None:
                        return None
                    return (*kind, start + value_end)
        return None

    def _after(self, rest: str, value: Any, rank: Rank) -> tuple[Rank, Any] | None:
        """Checks the text after a value on its line; returns rank and value, or ``None`` if it retracts the value."""
        if _REJECTED.match(rest):
            return None
        unclear = rank, ParseError(Failure.UNPARSABLE, "unclear")
        nothing = _NOTHING.fullmatch(rest)
        if nothing:
            return (
                unclear
                if nothing["remark"] and self._is_another(nothing["remark"], value, whole=True)
                else (rank, value)
            )
        if rank is Rank.BARE or _QUESTION.match(rest):
            return None
        if _GOES_ON.match(rest) or CORRECTION.search(rest[:200]):
            return unclear
        another = _ANOTHER.match(rest)
        if another and self._is_another(rest[another.end() :], value):
            return unclear
        if _JUDGED.match(rest):
            return None
        return (rank if _REMARK.match(rest) else Rank.INSIDE), value

    def _is_another(self, text: str, value: Any, whole: bool = False) -> bool:
        """Says whether a text begins with another value, or is one as a ``whole``."""
        label = self._labels.inside.match(text)
        try:
            read = self._grammar.read(text[label.end() if label else 0 :], True)
        except ParseError:
            return not whole
        if whole:
            return read is not None and read[0] != value and read[1] == len(text)
        return (read is not None and read[0] != value) or text[:1].isdigit()


def _free_text(text: str, raw: str, start: int, end: int) -> str:
    """Returns the original free text, without the markup and quotes that began before its label."""
    shown = text[start:end]
    line = text.rfind("\n", 0, start) + 1
    written = start  # markup at the beginning of the value is blank too
    while written > line and text[written - 1] == " " and not raw[written - 1].isspace():
        written -= 1
    if narrow(raw[line:written]) == text[line:written] and not shown.strip().endswith(tuple(_PAIRS.values())):
        return raw[written:end].strip()
    left, right = start + len(shown) - len(shown.lstrip()), start + len(shown.rstrip())
    for sign in reversed(text[line : line + 40].strip()[:4]):
        closing = _PAIRS.get(sign)
        if closing and text[left:right].endswith(closing) and _is_left_over(text[left:right], sign, closing):
            right -= 1
    return raw[left:right]


def _is_left_over(text: str, opening: str, closing: str) -> bool:
    count = text.count(closing)
    return count % 2 == 1 if opening == closing else count > text.count(opening)


_PAIRS = {'"': '"', "'": "'", "[": "]", "(": ")", "<": ">", "{": "}", "|": "|"}
