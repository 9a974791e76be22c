r"""Reading replies: one path for all games.

A reply is read in steps, each in a file of ``core/reading``:

1. ``reasoning``: what is marked as reasoning is dropped; ``turns``: what is said in the name of a user or a tool is cut off.
2. ``blocks``: objects, calls, answer tags and boxes are found (``objects``, ``calls``, ``elements``, ``tags``), read by
   themselves (``fields``) and covered; ``markup``: what models wrap the rest in is blanked out.
3. ``lines`` and ``statements``: the lines are searched for labels (``labels``) and values (``values``).
4. ``candidates``: one of the statements found counts.

A statement has a rank: labelled on a line of its own, an object, a call, or the contents of an answer tag or box; then a bare
move alone on a line; then a label inside a line. The last one of the highest rank counts; bare moves that differ are refused,
for none of them says that it is the answer. What is said in another seat's name, as an example, an alternative, a plan or a
forecast, in an object's other fields or in running prose is none. Nothing is guessed: where statements contradict each other on
one line, or where what follows a statement may or may not replace it (in a list, below a header, as a number alone on a line),
the reply is refused. So what follows a stated move as explanation never changes it. "Wait,"
and the like take back what stands before.

A game only says what a statement of its own looks like, by a ``Grammar``::

    _CHOICE = re.compile(r"(rock|paper|scissors)\b", re.IGNORECASE)

    def _read(text: str, labelled: bool) -> tuple[int, int] | None:
        match = _CHOICE.match(text)
        return (CHOICES.index(match[1].lower()), match.end()) if match else None

    GRAMMAR = Grammar(_read, nouns="choice|shape")

    find("I take rock because ...\n**Choice:** rock</s>", GRAMMAR, "player_0").value  # 0

``find`` raises a ``Refusal`` if nothing is stated; a ``_read`` may raise one too, for a move that cannot exist, say.
"""

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple

from llmarena_envs.core.failures import Failure, Refusal
from llmarena_envs.core.reading.candidates import choose
from llmarena_envs.core.reading.grammar import Grammar, Value
from llmarena_envs.core.reading.markup import clean_text, narrow
from llmarena_envs.core.reading.reasoning import drop_reasoning
from llmarena_envs.core.reading.search import Search
from llmarena_envs.core.reading.turns import own_turns

__all__ = ["MAX_REPLY", "Grammar", "Statement", "clean_text", "find", "quoted", "read_part"]

MAX_REPLY = 100_000
"""Characters of a reply that are read; a move is stated at the end, so the beginning of a longer one is dropped."""

MAX_THOUGHT = 1_000_000
"""Characters of a reply in which reasoning is looked for; that of a model which thinks long may be longer than what is read."""

MAX_QUOTED = 30
"""Characters of a reply that a reason names."""


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


def quoted(text: str) -> str:
    """Returns the beginning of a piece of a reply, for a reason that names it."""
    text = " ".join(text[: 4 * MAX_QUOTED].split())
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "..."


def read_part(reply: str) -> str:
    """Returns the part of a reply that is read: its end, without reasoning."""
    return drop_reasoning(reply[-MAX_THOUGHT:])[-MAX_REPLY:]


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
        found = Search(text[start:end], grammar, me, 0).run()
        try:
            chosen = choose(found)
        except Refusal as error:
            if error.reason.name == "nothing_stated":
                continue
            if error.reason.name == "not_your_name":
                refusal = error
                continue
            raise
        return Statement(chosen.value, text[start : start + chosen.start], chosen.fields)
    raise refusal
