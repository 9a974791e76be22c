r"""Reading replies: one path for all games.

A reply is read in steps: reasoning is dropped, turns of others are cut off, what models wrap answers in is taken away, and
what is left is searched for statements. A statement has a rank: labelled on a line of its own, an object, or the contents of
an answer tag or box; then a bare move alone on a line; then a label inside a line. The last one of the highest rank counts.
What is said in another seat's name, as an example, an alternative or a forecast, in an object's other fields or in running
prose is none. Nothing is guessed: where two statements contradict each other on one line, the reply is refused.

A game only says what a statement of its own looks like, by a ``Grammar``::

    _CHOICE = re.compile(r"(rock|paper|scissors)\b", re.IGNORECASE)

    def _read(text: str, labelled: bool) -> tuple[int, int] | None:
        match = _CHOICE.match(text)
        return (CHOICES.index(match[1].lower()), match.end()) if match else None

    GRAMMAR = Grammar(_read, nouns="choice|shape")

    find("I take rock because ...\n**Choice:** rock</s>", GRAMMAR, "player_0").value  # 0

``find`` raises a ``Refusal`` if nothing is stated; a ``_read`` may raise one too, for a move that cannot exist, say.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, NamedTuple, TypeVar

from llmarena_envs.core.failures import Failure, Refusal
from llmarena_envs.core.reading.labels import (
    EMBEDDED,
    EXPLAINS,
    FILLER,
    HEADER,
    NOT_MEANT,
    PLAYERS,
    Labels,
    Seats,
    labels,
)
from llmarena_envs.core.reading.markup import clean_text, narrow, unwrap
from llmarena_envs.core.reading.objects import find_objects, read_object
from llmarena_envs.core.reading.reasoning import drop_reasoning
from llmarena_envs.core.reading.tags import find_tags
from llmarena_envs.core.reading.turns import own_turns

__all__ = ["MAX_REPLY", "Grammar", "Statement", "clean_text", "find", "quoted", "read_part"]

Value = TypeVar("Value")

MAX_REPLY = 100_000
"""Characters of a reply that are read; a move is stated at the end, so the beginning of a longer one is dropped."""

MAX_LINES = 1_000
"""Lines that are read, counted from the end, blank ones left out."""

MAX_STATEMENT = 2_000
"""Characters of a line behind a label that are looked at."""

MAX_QUOTED = 30
"""Characters of a reply that a reason names."""

_MAX_DEPTH = 4
_MAX_BLOCKS = 50
_MAX_LABELS = 40


def _no_fields(fields: Mapping[str, Any]) -> None:
    return None


@dataclass(frozen=True)
class Grammar(Generic[Value]):
    """What a statement of one game looks like.

    Attributes:
        read: reads a value at the very beginning of a text: gets the text and whether a label stands before it, returns the
            value and where it ends, or ``None``; may raise a ``Refusal`` for a statement that is understood but impossible.
        nouns: what a move is called in labels and as key of an object, alternatives of a pattern, e.g. ``"vote|ballot"``.
        seats: how players are called.
        fields: reads a value from the fields of an object (keys in lower case), or returns ``None``; may raise a ``Refusal``.
        lines: how many lines a value may take.
        free: whether any text would do as a value, as for a clue; then fewer labels count.
        bare: where a value without a label counts: on any line (``"anywhere"``), the last one, or not at all (``"never"``).
    """

    read: Callable[[str, bool], tuple[Value, int] | None]
    nouns: str = ""
    seats: Seats = PLAYERS
    fields: Callable[[Mapping[str, Any]], Value | None] = _no_fields
    lines: int = 1
    free: bool = False
    bare: str = "anywhere"


class Statement(NamedTuple, Generic[Value]):
    """What a reply states.

    Attributes:
        value: the value.
        before: the text of the reply before it, without reasoning, otherwise as it was written.
        fields: the fields of the object it was read from, empty if it was none.
    """

    value: Value
    before: str
    fields: Mapping[str, Any]


class _Rank(IntEnum):
    INSIDE = 1
    BARE = 2
    LABELLED = 3


class _Found(NamedTuple):
    """A candidate.

    Attributes:
        rank: its rank.
        start: where it begins.
        value: its value, a ``Refusal``, ``_OTHER`` or ``_UNREADABLE``.
        line: number of its line.
        seat: whether it follows the name of a seat.
        fields: the object it comes from.
    """

    rank: _Rank
    start: int
    value: Any
    line: int = 0
    seat: bool = False
    fields: Mapping[str, Any] = {}


_UNREADABLE = object()


class _Other(NamedTuple):
    """A statement in another's name."""

    name: str


