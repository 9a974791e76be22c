r"""Parsing of replies, for all games.

A reply is parsed in steps, each in a file of ``core/reading``:

1. ``markup``: drops marked reasoning, and turns in the name of a user or a tool.
2. ``blocks``: finds objects, calls (``objects``), answer tags and boxes, parses them separately and masks them; ``markup``:
   replaces the remaining markup by blanks.
3. ``search`` and ``statements``: the lines are searched for labels and values.
4. ``grammar``: ranks the statements and chooses one of them.

Statements are ranked: highest a labelled line, an object, a call, or the contents of an answer tag or box; then a bare move
alone on a line; then a label inside a line. The last statement of the highest rank counts. Different bare moves are refused as
ambiguous. Text in another seat's name, an example, an alternative, a plan, a forecast, an object's other fields and running
prose are not statements. Nothing is guessed: the reply is refused if statements on one line contradict each other, or if it is
unclear whether a later one replaces an earlier one (in a list, below a header, as a number alone on a line). An explanation
after a stated move therefore never changes it. "Wait," and similar words retract earlier statements.

A game only defines its statements, by a ``Grammar``::

    _CHOICE = re.compile(r"(rock|paper|scissors)\b", re.IGNORECASE)

    def _read(text: str, labelled: bool) -> tuple[int, int] | None:
        match = _CHOICE.match(text)
        return (CHOICES.index(match[1].lower()), match.end()) if match else None

    GRAMMAR = Grammar(_read, nouns="choice|shape")

    find("I take rock because ...\n**Choice:** rock</s>", GRAMMAR, "player_0").value  # 0

``find`` raises a ``ParseError`` if nothing is stated; ``_read`` can also raise one, e.g. for a move that cannot exist.
"""

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple

from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.reading.grammar import Grammar, Value, choose
from llmarena_envs.core.reading.markup import clean_text, drop_reasoning, narrow, own_turns
from llmarena_envs.core.reading.search import Search

__all__ = ["MAX_REPLY", "Grammar", "Statement", "clean_text", "find", "quoted", "read_part"]

MAX_REPLY = 100_000
"""Maximum number of characters parsed; only the end of a longer reply is parsed, because moves are stated there."""

MAX_THOUGHT = 1_000_000
"""Maximum number of characters searched for reasoning; long reasoning can exceed ``MAX_REPLY``."""

MAX_QUOTED = 30
"""Maximum number of characters of a reply quoted in a reason."""


class Statement(NamedTuple, Generic[Value]):
    """The statement of a reply.

    Attributes:
        value: the value.
        before: the original text before it, without reasoning.
        fields: the fields of its object, empty if it was not an object.
    """

    value: Value
    before: str
    fields: Mapping[str, Any]


def quoted(text: str) -> str:
    """Returns the beginning of a piece of a reply, to quote it in a reason."""
    text = " ".join(text[: 4 * MAX_QUOTED].split())
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."


def read_part(reply: str) -> str:
    """Returns the parsed part of a reply: its end, without reasoning."""
    return drop_reasoning(reply[-MAX_THOUGHT:])[-MAX_REPLY:]


def find(reply: str, grammar: Grammar[Value], me: str) -> Statement[Value]:
    """Returns the statement of a reply, in linear time.

    Args:
        reply: the player's reply.
        grammar: grammar of a statement.
        me: the seat of the player, as named by ``grammar.seats``.

    Raises:
        ParseError: with the reason ``nothing_stated``, ``unclear`` or ``not_your_name``, or as raised by the grammar.
    """
    text = read_part(reply)
    plain = narrow(text)
    failure = ParseError(Failure.UNPARSABLE, "nothing_stated")
    for start, end in own_turns(plain):
        found = Search(text[start:end], grammar, me, 0).run()
        try:
            chosen = choose(found)
        except ParseError as error:
            if error.reason.name == "nothing_stated":
                continue
            if error.reason.name == "not_your_name":
                failure = error
                continue
            raise
        return Statement(chosen.value, text[start : start + chosen.start], chosen.fields)
    raise failure
