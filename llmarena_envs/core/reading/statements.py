"""Parsing of the statements of a line: after a label, bare, or inside, with their values and the rest of the line."""

import re
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.grammar import (
    NEGATED,
    NOT_MEANT,
    UNREADABLE,
    Found,
    Grammar,
    Labels,
    Other,
    Rank,
    Value,
    labels,
)
from llmarena_envs.core.reading.markup import (
    EMBEDDED,
    FILLER,
    ends_text,
    has_text,
    line_end,
    lines_end,
    narrow,
    sentence_before,
)

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
_REMARK_AFTER = re.compile(
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
        return (rank if _REMARK_AFTER.match(rest) else Rank.INSIDE), value

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


_MAX_LABELS = 40
_MAX_CHAINED_LABELS = 4
_MAX_CONTEXT = 200
_MAX_SEARCHED = 20_000
"""Maximum number of characters of a line searched for labels, counted from its end."""

_LETTER = re.compile(r"[^\W\d_]")
_CONNECTS = re.compile(r"[:=是为]|\b(?:is|are|be)\b", re.IGNORECASE)
_TAKES_BACK = re.compile(r"[^\w\n]*+(?:no|wait|actually|(?:or )?rather|but)\b", re.IGNORECASE)
_REMARK = re.compile(
    r"\s*+(?:[.,;!。、()/|<>–—-]|(?:beats|over|vs|versus|not|instead|rather|because|since|than|P\.S)\b)", re.IGNORECASE
)
_BULLET = re.compile(r"[\s>#]*+(?:[-•·+▪►→](?=\s)[\s]*+)?")


class Pending(NamedTuple):
    """A label alone on its line: its value must be on the next line.

    Attributes:
        start: start of its line.
        rank: rank of its value.
    """

    start: int
    rank: Rank


class Statements:
    """Parses and collects the statements of one text.

    Attributes:
        found: the candidates, in order.
        read_to: end of the last value; a value can span lines.
        labels: the labels of the game.

    Args:
        text: the text without markup, its blocks masked.
        raw: the original text.
        grammar: grammar of a statement.
        me: the player whose statement counts.
        embedded: candidates of the blocks, by start offset.
    """

    def __init__(self, text: str, raw: str, grammar: Grammar[Any], me: str, embedded: Mapping[int, Found]) -> None:
        self._text = text
        self._raw = raw
        self._grammar = grammar
        self._me = me
        self._embedded = embedded
        self.labels = labels(grammar.nouns, grammar.seats, grammar.free)
        self._values = Values(grammar, self.labels)
        self.found: list[Found] = []
        self.read_to = 0

    @property
    def takes_any_line(self) -> bool:
        """Whether any line is a valid value; then a remark about another value looks like a value."""
        return self._grammar.free and self._grammar.lines == 1

    def has_stated(self) -> bool:
        """Says whether the player has stated anything, after a label or bare."""
        return any(found.rank is not Rank.INSIDE and not isinstance(found.value, Other) for found in self.found)

    def doubt(self, first: int) -> None:
        """Marks the candidates from number ``first`` on as vague."""
        self.found[first:] = [found._replace(vague=True) for found in self.found[first:]]

    def find_label(self, start: int, end: int) -> re.Match[str] | None:
        """Returns the label at the beginning of a line; ``None`` if a word before it is a value, e.g. ``no``."""
        label = self.labels.at_start.match(self._text, start, end)
        if label is None or label["seat"] or self._grammar.free:
            return label
        before = self._text[start : max(label.start("strong"), label.start("weak"))].lstrip()
        try:
            return label if not before[:1].isalpha() or self._grammar.read(before, False) is None else None
        except ParseError:
            return label

    def read_label(self, label: re.Match[str], start: int, end: int, number: int) -> Pending | None:
        """Parses a line that begins with a label; returns the label if its value must be on the next line."""
        rank = Rank.LABELLED
        seat = ""
        strict = later = vague = False
        position = start
        for _ in range(_MAX_CHAINED_LABELS):
            later = later or label["next"] is not None
            if later or (self._grammar.free and label["weak"]):
                rank = Rank.BARE
            if self._grammar.free and label["is"]:
                rank = Rank.INSIDE  # "My answer is below." states nothing, but any words are valid
            strict = strict or bool(label["seat"] or (label["strong"] and label["colon"]))
            vague = vague or label["vague"] is not None
            position = label.end()
            if label["seat"]:
                seat = self._grammar.seats.name(label["seat"])
                if self._grammar.free and not later:
                    rank = Rank.LABELLED
                if self._grammar.free or seat != self._me:
                    break
            another = self.labels.at_start.match(self._text, position, end)
            if another is None or self._names_a_value(another) or _TAKES_BACK.match(self._text, position):
                break
            label = another
        if seat and seat != self._me:
            self.found.append(Found(rank, start, Other(seat), number, True))
            return None
        if not has_text(self._text, position, end):
            if self._grammar.free and seat and not has_text(self._text, end, len(self._text)):
                self._add_value(start, position, end, number, rank, True)
                return None
            return Pending(start, rank)
        if self.read_embedded(position, end, number, rank, start):
            return None
        if self._grammar.free and not seat and self._has_own_seat(position, end):
            self.read_inside(position, end, start, number)
            return None
        before = len(self.found)
        stated = self._add_value(start, position, end, number, rank, bool(seat))
        if stated and vague:
            self.doubt(before)
        if not stated and not self.read_inside(position, end, start, number) and strict:
            self.found.append(Found(rank, start, UNREADABLE, number))
        return None

    def _has_own_seat(self, start: int, end: int) -> bool:
        matches = self.labels.inside.finditer(self._text, start, min(end, start + MAX_STATEMENT))
        return any(match["seat"] and self._grammar.seats.name(match["seat"]) == self._me for match in matches)

    def read_pending(self, pending: Pending, start: int, number: int) -> None:
        """Parses the line below a label that is alone on its line."""
        end = line_end(self._text, start)
        begin, rank = pending
        if self.read_embedded(start, end, number, rank, begin):
            return
        if not self._add_value(begin, start, end, number, rank, False) and not self.read_inside(
            start, end, begin, number
        ):
            self.found.append(Found(rank, begin, UNREADABLE, number))

    def read_embedded(
        self, start: int, end: int, number: int, rank: Rank = Rank.LABELLED, begin: int | None = None
    ) -> bool:
        """Adds the candidates of the blocks of a line; returns whether there are any."""
        position = self._text.find(EMBEDDED, start, end)
        if position < 0:
            return False
        stated = []
        negated = NEGATED.search(sentence_before(self._text, position, start)) is not None
        while position >= 0:
            found = self._embedded.get(position)
            if found and not negated:
                where = found.start if begin is None else begin
                stated.append(found._replace(rank=min(rank, found.rank), line=number, start=where))
            position = self._text.find(EMBEDDED, position + 1, end)
        if not stated:
            return False
        self.found += stated
        own = [found.value for found in stated if found.value is not UNREADABLE and not isinstance(found.value, Other)]
        if any(value != own[0] for value in own):
            self._make_unclear()
        elif not self._grammar.free:
            rest = max(start, self._text.rfind(FILLER, start, end) + 1)
            if CORRECTION.search(self._text[rest : min(end, rest + _MAX_CONTEXT)]):
                self._make_unclear()
            self._contradict(start, end, self.found[-1], number)
        return True

    def _make_unclear(self) -> None:
        self.found[-1] = self.found[-1]._replace(value=ParseError(Failure.UNPARSABLE, "unclear"))

    def _add_value(self, begin: int, position: int, end: int, number: int, rank: Rank, seat: bool) -> bool:
        name = self.labels.before_value.match(self._text, position, end)
        if name and not seat and not self._grammar.free and not self._is_value(name[0]):
            if self._grammar.seats.name(name[0].strip()) != self._me:
                self.found.append(Found(rank, begin, Other(self._grammar.seats.name(name[0].strip())), number, True))
                return True
            position = name.end()
        stop = end if self._grammar.lines == 1 else lines_end(self._text, end, self._grammar.lines)
        found = self._values.read(self._text, self._raw, position, stop, rank)
        if found is None:
            return False
        rank, value, after = found
        self.read_to = after
        remark = not self._grammar.free and has_text(self._text, after, line_end(self._text, after))
        candidate = Found(rank, begin, value, number, seat, vague=remark)
        self.found.append(candidate)
        if not self._grammar.free:
            self._contradict(after, end, candidate, number)
        return True

    def _names_a_value(self, label: re.Match[str]) -> bool:
        """Says whether a label is the name of a seat with a remark after it: ``vote: player_1 - an odd clue``."""
        return bool(label["seat"]) and label["seat_colon"] not in (":", "=") and self._is_value(label[0])

    def _is_value(self, text: str) -> bool:
        """Says whether the name of a seat is a value of the game, as in a vote."""
        return self._grammar.read(text, True) is not None

    def _contradict(self, start: int, end: int, candidate: Found, number: int) -> None:
        """Makes the candidate unclear if the rest of its line states another value for the player."""
        if isinstance(candidate.value, ParseError) or start >= end:
            return
        before = len(self.found)
        self.read_inside(start, end, start, number)
        rest = self.found[before:]
        del self.found[before:]
        if any(not isinstance(other.value, (Other, ParseError)) and other.value != candidate.value for other in rest):
            self._make_unclear()

    def read_bare(self, start: int, end: int, number: int, named: bool) -> bool:
        """Parses a line that holds only a value; a number does not count if ``named``, i.e. below a caption."""
        grammar = self._grammar
        if grammar.bare == "never":
            return False
        early = grammar.bare == "last" and not ends_text(self._text, start, grammar.lines)
        if named and not _LETTER.search(self._text, start, end):
            return False
        bullet = _BULLET.match(self._text, start, end)
        position = bullet.end() if bullet else start
        seat = self.labels.before_value.match(self._text, position, end)
        name = ""
        if seat and not self._is_value(seat[0]):
            name, position = grammar.seats.name(seat[0].strip()), seat.end()
        stop = end if grammar.lines == 1 else lines_end(self._text, end, self._grammar.lines)
        found = self._values.read(self._text, self._raw, position, stop, Rank.BARE, labelled=False)
        if found is None or found[0] is not Rank.BARE:
            return False
        self.read_to = found[2]
        value = Other(name) if name and name != self._me else found[1]
        self.found.append(Found(Rank.BARE, start, value, number, bool(name), early=early))
        return not early

    def read_talk(self, start: int, end: int, number: int) -> None:
        """Parses the labels inside a line of text; unclear if the line begins with another value and a remark."""
        before = len(self.found)
        self.read_inside(start, end, start, number)
        if len(self.found) == before or self._grammar.free:
            return
        bullet = _BULLET.match(self._text, start, end)
        line = self._text[bullet.end() if bullet else start : end][:MAX_STATEMENT]
        try:
            read = self._grammar.read(line, self._grammar.lines > 1)
        except ParseError:
            self._make_unclear()
            return
        if read and _REMARK.match(line, read[1]) and any(found.value != read[0] for found in self.found[before:]):
            self._make_unclear()

    def read_inside(self, start: int, end: int, begin: int, number: int) -> bool:
        """Parses labels inside a line; returns whether one of them states a value."""
        start = max(start, end - _MAX_SEARCHED)
        if not _CONNECTS.search(self._text, start, end):
            return False
        matches = list(self.labels.inside.finditer(self._text, start, end))
        stated: Found | None = None
        for match in matches[-_MAX_LABELS:]:
            if NOT_MEANT.search(sentence_before(self._text, match.start(), start)):
                continue
            name = self._grammar.seats.name(match["seat"]) if match["seat"] else ""
            if name and name != self._me:
                self.found.append(Found(Rank.INSIDE, match.start(), Other(name), number))
                continue
            found = self._values.read(self._text, self._raw, match.end(), end, Rank.INSIDE)
            if found is None:
                continue
            where = begin if begin != start else match.start()
            candidate = Found(Rank.INSIDE, where, found[1], number)
            if stated is not None and stated.value != candidate.value and not self._grammar.free:
                candidate = candidate._replace(value=ParseError(Failure.UNPARSABLE, "unclear"))
            self.found.append(candidate)
            stated = candidate
        return stated is not None
