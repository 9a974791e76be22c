"""Every match of a run in a compact form that the page unpacks when somebody looks at it."""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from agents.records import Turn
from rating.records.record import Record

_CHUNK = 50
"""Matches packed together: observations repeat from match to match, so larger packs are smaller in sum but slower to open."""


class Replays:
    """The matches of a run for the page, packed as they are read.

    Args:
        records: of the run; read once, by ``chunks``.

    Attributes:
        index: one row a match: id, environment, number, policies, rewards, status, number of turns, chunk, place in it; complete
            after the last chunk.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = records
        self.index: list[dict[str, Any]] = []

    def chunks(self) -> Iterator[str]:
        """Yields packed turns: base64 of zlib of JSON."""
        pending: list[list[dict[str, Any]]] = []
        number = 0
        for record in self._records:
            self.index.append(_row(record, number, len(pending)))
            pending.append([_turn(turn) for turn in record.turns])
            if len(pending) == _CHUNK:
                yield _pack(pending)
                pending, number = [], number + 1
        if pending:
            yield _pack(pending)


def _pack(matches: list[list[dict[str, Any]]]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(matches, ensure_ascii=False).encode(), 9)).decode()


def _row(record: Record, chunk: int, place: int) -> dict[str, Any]:
    seats = record.outcome.seats if record.outcome else ()
    return {
        "id": record.match.id,
        "environment": record.match.environment,
        "number": record.match.number,
        "policies": record.match.policies,
        "rewards": [seat.reward for seat in seats] if record.status == "finished" else [],
        "forfeits": [seat.forfeit for seat in seats],
        "status": record.status,
        "error": record.error,
        "turns": len(record.turns),
        "chunk": chunk,
        "place": place,
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "agent": turn.agent,
        "read": turn.read,
        "action": turn.action,
        "played": turn.played,
        "fallback": turn.fallback,
        "attempts": [
            {
                "reply": attempt.reply,
                "kind": attempt.kind.name.lower(),
                "message": attempt.message,
                "tokens": [attempt.prompt_tokens, attempt.completion_tokens],
            }
            for attempt in turn.attempts
        ],
    }