def quoted(text: str) -> str:
    """Returns the beginning of a piece of a reply, for a reason that names it."""
    text = " ".join(text[: 4 * MAX_QUOTED].split())
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."


def read_part(reply: str) -> str:
    """Returns the part of a reply that is read: its end, without reasoning."""
    return drop_reasoning(reply[-MAX_REPLY:])


def find(reply: str, grammar: Grammar[Value], me: str) -> Statement[Value]:
    """Returns what a reply states, in linear time.

    Args:
        reply: what the player wrote.
        grammar: what a statement looks like.
        me: the seat whose reply it is, as ``grammar.seats`` names it.

    Raises:
        Refusal: with the reason ``nothing_stated``, ``unclear`` or ``not_your_name``, or as raised by the grammar.
    """
    text = read_part(reply)
    plain = narrow(text)
    refusal = Refusal(Failure.UNPARSABLE, "nothing_stated")
    for start, end in own_turns(plain):
        found = _Search(text[start:end], grammar, me, 0).run()
        try:
            chosen = _choose(found)
        except Refusal as error:
            if error.reason.name == "nothing_stated":
                continue
            if error.reason.name == "not_your_name":
                refusal = error
                continue
            raise
        return Statement(chosen.value, text[start : start + chosen.start], chosen.fields)
    raise refusal


def _choose(found: Iterable[_Found]) -> _Found:
    """Returns the last candidate of the highest rank."""
    own: list[_Found] = []
    other: _Found | None = None
    for candidate in found:
        if candidate.value is _UNREADABLE:
            own.clear()  # a final form that cannot be read outweighs what was considered before it
        elif isinstance(candidate.value, _Other):
            other = candidate
        elif other and own and candidate.seat and own[-1].seat and own[-1].line + 2 == other.line + 1 == candidate.line:
            # Either the moves so far and mine, or mine and how it may go on.
            own.append(candidate._replace(value=_unclear(candidate, own[-1])))
        else:
            own.append(candidate)
    if own:
        highest = max(candidate.rank for candidate in own)
        chosen = [candidate for candidate in own if candidate.rank == highest][-1]
        if isinstance(chosen.value, Refusal):
            raise chosen.value
        return chosen
    if other:
        raise Refusal(Failure.ILLEGAL, "not_your_name", name=other.value.name)
    raise Refusal(Failure.UNPARSABLE, "nothing_stated")


def _unclear(one: _Found, another: _Found) -> Any:
    return one.value if one.value == another.value else Refusal(Failure.UNPARSABLE, "unclear")


