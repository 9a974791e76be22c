"""Index of a run's matches for the page: columns of numbers, with repeated values stored once."""

from collections.abc import Hashable, Mapping, Set
from typing import Any, NamedTuple

from llmarena_envs.core.failures import Failure
from rating.store.export import FAILURES
from rating.store.records import FINISHED, VOID, Glance, Outcome, Record

PROVIDER, REASKED, FALLBACK = "provider error", "asked again", "fallback"
TROUBLES = (*FAILURES, PROVIDER, REASKED, FALLBACK)
"""Problems of a match, as bits of the column ``troubles``: kinds of invalid replies, provider error (match replayed or void),
re-ask, fallback move."""


class Replies(NamedTuple):
    """What went wrong with the replies of a match.

    Attributes:
        bad: number of invalid replies.
        troubles: those of ``TROUBLES`` that occurred.
    """

    bad: int
    troubles: Set[str]


def replies_in(record: Record) -> Replies:
    """Returns what went wrong in a match by its turns, which void and unfinished matches have as well."""
    kinds = [attempt.kind for turn in record.turns for attempt in turn.attempts]
    reasked = any(len(turn.attempts) > 1 for turn in record.turns)
    found = _troubles(
        record.outcome, record.tries, {REASKED: reasked, FALLBACK: any(turn.fallback for turn in record.turns)}
    )
    return Replies(sum(kind is not Failure.OK for kind in kinds), found | {kind.name.lower() for kind in kinds})


def replies_at(glance: Glance) -> Replies:
    """Returns what went wrong in a match by its outcome: nothing yet in an unfinished match."""
    seats = glance.outcome.seats if glance.outcome else ()
    kinds = {kind for seat in seats for kind in seat.failures}
    fallback = any(seat.fallbacks for seat in seats)
    found = _troubles(glance.outcome, glance.tries, {REASKED: any(seat.reasks for seat in seats), FALLBACK: fallback})
    return Replies(sum(sum(seat.failures.values()) for seat in seats), found | kinds)


def _troubles(outcome: Outcome | None, tries: int, found: Mapping[str, bool]) -> Set[str]:
    failed = tries > 1 or (outcome is not None and outcome.status == VOID)
    return {name for name, is_found in found.items() if is_found} | ({PROVIDER} if failed else set())


class MatchIndex:
    """Columns of the index. Matches are added in the order of the records."""

    def __init__(self) -> None:
        self._columns: dict[str, list[int]] = {
            name: []
            for name in ("environment", "number", "policies", "result", "turns", "bad", "troubles", "cost", "place")
        }
        self._ids: list[str] = []
        self._values: dict[str, dict[Hashable, int]] = {
            name: {} for name in ("environment", "policies", "result", "cost")
        }

    def add(
        self, glance: Glance, replies: Replies, identity: str, status: str, *, turns: int, cost: str, place: int = 0
    ) -> None:
        """Adds a match.

        Args:
            glance: the match with its outcome.
            replies: what went wrong with its replies.
            identity: id of the match.
            status: status of the match, in words.
            turns: number of turns played.
            cost: formatted cost.
            place: position of the match in its pack; 0 starts a new pack.
        """
        match, outcome = glance.match, glance.outcome
        seats = outcome.seats if outcome else ()
        rewards = tuple(seat.reward for seat in seats) if status == FINISHED else ()
        forfeits = tuple(seat.forfeit for seat in seats)
        if not any(forfeits):
            forfeits = ()
        row = {
            "environment": self._code("environment", match.environment),
            "number": match.number,
            "policies": self._code("policies", match.policies),
            "result": self._code("result", (status, rewards, forfeits, glance.error)),
            "turns": turns,
            "bad": replies.bad,
            "troubles": sum((name in replies.troubles) << bit for bit, name in enumerate(TROUBLES)),
            "cost": self._code("cost", cost),
            "place": place,
        }
        for name, value in row.items():
            self._columns[name].append(value)
        self._ids.append(identity)

    def _code(self, column: str, value: Hashable) -> int:
        values = self._values[column]
        return values.setdefault(value, len(values))

    def table(self) -> dict[str, Any]:
        """Returns the index as JSON values.

        ``columns`` has one number per match in each column. Numbers of ``environment``, ``policies``, ``result`` and ``cost``
        are indices into ``values``, where a result is ``[status, rewards, forfeits, error]``. The bits of ``troubles`` follow
        the order of ``kinds``. A ``place`` of 0 starts the next pack. ``ids`` is the concatenation of all match ids, 16 digits
        each.
        """
        return {
            "columns": self._columns,
            "values": {name: list(values) for name, values in self._values.items()},
            "kinds": TROUBLES,
            "ids": "".join(self._ids),
        }
