"""Searching a text for statements: its objects, answer tags and boxes by themselves, then its lines."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from llmarena_envs.core.failures import Failure, Refusal
from llmarena_envs.core.reading.candidates import UNREADABLE, Found, Other, Rank, choose
from llmarena_envs.core.reading.fields import MAX_DEPTH, Fields
from llmarena_envs.core.reading.grammar import Grammar, Value
from llmarena_envs.core.reading.labels import EMBEDDED, EXPLAINS, FILLER, HEADER, NOT_MEANT, Labels, labels
from llmarena_envs.core.reading.markup import narrow, unwrap
from llmarena_envs.core.reading.objects import find_objects
from llmarena_envs.core.reading.tags import find_tags
from llmarena_envs.core.reading.values import CORRECTION, MAX_STATEMENT, Values

MAX_LINES = 1_000
"""Lines that are read, counted from the end, blank ones left out."""

_MAX_BLOCKS = 50
_MAX_LABELS = 40

_CONNECTS = re.compile(r"[:=是为]|\b(?:is|are|be)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?;。！？；](?=\s|[^\x00-\x7f]|$)")
_BULLET = re.compile(r"[\s>#]*+(?:[-•·+▪►→](?=\s)[\s]*+)?")
_IS_BULLET = re.compile(r"[\s>]*+(?:[-*•·+▪](?=\s)|\d{1,2}[.)]\s)")
# An object that was cut off: its last value may be half of what was meant.
_BROKEN_OBJECT = re.compile(r"(?<![a-zA-Z])\{\s*+[\"'][^}]*+\Z")
_HEADING = re.compile(r"\s*+(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*\s*+$)")


_NOT_MEANT = "not meant"
_OF_SOMETHING = "of something"


@dataclass
class _Context:
    """Where the reading of lines stands.

    Attributes:
        pending: where a label began whose value must stand on the next line.
        header: what the header above is: ``_NOT_MEANT``, ``_OF_SOMETHING`` else, or none.
        below: whether anything stood below it.
        bulleted: whether the line before is an item of a list.
    """

    pending: int | None = None
    header: str = ""
    below: bool = False
    bulleted: bool = False


class Search(Generic[Value]):
    """Collects the candidates of one text.

    Args:
        raw: the text as it was written.
        grammar: what a statement looks like.
        me: whose statement counts.
        depth: how many tags, boxes and objects it is nested in.
    """

    def __init__(self, raw: str, grammar: Grammar[Value], me: str, depth: int) -> None:
        self._raw = raw
        self._grammar = grammar
        self._me = me
        self._depth = depth
        self._labels: Labels = labels(grammar.nouns, grammar.seats, grammar.free)
        self._values = Values(grammar, self._labels)
        self._embedded: dict[int, list[Found]] = {}
        self._found: list[Found] = []
        self._read_to = 0

    def run(self) -> list[Found]:
        """Returns the candidates in order."""
        if self._depth > MAX_DEPTH:
            return []
        self._text = self._without_blocks()
        self._read_lines()
        return self._found

    # Objects, answer tags and boxes: read by themselves, and covered in the text.

    def _without_blocks(self) -> str:
        text = narrow(self._raw).replace(EMBEDDED, " ").replace(FILLER, " ")
        blocks: list[tuple[int, int, int, Any]] = []
        if "{" in text:
            found = list(find_objects(self._raw)) or ([] if text.isascii() else list(find_objects(text)))
            blocks += [(start, end, 0, value) for start, end, value in found]
        if "<" in text or "[" in text:
            tags, alone = find_tags(text, self._grammar.nouns)
            blocks += [(tag.start, tag.end, 1, tag) for tag in tags]
            blocks += [(start, end, 2, None) for start, end in alone]
        blocks.sort(key=lambda block: block[:3])
        done, pieces, position = 0, [], 0
        read_from = max(0, len(blocks) - _MAX_BLOCKS)
        for number, (start, end, _, content) in enumerate(blocks):
            if start < done:
                continue
            done = end
            if content is None:
                pieces += [text[position:start], " " * (end - start)]
                position = end
                continue
            if number >= read_from:
                self._embedded[start] = self._read_content(start, content)
            pieces += [text[position:start], EMBEDDED, FILLER * (end - start - 1)]
            position = end
        text, boxes = unwrap(_BROKEN_OBJECT.sub(_blank, "".join(pieces) + text[position:]))
        for start, end in boxes[-_MAX_BLOCKS:]:
            if start < end and not any(start < inner < end for inner, _ in boxes):
                inside = [number for number in self._embedded if start <= number < end]
                if not inside:
                    self._embedded[start] = self._read_block(start, self._raw[start:end])
                    text = f"{text[:start]}{EMBEDDED}{FILLER * (end - start - 1)}{text[end:]}"
        return text

    def _read_content(self, start: int, content: Any) -> list[Found]:
        if isinstance(content, dict):
            value = Fields(self._grammar, self._me, self._read_piece).read(content, self._depth)
            return [] if value is None else [Found(Rank.LABELLED, start, value, fields=content)]
        if content.foreign:
            return []
        return self._read_block(start, self._raw[content.inner_start : content.inner_end])

    def _read_block(self, start: int, content: str) -> list[Found]:
        """Returns what the contents of an answer tag or box state, as one candidate of the highest rank."""
        value, fields = self._read_piece(content)
        return [] if value is None else [Found(Rank.LABELLED, start, value, fields=fields)]

    def _read_piece(self, content: str) -> tuple[Any, Mapping[str, Any]]:
        """Reads a text that should be a statement and nothing else."""
        search = Search(content, self._grammar, self._me, self._depth + 1)
        try:
            chosen = choose(search.run())
            return chosen.value, chosen.fields
        except Refusal as refusal:
            if refusal.reason.name == "not_your_name":
                return Other(refusal.reason.fields["name"]), {}
            if refusal.reason.name != "nothing_stated":
                return refusal, {}
        text = unwrap(narrow(content))[0]
        if "\n" in text.strip() and self._grammar.lines == 1:
            return (None if self._grammar.free else UNREADABLE), {}
        found = self._values.read(text, content, 0, len(text), Rank.LABELLED)
        return (UNREADABLE if found is None or found[0] is Rank.INSIDE else found[1]), {}

    # Lines.

    def _read_lines(self) -> None:
        context = _Context()
        listed: list[Found] = []
        for number, (start, end, gap) in enumerate(_last_lines(self._text)):
            if start < self._read_to:
                continue
            before = len(self._found)
            self._read_line(start, end, gap, number, context)
            if _IS_BULLET.match(self._raw, start, end) is None:
                listed = []
                continue
            # A list of different moves is a list of options: none of them is stated.
            listed += self._found[before:]
            if any(found.value != listed[0].value for found in listed):
                self._found = [found for found in self._found if not any(found is option for option in listed)]

    def _read_line(self, start: int, end: int, gap: bool, number: int, context: "_Context") -> None:
        bulleted = _IS_BULLET.match(self._raw, start, end) is not None
        if context.below and (gap or (context.bulleted and not bulleted)):
            context.header = ""
        context.below, context.bulleted = True, bulleted
        label = self._labels.at_start.match(self._text, start, end)
        if context.pending is not None:
            begin, context.pending = context.pending, None
            if label is None:
                self._read_pending(begin, start, number)
                return
        if label:
            if context.header == _NOT_MEANT and not label["answer"]:
                return
            context.header = ""
            if self._read_label(label, start, end, number):
                context.pending = start
            return
        if self._read_header(start, end, context) or context.header == _NOT_MEANT:
            return
        if self._read_embedded(start, end, number, Rank.LABELLED):
            return
        if context.header or not self._read_bare(start, end, number):
            self._read_inside(start, end, start, number)

    def _read_header(self, start: int, end: int, context: "_Context") -> bool:
        """Reads what a line says of itself or of the lines below it; returns whether nothing in the line can be a statement."""
        named = HEADER.match(self._text, start, end)
        if named:
            words = named["words"]
        elif _HEADING.match(self._raw, start, end) and EMBEDDED not in self._text[start:end]:
            words = self._text[start:end]
        else:
            return False
        not_meant = NOT_MEANT.search(words) is not None or (
            EXPLAINS.search(words) is not None and self._has_statement()
        )
        below = not _has_text(self._text, named.end(), end) if named else not_meant
        if below:
            context.header, context.below = _NOT_MEANT if not_meant else _OF_SOMETHING, False
        return below or not_meant

    def _has_statement(self) -> bool:
        return any(found.rank is Rank.LABELLED and not isinstance(found.value, Other) for found in self._found)

    def _read_label(self, label: re.Match[str], start: int, end: int, number: int) -> bool:
        """Reads a line that begins with a label; returns whether its value must stand on the next one."""
        rank = Rank.LABELLED
        seat = ""
        strict = later = False
        position = start
        for _ in range(4):
            later = later or label["next"] is not None
            if later or (self._grammar.free and label["weak"]):
                rank = Rank.BARE
            strict = strict or bool(label["seat"] or (label["strong"] and label["colon"]))
            position = label.end()
            if label["seat"]:
                seat = self._grammar.seats.name(label["seat"])
                if self._grammar.free and not later:
                    rank = Rank.LABELLED
                if self._grammar.free or seat != self._me:
                    break
            another = self._labels.at_start.match(self._text, position, end)
            if another is None:
                break
            label = another
        if seat and seat != self._me:
            self._found.append(Found(rank, start, Other(seat), number, True))
            return False
        if not _has_text(self._text, position, end):
            if self._grammar.free and seat and not self._has_more(end):
                self._add_value(start, position, end, number, rank, True)
                return False
            return True
        if self._read_embedded(position, end, number, rank, start):
            return False
        if self._grammar.free and not seat and self._has_own_seat(position, end):
            self._read_inside(position, end, start, number)
            return False
        stated = self._add_value(start, position, end, number, rank, bool(seat))
        if not stated and not self._read_inside(position, end, start, number) and strict:
            self._found.append(Found(rank, start, UNREADABLE, number))
        return False

    def _has_own_seat(self, start: int, end: int) -> bool:
        matches = self._labels.inside.finditer(self._text, start, min(end, start + MAX_STATEMENT))
        return any(match["seat"] and self._grammar.seats.name(match["seat"]) == self._me for match in matches)

    def _has_more(self, end: int) -> bool:
        return _has_text(self._text, end, len(self._text))

    def _read_pending(self, begin: int, start: int, number: int) -> None:
        """Reads the line below a label that stands alone."""
        end = self._line_end(start)
        if self._read_embedded(start, end, number, Rank.LABELLED, begin):
            return
        if not self._add_value(begin, start, end, number, Rank.LABELLED, False) and not self._read_inside(
            start, end, begin, number
        ):
            self._found.append(Found(Rank.LABELLED, begin, UNREADABLE, number))

    def _line_end(self, start: int) -> int:
        end = self._text.find("\n", start)
        return len(self._text) if end < 0 else end

    def _read_embedded(self, start: int, end: int, number: int, rank: Rank, begin: int | None = None) -> bool:
        """Takes over the objects, tags and boxes of a line; returns whether there are any."""
        position = self._text.find(EMBEDDED, start, end)
        if position < 0:
            return False
        any_found = False
        while position >= 0:
            for found in self._embedded.get(position, ()):
                any_found = True
                self._found.append(
                    found._replace(
                        rank=min(rank, found.rank), line=number, start=found.start if begin is None else begin
                    )
                )
            position = self._text.find(EMBEDDED, position + 1, end)
        if any_found and not self._grammar.free:
            rest = max(start, self._text.rfind(FILLER, start, end) + 1)
            if CORRECTION.search(self._text[rest : min(end, rest + 200)]):
                self._found[-1] = self._found[-1]._replace(value=Refusal(Failure.UNPARSABLE, "unclear"))
            self._contradict(start, end, self._found[-1], number)
        return any_found

    def _add_value(self, begin: int, position: int, end: int, number: int, rank: Rank, seat: bool) -> bool:
        name = self._labels.before_value.match(self._text, position, end)
        if name and not seat and not self._grammar.free:
            if self._grammar.seats.name(name[0].strip()) != self._me:
                self._found.append(Found(rank, begin, Other(self._grammar.seats.name(name[0].strip())), number, True))
                return True
            position = name.end()
        stop = end if self._grammar.lines == 1 else self._lines_end(end)
        found = self._values.read(self._text, self._raw, position, stop, rank)
        if found is None:
            return False
        rank, value, after = found
        self._read_to = after
        candidate = Found(rank, begin, value, number, seat)
        self._found.append(candidate)
        if not self._grammar.free:
            self._contradict(after, end, candidate, number)
        return True

    def _lines_end(self, end: int) -> int:
        """Returns the end of the last line that a value may take."""
        lines = 1
        while lines < self._grammar.lines and 0 <= end < len(self._text):
            start = end + 1
            end = self._line_end(start)
            lines += _has_text(self._text, start, end)
        return end

    def _contradict(self, start: int, end: int, candidate: Found, number: int) -> None:
        """Makes the candidate unclear if the rest of its line states something else in the own name."""
        if isinstance(candidate.value, Refusal) or start >= end:
            return
        before = len(self._found)
        self._read_inside(start, end, start, number)
        rest = self._found[before:]
        del self._found[before:]
        for other in rest:
            if not isinstance(other.value, (Other, Refusal)) and other.value != candidate.value:
                self._found[-1] = candidate._replace(value=Refusal(Failure.UNPARSABLE, "unclear"))

    def _read_bare(self, start: int, end: int, number: int) -> bool:
        """Reads a line that holds a value and nothing else."""
        grammar = self._grammar
        if grammar.bare == "never" or (grammar.bare == "last" and not self._ends_text(start)):
            return False
        bullet = _BULLET.match(self._text, start, end)
        position = bullet.end() if bullet else start
        seat = self._labels.before_value.match(self._text, position, end)
        name = ""
        if seat:
            name, position = grammar.seats.name(seat[0].strip()), seat.end()
        stop = end if grammar.lines == 1 else self._lines_end(end)
        found = self._values.read(self._text, self._raw, position, stop, Rank.BARE, labelled=False)
        if found is None or found[0] is not Rank.BARE:
            return False
        self._read_to = found[2]
        value = Other(name) if name and name != self._me else found[1]
        self._found.append(Found(Rank.BARE, start, value, number, bool(name)))
        return True

    def _ends_text(self, start: int) -> bool:
        end = start
        for _ in range(self._grammar.lines):
            end = self._line_end(end)
            if not _has_text(self._text, end, len(self._text)):
                return True
            end += 1
        return False

    def _read_inside(self, start: int, end: int, begin: int, number: int) -> bool:
        """Reads labels inside a line; returns whether one of them states something."""
        if not _CONNECTS.search(self._text, start, end):
            return False
        matches = list(self._labels.inside.finditer(self._text, start, end))
        stated: Found | None = None
        for match in matches[-_MAX_LABELS:]:
            context = self._text[max(start, match.start() - 200) : match.start()]
            ends = list(_SENTENCE_END.finditer(context))
            if NOT_MEANT.search(context[ends[-1].end() :] if ends else context):
                continue
            name = self._grammar.seats.name(match["seat"]) if match["seat"] else ""
            if name and name != self._me:
                self._found.append(Found(Rank.INSIDE, match.start(), Other(name), number))
                continue
            found = self._values.read(self._text, self._raw, match.end(), end, Rank.INSIDE)
            if found is None:
                continue
            where = begin if begin != start else match.start()
            candidate = Found(Rank.INSIDE, where, found[1], number)
            if stated is not None and stated.value != candidate.value and not self._grammar.free:
                candidate = candidate._replace(value=Refusal(Failure.UNPARSABLE, "unclear"))
            self._found.append(candidate)
            stated = candidate
        return stated is not None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _has_text(text: str, start: int, end: int) -> bool:
    """Says whether a part of ``text`` holds a letter, a digit or something embedded."""
    return _TEXT.search(text, start, end) is not None


_TEXT = re.compile(rf"[\w{EMBEDDED}]")


def _last_lines(text: str) -> list[tuple[int, int, bool]]:
    """Returns start, end and whether a blank line stands before it, of the last lines with text."""
    lines: list[tuple[int, int, bool]] = []
    end = len(text)
    while end >= 0 and len(lines) < MAX_LINES:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            lines.append((start, end, False))
        elif lines:
            lines[-1] = (*lines[-1][:2], True)
        end = start - 1
    lines.reverse()
    return lines
