"""Search of a text for statements: first its blocks, then line by line, with the context from the lines above."""

import re
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from llmarena_envs.core.failures import ParseError
from llmarena_envs.core.reading.blocks import cover, read_elements, read_pairs
from llmarena_envs.core.reading.grammar import (
    EXPLAINS,
    HEADER,
    NOT_MEANT,
    UNREADABLE,
    Found,
    Grammar,
    Other,
    Rank,
    Value,
    choose,
    labels,
)
from llmarena_envs.core.reading.markup import EMBEDDED, FENCE, has_text, last_lines, narrow, unwrap
from llmarena_envs.core.reading.objects import MAX_ANSWER_DEPTH, Fields
from llmarena_envs.core.reading.statements import Pending, Statements, Values

_IS_ITEM = re.compile(
    r"[\s>]*+(?:[-*•·+▪](?=\s)|\d{1,2}[.)]\s|(?:turn|round|move|ply|step)[ ]\d{1,3}[ ]?[:.)])", re.IGNORECASE
)
_HEADING = re.compile(r"\s*+(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*\s*+$)")
_CAPTION = re.compile(
    rf"[^\w\n{EMBEDDED}]*+(?P<words>[^\W\d_]\w{{0,20}}+(?:[ ][\w'-]{{1,20}}+){{0,3}}+)[\s*_]*+", re.IGNORECASE
)
_POLITE = re.compile(
    r"sure|ok|okay|yes|well|alright|great|certainly|understood|hello|hi|hmm|so|thanks|done", re.IGNORECASE
)
_SOMETHING_ELSE = re.compile(
    r"\b(?:next|after|later|then|previous\w*|alternativ\w*|option\w*|example\w*|opponent\w*|expected|otherwise|plans?|strategy)\b",
    re.IGNORECASE,
)
_REVISES = re.compile(r"\b(?:better|revised|corrected|improved|updated|final\w*|now)\b|更好|修改|改为", re.IGNORECASE)
# Lines that announce a conclusion: the statement below replaces the one above.
_CONCLUDES = re.compile(
    r"\s*+(?:but|however|instead|(?:or )?rather|no|so|therefore|thus|hence|in conclusion|on (?:second thoughts?|reflection)|"
    r"better(?=\s*+:))\b|\s*+(?:但|不过|所以|因此|于是|综上)|"
    r"[^\n]{0,200}?(?:\b(?:revised|corrected|change (?:my )?mind|final (?:answer|move|action|decision|choice))\b|改为|最终)",
    re.IGNORECASE,
)
_QUOTES = frozenset("\"'“‘「『>|([<{✗✘❌✖×~-•·→")
# Retracts an earlier statement.
_RETRACTS = re.compile(
    r"[^\w\n]*+(?:(?:oh|no|but|ok|okay|well|hmm++)\b[ ,.!…–—-]*+){0,3}+"
    r"(?:wait\b(?! for| until)|oops\b|scratch that|correction\b|on second thoughts?\b|on reflection\b|"
    r"let me (?:re\w++|correct|fix|double|think again)|i (?:take (?:it|that) back|made a mistake|misread)|"
    r"actually,? (?:no\b|i\b|let)|不对|等等|等一下|重新考虑|更正)|[^\w\n]*+hmm",
    re.IGNORECASE,
)


_NOT_MEANT = "not meant"
_OF_SOMETHING = "of something"


@dataclass
class _Context:
    """State of the line parser.

    Attributes:
        pending: a label whose value must be on the next line.
        header: kind of the header above: ``_NOT_MEANT``, ``_OF_SOMETHING`` else, or none.
        below: whether a line followed the header.
        in_list: whether the previous line is an item of a list.
        caption: the line directly above if it is a few words, possibly a caption.
        listed: candidates of the items of the current list.
        differ: whether the items state different values.
        loose: whether a ``_NOT_MEANT`` section has possibly ended, after a statement.
        final: whether the line is labelled as the answer.
        talk: whether other text followed the last statement.
        concluded: whether the previous line announces a conclusion.
    """

    pending: Pending | None = None
    header: str = ""
    below: bool = False
    in_list: bool = False
    caption: str = ""
    listed: list[Found] = field(default_factory=list)
    differ: bool = False
    loose: bool = False
    final: bool = False
    talk: bool = False
    concluded: bool = False