# What may follow a value on its line.
_NOTHING = re.compile(r"[\s.!,;。、…\"')\]}>_$|]*+(?:\([^()\n]{0,200}\)[\s.!。]*+)?")
_CONNECTS = re.compile(r"[:=是为]|\b(?:is|are|be)\b", re.IGNORECASE)
_QUESTION = re.compile(r"[\s\"')\]]*+\?")
_ANOTHER = re.compile(
    r"[\s\"')\]]*+(?:[-–~/|&,、;+]|\b(?:or|and|to|then|but)\b|[或和与及到至])[\s\"'(\[]*+", re.IGNORECASE
)
_CORRECTION = re.compile(
    r"(?:^|[.!?;,。！？—–(-])\s*+(?:or\b|no\b(?!\s+(?:other|need|one|more|matter))|"
    r"wait\b|actually\b|rather\b|correction\b|sorry\b|"
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
_SENTENCE_END = re.compile(r"[.!?;。！？；](?=\s|[^\x00-\x7f]|$)")
_OPENINGS = (re.compile(r"[\s\"'_<{$]*+"), re.compile(r"[^\w\n+-]*+"))
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


class _Search(Generic[Value]):
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
        self._embedded: dict[int, list[_Found]] = {}
        self._found: list[_Found] = []
        self._read_to = 0

    def run(self) -> list[_Found]:
        """Returns the candidates in order."""
        if self._depth > _MAX_DEPTH:
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

    def _read_content(self, start: int, content: Any) -> list[_Found]:
        if isinstance(content, dict):
            value = self._read_object(content, self._depth)
            return [] if value is None else [_Found(_Rank.LABELLED, start, value, fields=content)]
        if content.foreign:
            return []
        return self._read_block(start, self._raw[content.inner_start : content.inner_end])

    def _read_block(self, start: int, content: str) -> list[_Found]:
        """Returns what the contents of an answer tag or box state, as one candidate of the highest rank."""
        value, fields = self._read_piece(content)
        return [] if value is None else [_Found(_Rank.LABELLED, start, value, fields=fields)]

    def _read_piece(self, content: str) -> tuple[Any, Mapping[str, Any]]:
        """Reads a text that should be a statement and nothing else."""
        search = _Search(content, self._grammar, self._me, self._depth + 1)
        try:
            chosen = _choose(search.run())
            return chosen.value, chosen.fields
        except Refusal as refusal:
            if refusal.reason.name == "not_your_name":
                return _Other(refusal.reason.fields["name"]), {}
            if refusal.reason.name != "nothing_stated":
                return refusal, {}
        text = unwrap(narrow(content))[0]
        if "\n" in text.strip() and self._grammar.lines == 1:
            return (None if self._grammar.free else _UNREADABLE), {}
        found = self._value(text, content, 0, len(text), _Rank.LABELLED)
        return (_UNREADABLE if found is None or found[0] is _Rank.INSIDE else found[1]), {}

    def _read_object(self, value: Mapping[str, Any], depth: int) -> Any:
        """Returns the value of an object, a ``Refusal``, ``_Other``, ``_UNREADABLE``, or ``None`` if it states nothing."""
        if depth > _MAX_DEPTH:
            return None
        fields = {"_".join(str(key).lower().split()).replace("-", "_"): entry for key, entry in value.items()}
        for key in self._grammar.seats.keys:
            seat = fields.get(key)
            if isinstance(seat, str) and self._labels.seat.fullmatch(seat):
                name = self._grammar.seats.name(seat)
                if name != self._me:
                    return _Other(name)
        try:
            read = self._grammar.fields(fields)
        except Refusal as refusal:
            return refusal
        if read is not None:
            return read
        answers = []
        other = None
        for key, entry in fields.items():
            if self._labels.seat.fullmatch(key):
                name = self._grammar.seats.name(key)
                if name == self._me:
                    answers.append(self._read_entry(entry, depth))
                else:
                    other = _Other(name)
            elif label := self._answer_key(key):
                if label["strong"] or not self._grammar.free or not isinstance(entry, str) or _texts(fields) == 1:
                    answers.append(self._read_entry(entry, depth))
        called = self._read_call(fields, depth)
        if called is not None:
            return called
        answers = [answer for answer in answers if answer is not None]
        if not answers:
            return other
        readable = [answer for answer in answers if answer is not _UNREADABLE]
        if not readable:
            return _UNREADABLE
        same = all(answer == readable[0] for answer in readable) or isinstance(readable[0], Refusal)
        return readable[0] if same else Refusal(Failure.UNPARSABLE, "unclear")

    def _answer_key(self, key: str) -> re.Match[str] | None:
        match = labels(self._grammar.nouns, self._grammar.seats, False).at_start.match(f"{key.replace('_', ' ')}:")
        return match if match and not match["seat"] and match.end() == len(key) + 1 else None

    def _read_entry(self, entry: Any, depth: int) -> Any:
        if isinstance(entry, dict):
            return self._read_object(entry, depth + 1)
        if entry is None or isinstance(entry, bool) or (self._grammar.free and not isinstance(entry, str)):
            return _UNREADABLE
        return self._read_piece(str(entry))[0]

    def _read_call(self, fields: Mapping[str, Any], depth: int) -> Any:
        """Reads a call of a tool: its arguments, which may be an object or the text of one, or else its name."""
        for key in (
            "tool_calls",
            "tool_call",
            "function_call",
            "function",
            "arguments",
            "parameters",
            "params",
            "args",
            "input",
            "action_input",
            "kwargs",
        ):
            entry = fields.get(key)
            if isinstance(entry, list) and entry:
                entry = entry[-1]
            if isinstance(entry, str):
                entry = read_object(entry) or entry
            if isinstance(entry, dict):
                found = self._read_object(entry, depth + 1)
                if (
                    found is None
                    and len(entry) == 1
                    and key in _ARGUMENTS
                    and self._answer_key(str(fields.get("name", "")))
                ):
                    found = self._read_entry(next(iter(entry.values())), depth)
                if found is not None:
                    return found
            elif isinstance(entry, str) and key in _ARGUMENTS:
                found = self._read_piece(entry)[0]
                if found is not _UNREADABLE:
                    return found
        return None

    # Lines.

    def _read_lines(self) -> None:
        context = _Context()
        listed: list[_Found] = []
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
        if self._read_embedded(start, end, number, _Rank.LABELLED):
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
        return any(found.rank is _Rank.LABELLED and not isinstance(found.value, _Other) for found in self._found)

    def _read_label(self, label: re.Match[str], start: int, end: int, number: int) -> bool:
        """Reads a line that begins with a label; returns whether its value must stand on the next one."""
        rank = _Rank.LABELLED
        seat = ""
        strict = later = False
        position = start
        for _ in range(4):
            later = later or label["next"] is not None
            if later or (self._grammar.free and label["weak"]):
                rank = _Rank.BARE
            strict = strict or bool(label["seat"] or (label["strong"] and label["colon"]))
            position = label.end()
            if label["seat"]:
                seat = self._grammar.seats.name(label["seat"])
                if self._grammar.free and not later:
                    rank = _Rank.LABELLED
                if self._grammar.free or seat != self._me:
                    break
            another = self._labels.at_start.match(self._text, position, end)
            if another is None:
                break
            label = another
        if seat and seat != self._me:
            self._found.append(_Found(rank, start, _Other(seat), number, True))
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
        value = self._add_value(start, position, end, number, rank, bool(seat))
        if not value:
            if not self._read_inside(position, end, start, number) and strict:
                self._found.append(_Found(rank, start, _UNREADABLE, number))
        return False

    def _has_own_seat(self, start: int, end: int) -> bool:
        matches = self._labels.inside.finditer(self._text, start, min(end, start + MAX_STATEMENT))
        return any(match["seat"] and self._grammar.seats.name(match["seat"]) == self._me for match in matches)

    def _has_more(self, end: int) -> bool:
        return _has_text(self._text, end, len(self._text))

    def _read_pending(self, begin: int, start: int, number: int) -> None:
        """Reads the line below a label that stands alone."""
        end = self._line_end(start)
        if self._read_embedded(start, end, number, _Rank.LABELLED, begin):
            return
        if not self._add_value(begin, start, end, number, _Rank.LABELLED, False) and not self._read_inside(
            start, end, begin, number
        ):
            self._found.append(_Found(_Rank.LABELLED, begin, _UNREADABLE, number))

    def _line_end(self, start: int) -> int:
        end = self._text.find("\n", start)
        return len(self._text) if end < 0 else end

    def _read_embedded(self, start: int, end: int, number: int, rank: _Rank, begin: int | None = None) -> bool:
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
            if _CORRECTION.search(self._text[rest : min(end, rest + 200)]):
                self._found[-1] = self._found[-1]._replace(value=Refusal(Failure.UNPARSABLE, "unclear"))
            self._contradict(start, end, self._found[-1], number)
        return any_found

    def _add_value(self, begin: int, position: int, end: int, number: int, rank: _Rank, seat: bool) -> bool:
        name = self._labels.before_value.match(self._text, position, end)
        if name and not seat and not self._grammar.free:
            if self._grammar.seats.name(name[0].strip()) != self._me:
                self._found.append(_Found(rank, begin, _Other(self._grammar.seats.name(name[0].strip())), number, True))
                return True
            position = name.end()
        stop = end if self._grammar.lines == 1 else self._lines_end(end)
        found = self._value(self._text, self._raw, position, stop, rank)
        if found is None:
            return False
        rank, value, after = found
        self._read_to = after
        candidate = _Found(rank, begin, value, number, seat)
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

    def _contradict(self, start: int, end: int, candidate: _Found, number: int) -> None:
        """Makes the candidate unclear if the rest of its line states something else in the own name."""
        if isinstance(candidate.value, Refusal) or start >= end:
            return
        before = len(self._found)
        self._read_inside(start, end, start, number)
        rest = self._found[before:]
        del self._found[before:]
        for other in rest:
            if not isinstance(other.value, (_Other, Refusal)) and other.value != candidate.value:
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
        found = self._value(self._text, self._raw, position, stop, _Rank.BARE, labelled=False)
        if found is None or found[0] is not _Rank.BARE:
            return False
        self._read_to = found[2]
        value = _Other(name) if name and name != self._me else found[1]
        self._found.append(_Found(_Rank.BARE, start, value, number, bool(name)))
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
        stated: _Found | None = None
        for match in matches[-_MAX_LABELS:]:
            context = self._text[max(start, match.start() - 200) : match.start()]
            ends = list(_SENTENCE_END.finditer(context))
            if NOT_MEANT.search(context[ends[-1].end() :] if ends else context):
                continue
            name = self._grammar.seats.name(match["seat"]) if match["seat"] else ""
            if name and name != self._me:
                self._found.append(_Found(_Rank.INSIDE, match.start(), _Other(name), number))
                continue
            found = self._value(self._text, self._raw, match.end(), end, _Rank.INSIDE)
            if found is None:
                continue
            where = begin if begin != start else match.start()
            candidate = _Found(_Rank.INSIDE, where, found[1], number)
            if stated is not None and stated.value != candidate.value and not self._grammar.free:
                candidate = candidate._replace(value=Refusal(Failure.UNPARSABLE, "unclear"))
            self._found.append(candidate)
            stated = candidate
        return stated is not None

    # Values.

    def _value(
        self, text: str, raw: str, start: int, end: int, rank: _Rank, labelled: bool = True
    ) -> tuple[_Rank, Any, int] | None:
        """Reads a value at ``start``; returns its rank, the value or a ``Refusal``, and where it ends."""
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
                except Refusal as refusal:
                    first_end = text.find("\n", start)
                    return rank, refusal, first_end if labelled and 0 <= first_end < end else end
                if read is not None:
                    value_end = begin + read[1]
                    kind = self._after(piece[value_end:].partition("\n")[0], read[0], rank)
                    if kind is None:
                        return None
                    return (*kind, start + value_end)
        return None

    def _after(self, rest: str, value: Any, rank: _Rank) -> tuple[_Rank, Any] | None:
        """Judges what follows a value on its line; returns the rank it leaves to the value, or ``None`` if it takes it back."""
        if _NOTHING.fullmatch(rest):
            return rank, value
        if rank is _Rank.BARE or _QUESTION.match(rest):
            return None
        unclear = rank, Refusal(Failure.UNPARSABLE, "unclear")
        if _GOES_ON.match(rest) or _CORRECTION.search(rest[:200]):
            return unclear
        another = _ANOTHER.match(rest)
        if another and self._is_another(rest[another.end() :], value):
            return unclear
        if _JUDGED.match(rest):
            return None
        return (rank if _REMARK.match(rest) else _Rank.INSIDE), value

    def _is_another(self, text: str, value: Any) -> bool:
        label = self._labels.inside.match(text)
        try:
            read = self._grammar.read(text[label.end() if label else 0 :], True)
        except Refusal:
            return True
        return (read is not None and read[0] != value) or text[:1].isdigit()


_ARGUMENTS = frozenset(("arguments", "parameters", "params", "args", "input", "action_input", "kwargs"))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _free_text(text: str, raw: str, start: int, end: int) -> str:
    """Returns a free text as it was written, without the markup and quotes that began before its label."""
    shown = text[start:end]
    line = text.rfind("\n", 0, start) + 1
    written = start  # markup at the beginning of the value itself is blank too
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


def _texts(fields: Mapping[str, Any]) -> int:
    """Returns how many fields hold a text that is no explanation."""
    return sum(isinstance(entry, str) and not EXPLAINS.search(key) for key, entry in fields.items())


def _is_left_over(text: str, opening: str, closing: str) -> bool:
    count = text.count(closing)
    return count % 2 == 1 if opening == closing else count > text.count(opening)


_PAIRS = {'"': '"', "'": "'", "[": "]", "(": ")", "<": ">", "{": "}"}


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
