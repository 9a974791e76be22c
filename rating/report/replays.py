"""Every match of a run in a compact form that the page unpacks when somebody looks at it."""

import base64
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agents.records import Turn
from rating.records.record import Record

_CHUNK = 50
"""Matches packed together: observations repeat from match to match, so larger packs are smaller in sum but slower to open."""


@dataclass(frozen=True)
class Replays:
    """The matches of a run for the page.

    Attributes:
        index: one row a match: id, environment, number, policies, rewards, status, number of turns, chunk, place in it.
        chunks: packed turns, base64 of zlib of JSON.
    """

    index: list[dict[str, Any]]
    chunks: list[str]


def pack(records: Iterable[Record]) -> Replays:
    """Packs the records of a run."""
    index: list[dict[str, Any]] = []
    chunks: list[str] = []
    pending: list[list[dict[str, Any]]] = []

    def flush() -> None:
        if pending:
            packed = zlib.compress(json.dumps(pending, ensure_ascii=False).encode(), 9)
            chunks.append(base64.b64encode(packed).decode())
            pending.clear()

    for record in records:
        seats = record.outcome.seats if record.outcome else ()
        index.append(
            {
                "id": record.match.id,
                "environment": record.match.environment,
                "number": record.match.number,
                "policies": record.match.policies,
                "rewards": [seat.reward for seat in seats] if record.status == "finished" else [],
                "forfeits": [seat.forfeit for seat in seats],
                "status": record.status,
                "error": record.error,
                "turns": len(record.turns),
                "chunk": len(chunks),
                "place": len(pending),
            }
        )
        pending.append([_turn(turn) for turn in record.turns])
        if len(pending) == _CHUNK:
            flush()
    flush()
    return Replays(index, chunks)


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "agent": turn.agent,
        "read": turn.read,
        "action": turn.action,
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