class Lines:
    """Parses the lines of one text.

    Args:
        text: the text without markup, its blocks masked.
        raw: the original text.
        statements: parses and collects the statements of lines.
    """

    def __init__(self, text: str, raw: str, statements: Statements) -> None:
        self._text = text
        self._raw = raw
        self._statements = statements
        self._context = _Context()
        self._fences = [fence.start() for fence in FENCE.finditer(raw)]

    def read(self) -> None:
        """Parses the last lines, in order."""
        context = self._context
        for number, (start, end, gap) in enumerate(last_lines(self._text)):
            if start < self._statements.read_to:
                continue
            is_item = _IS_ITEM.match(self._raw, start, end) is not None
            if context.below and (gap or (context.in_list and not is_item)):
                context.loose = context.header == _NOT_MEANT and self._statements.has_stated()
                context.header = ""
            context.caption = "" if gap else context.caption
            context.below, context.in_list = True, is_item
            before = len(self._statements.found)
            stated = self._statements.has_stated()
            doubtful = is_item or context.loose or bool(context.header)
            doubtful = doubtful or (not context.concluded and (context.talk or self._is_quoted(start, end)))
            context.final = False
            self._read_line(start, end, number)
            if stated and doubtful and not context.final:
                self._statements.doubt(before)
            context.concluded = False
            if len(self._statements.found) == before or self._statements.found[-1].value is UNREADABLE:
                context.concluded = _CONCLUDES.match(self._text, start, end) is not None
                context.talk = not context.concluded
            if is_item:
                self._drop_options(before)
            else:
                context.listed, context.differ = [], False

    def _is_quoted(self, start: int, end: int) -> bool:
        """Says whether a line is quoted, in brackets, in a table or in code, and so possibly about another move."""
        line = self._raw[start:end].lstrip(" \t*_`#")
        if line[:1] in _QUOTES and EMBEDDED not in self._text[start:end]:
            return True
        return self._statements.takes_any_line or bisect(self._fences, start) % 2 == 1

    def _drop_options(self, before: int) -> None:
        """Drops the candidates of a list of different moves: they are options, not statements."""
        context, statements = self._context, self._statements
        items = statements.found[before:]
        context.listed += items
        context.differ = context.differ or any(item.value != context.listed[0].value for item in items)
        if context.differ:
            options = {id(item) for item in context.listed}
            statements.found = [found for found in statements.found if id(found) not in options]
            del context.listed[1:]

    def _read_line(self, start: int, end: int, number: int) -> None:
        context, statements = self._context, self._statements
        below_caption, context.caption = context.caption, ""
        if below_caption and statements.has_stated() and _SOMETHING_ELSE.search(below_caption):
            return
        if _RETRACTS.match(self._text, start, end) and statements.found:
            statements.found.append(Found(Rank.LABELLED, start, UNREADABLE, number))
        label = statements.find_label(start, end)
        pending, context.pending = context.pending, None
        context.final = self._is_final(label, start, end)
        if pending is not None and label is None:
            statements.read_pending(pending, start, number)
            return
        if label:
            if context.header == _NOT_MEANT and not label["answer"]:
                return
            context.header = ""
            context.pending = statements.read_label(label, start, end, number)
            return
        if self._read_header(start, end) or context.header == _NOT_MEANT:
            return
        if statements.read_embedded(start, end, number):
            return
        if not context.header and statements.read_bare(start, end, number, named=bool(below_caption)):
            return
        statements.read_talk(start, end, number)
        context.caption = self._caption(start, end)

    def _is_final(self, label: re.Match[str] | None, start: int, end: int) -> bool:
        """Says whether a line is labelled as the answer, or holds an answer tag or a box."""
        position = self._text.find(EMBEDDED, start, end)
        boxed = position >= 0 and (self._raw[position] in "<[＜［" or self._raw[position - 1 : position] == "{")
        return boxed or (label is not None and label["answer"] is not None)

    def _read_header(self, start: int, end: int) -> bool:
        """Parses a header; returns whether the line cannot hold a statement."""
        context = self._context
        named = HEADER.match(self._text, start, end)
        if named:
            words = named["words"]
        elif _HEADING.match(self._raw, start, end) and EMBEDDED not in self._text[start:end]:
            words = self._text[start:end]
        else:
            return False
        not_meant = NOT_MEANT.search(words) is not None or (
            EXPLAINS.search(words) is not None and self._statements.has_stated()
        )
        below = not has_text(self._text, named.end(), end) if named else not_meant
        if below:
            of_something = "" if _REVISES.search(words) else _OF_SOMETHING
            context.header, context.below = _NOT_MEANT if not_meant else of_something, False
            context.loose = False
        return below or not_meant

    def _caption(self, start: int, end: int) -> str:
        caption = _CAPTION.fullmatch(self._text, start, end)
        return caption["words"] if caption and not _POLITE.match(caption["words"]) else ""


