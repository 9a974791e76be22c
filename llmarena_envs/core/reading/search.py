"""Search of a text for statements: first its objects, calls, answer tags and boxes, then its lines."""

from collections.abc import Mapping
from typing import Any, Generic

from llmarena_envs.core.failures import ParseError
from llmarena_envs.core.reading.blocks import cover
from llmarena_envs.core.reading.candidates import UNREADABLE, Found, Other, Rank, choose
from llmarena_envs.core.reading.elements import read_elements, read_pairs
from llmarena_envs.core.reading.fields import MAX_DEPTH, Fields
from llmarena_envs.core.reading.grammar import Grammar, Value
from llmarena_envs.core.reading.labels import labels
from llmarena_envs.core.reading.lines import Lines
from llmarena_envs.core.reading.markup import narrow, unwrap
from llmarena_envs.core.reading.statements import Statements
from llmarena_envs.core.reading.values import Values


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
        if self._depth > MAX_DEPTH:
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
