"""Every match of a run in a compact form that the page unpacks when somebody looks at it."""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.records import Turn
from llmarena_envs.core.narration import Scene
from rating.records.record import Record
from rating.records.stories import tell

_CHUNK = 50
"""Matches packed together: observations repeat from match to match, so larger packs are smaller in sum but slower to open."""

_LEVEL = 6
"""Of compression: with 9, long debates pack 7 % smaller and ten times as slowly."""

_LARGE = 4_000_000
"""Characters from which on a pack is full whatever the number of its matches."""

DRAWN_TURNS = 4_000
"""Turns of each environment of which positions are drawn: those of its first matches, as long as this is not exceeded."""


class Replays:
    """The matches of a run for the page, packed as they are read.

    Args:
        records: of the run; read once, by ``chunks``.
        costs: what each match cost as it is written, by its id.

    Attributes:
        index: one row a match: id, environment, number, policies, rewards, status, number of turns, cost, chunk, place in it;
            complete after the last chunk.
    """

    def __init__(self, records: Iterable[Record], costs: Mapping[str, str]) -> None:
        self._records = records
        self._costs = costs
        self._turns: Counter[str] = Counter()
        self.index: list[dict[str, Any]] = []

    def chunks(self) -> Iterator[str]:
        """Yields packed matches, what happened in them, their turns and positions: base64 of zlib of JSON."""
        pending: list[str] = []
        number, size = 0, 0
        for record in self._records:
            self.index.append({**_row(record, number, len(pending)), "cost": self._costs.get(record.match.id, "")})
            pending.append(json.dumps(self._content(record), ensure_ascii=False))
            size += len(pending[-1])
            if len(pending) == _CHUNK or size > _LARGE:
                yield _pack(pending)
                pending, number, size = [], number + 1, 0
        if pending:
            yield _pack(pending)

    def _content(self, record: Record) -> dict[str, Any]:
        """Returns what is shown of a match that somebody looks at."""
        self._turns[record.match.environment] += len(record.turns)
        drawn = self._turns[record.match.environment] <= DRAWN_TURNS
        story = tell(record, draw=drawn)
        return {
            "seats": {seat.agent: seat.policy for seat in record.outcome.seats} if record.outcome else {},
            "turns": [_turn(turn) for turn in record.turns],
            # Behind the last turns, in which judges read most of it: so it packs best.
            "story": [_scene(scene) for scene in story.scenes],
            "drawn": drawn,
            "pictures": story.pictures,
            "missing": story.missing,
        }


def _pack(matches: list[str]) -> str:
    return base64.b64encode(zlib.compress(f"[{','.join(matches)}]".encode("utf-8", "replace"), _LEVEL)).decode()


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


def _scene(scene: Scene) -> dict[str, Any]:
    return {
        "speaker": scene.speaker,
        "heading": scene.heading,
        "hidden": bool(scene.hidden_from),
        "remarks": scene.remarks,
        "text": scene.text,
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
                **({"reasoning": attempt.reasoning} if attempt.reasoning else {}),
            }
            for attempt in turn.attempts
        ],
    }