class Search(Generic[Value]):
    """Collects the candidates of one text.

    Args:
        raw: the original text.
        grammar: grammar of a statement.
        me: the player whose statement counts.
        depth: number of enclosing tags, boxes and objects.
    """

    def __init__(self, raw: str, grammar: Grammar[Value], me: str, depth: int) -> None:
        self._raw = raw
        self._grammar = grammar
        self._me = me
        self._depth = depth
        self._fields = Fields(grammar, me, self._read_piece)

    def run(self) -> list[Found]:
        """Returns the candidates in order."""
        if self._depth > MAX_ANSWER_DEPTH:
            return []
        text, blocks = cover(self._raw, self._grammar.nouns)
        embedded = {}
        for block in blocks:
            if block.content is None:
                continue
            value, fields = self._read_block(block.content)
            if value is not None:
                embedded[block.start] = Found(Rank.LABELLED, block.start, value, fields=fields)
        statements = Statements(text, self._raw, self._grammar, self._me, embedded)
        Lines(text, self._raw, statements).read()
        if all(found.value is UNREADABLE or isinstance(found.value, Other) for found in statements.found):
            statements.found += self._read_pairs(text)
        return statements.found

    def _read_pairs(self, text: str) -> list[Found]:
        """Returns the candidates of fields written one per line."""
        stated = []
        for fields in read_pairs(text):
            value: Any
            try:
                value = self._grammar.fields({"_".join(key.lower().split()): value for key, value in fields.items()})
            except ParseError as error:
                value = error
            if value is not None:
                stated.append(Found(Rank.BARE, 0, value))
        return stated

    def _read_block(self, content: Mapping[str, Any] | str) -> tuple[Any, Mapping[str, Any]]:
        """Returns the value of a block, and the fields of its object."""
        if not isinstance(content, str):
            return self._fields.read(content, self._depth), content
        elements = read_elements(content)
        value = self._fields.read(elements, self._depth) if elements else None
        return self._read_piece(content) if value is None else (value, elements)

    def _read_piece(self, content: str) -> tuple[Any, Mapping[str, Any]]:
        """Parses a text that should hold only a statement."""
        search = Search(content, self._grammar, self._me, self._depth + 1)
        try:
            chosen = choose(search.run())
            return chosen.value, chosen.fields
        except ParseError as error:
            if error.reason.name == "not_your_name":
                return Other(error.reason.fields["name"]), {}
            if error.reason.name != "nothing_stated":
                return error, {}
        text = unwrap(narrow(content))[0]
        grammar = self._grammar
        if "\n" in text.strip() and grammar.lines == 1:
            return (None if grammar.free else UNREADABLE), {}
        values = Values(grammar, labels(grammar.nouns, grammar.seats, grammar.free))
        found = values.read(text, content, 0, len(text), Rank.LABELLED)
        return (UNREADABLE if found is None or found[0] is Rank.INSIDE else found[1]), {}
