"""Index of a run's matches for the page: columns of numbers, with repeated values stored once."""

from collections.abc import Hashable
from typing import Any

from llmarena_envs.core.failures import Failure
from rating.store.export import FAILURES
from rating.store.records import VOID, Record

PROVIDER, REASKED, FALLBACK = "provider error", "asked again", "fallback"
TROUBLES = (*FAILURES, PROVIDER, REASKED, FALLBACK)
"""Problems of a match, as bits of the column ``troubles``: kinds of invalid replies, provider error (match replayed or void),
re-ask, fallback move."""


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

    def add(self, record: Record, cost: str, place: int) -> None:
        """Adds a match.

        Args:
            record: recorded match.
            cost: formatted cost.
            place: position of the match in its pack; 0 starts a new pack.
        """
        match = record.match
        seats = record.outcome.seats if record.outcome else ()
        rewards = tuple(seat.reward for seat in seats) if record.status == "finished" else ()
        forfeits = tuple(seat.forfeit for seat in seats)
        if not any(forfeits):
            forfeits = ()
        kinds = [attempt.kind for turn in record.turns for attempt in turn.attempts]
        row = {
            "environment": self._code("environment", match.environment),
            "number": match.number,
            "policies": self._code("policies", match.policies),
            "result": self._code("result", (record.status, rewards, forfeits, record.error)),
            "turns": len(record.turns),
            "bad": sum(kind is not Failure.OK for kind in kinds),
            "troubles": _troubles(record, {kind.name.lower() for kind in kinds}),
            "cost": self._code("cost", cost),
            "place": place,
        }
        for name, value in row.items():
            self._columns[name].append(value)
        self._ids.append(match.id)

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


def _troubles(record: Record, kinds: set[str]) -> int:
    found = {
        **{name: name in kinds for name in FAILURES},
        PROVIDER: record.status == VOID or record.tries > 1,
        REASKED: any(len(turn.attempts) > 1 for turn in record.turns),
        FALLBACK: any(turn.fallback for turn in record.turns),
    }
    return sum(found[name] << bit for bit, name in enumerate(TROUBLES))
