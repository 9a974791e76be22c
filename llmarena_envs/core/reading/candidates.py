"""Candidates for the statement of a reply, and the choice among them."""

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Failure, ParseError


class Rank(IntEnum):
    """Priority of a candidate: a label inside a line, a bare value on a line, a labelled line or an object."""

    INSIDE = 1
    BARE = 2
    LABELLED = 3


class Found(NamedTuple):
    """A candidate.

    Attributes:
        rank: priority.
        start: start offset.
        value: value, or a ``ParseError``, ``Other`` or ``UNREADABLE``.
        line: line number.
        seat: whether it follows the name of a seat.
        fields: fields of the source object.
        vague: whether it is possibly about something else, e.g. after ``Best response:``, before a remark, or after a
            statement; it does not replace another candidate.
        early: whether it is a bare value above the last line in a grammar where only the last line counts; it only conflicts
            with other candidates.
    """

    rank: Rank
    start: int
    value: Any
    line: int = 0
    seat: bool = False
    fields: Mapping[str, Any] = {}
    vague: bool = False
    early: bool = False


UNREADABLE = object()
"""Value of a final answer that cannot be parsed."""


class Other(NamedTuple):
    """A statement in the name of another player."""

    name: str


def choose(found: Iterable[Found]) -> Found:
    """Returns the last candidate of the highest rank; unlabelled candidates must all agree.

    Raises:
        ParseError: with ``nothing_stated``, ``not_your_name``, or the error of the chosen candidate.
    """
    own: list[Found] = []
    early: list[Found] = []
    other: Found | None = None
    exchanges = 0
    for candidate in found:
        if candidate.value is UNREADABLE:
            own.clear()  # an unreadable final answer overrides earlier candidates
            early.clear()
        elif isinstance(candidate.value, Other):
            other = candidate
        elif candidate.early:
            early.append(candidate)
        elif other and own and candidate.seat and own[-1].seat and own[-1].line < other.line:
            # Either past moves and then one's own, or one's own and then a forecast.
            exchanges += 1
            in_a_row = own[-1].line + 2 == other.line + 1 == candidate.line
            own.append(
                candidate._replace(value=unclear(candidate, own[-1])) if in_a_row or exchanges > 1 else candidate
            )
        else:
            own.append(candidate)
    if own:
        highest = max(candidate.rank for candidate in own)
        ranked = [candidate for candidate in own if candidate.rank is highest]
        chosen = ranked[-1]
        if highest is not Rank.LABELLED:
            rivals = ranked + early
        elif chosen.vague:
            stated = [candidate for candidate in own if candidate.rank > Rank.INSIDE] + early
            rivals = [candidate for candidate in stated if not candidate.vague][-1:] or stated
        else:
            rivals = []
        if any(candidate.value != chosen.value for candidate in rivals):
            raise ParseError(Failure.UNPARSABLE, "unclear")
        if isinstance(chosen.value, ParseError):
            raise chosen.value
        return chosen
    if other:
        raise ParseError(Failure.ILLEGAL, "not_your_name", name=other.value.name)
    raise ParseError(Failure.UNPARSABLE, "nothing_stated")


def unclear(one: Found, another: Found) -> Any:
    """Returns the value that two candidates share, or a ``ParseError``."""
    return one.value if one.value == another.value else ParseError(Failure.UNPARSABLE, "unclear")
