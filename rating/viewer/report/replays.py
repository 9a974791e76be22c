"""Matches of a run in a compressed form, which the page unpacks on demand."""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agents.models.prompts.conversation import PROMPT
from agents.models.prompts.form import FORM
from agents.records import Attempt, Turn
from agents.turn import TurnSettings
from llmarena_envs.core.transcript import Scene
from rating.store.records import Record
from rating.store.replay import PromptReader, tell
from rating.viewer.report.match_index import MatchIndex
from rating.viewer.report.prompts import pack_prompts

_CHUNK = 50
"""Matches per pack. Observations repeat across matches: larger packs compress better, but open more slowly."""

_LEVEL = 6
"""Compression level of zlib. With 9, long debates are 7 % smaller, but compression is ten times slower."""

_LARGE = 4_000_000
"""Maximum characters of a pack, exceeded by at most one match."""

_DECIMALS = 2
"""Decimals of seconds."""

DRAWN_TURNS = 4_000
"""Maximum number of turns per environment with drawn positions, in the first matches."""


class Replays:
    """The matches of a run for the page, packed while they are read.

    Args:
        records: records of the run; read once, by ``chunks``.
        costs: formatted cost of each match, by id.
        rules: rules texts by environment and agent, as in the page.
        settings: turn settings with the invalid-reply policy, by environment.

    Attributes:
        index: index of the matches; complete after the last chunk.
    """

    def __init__(
        self,
        records: Iterable[Record],
        costs: Mapping[str, str],
        rules: Mapping[str, Mapping[str, str]],
        settings: Mapping[str, TurnSettings],
    ) -> None:
        self._records = records
        self._costs = costs
        self._rules = rules
        self._prompts = PromptReader(settings)
        self._turns: Counter[str] = Counter()
        self.index = MatchIndex()

    def chunks(self) -> Iterator[str]:
        """Yields packs of matches with transcripts, turns and positions: base64 of zlib of JSON."""
        pending: list[str] = []
        size = 0
        for record in self._records:
            self.index.add(record, self._costs.get(record.match.id, ""), len(pending))
            pending.append(json.dumps(self._content(record), ensure_ascii=False))
            size += len(pending[-1])
            if len(pending) == _CHUNK or size > _LARGE:
                yield pack(f"[{','.join(pending)}]")
                pending, size = [], 0
        if pending:
            yield pack(f"[{','.join(pending)}]")

    def _content(self, record: Record) -> dict[str, Any]:
        """Returns the page data of a match."""
        self._turns[record.match.environment] += len(record.turns)
        drawn = self._turns[record.match.environment] <= DRAWN_TURNS
        story = tell(record, draw=drawn)
        prompts = self._prompts.read(record)
        packed = pack_prompts(record, prompts, self._rules.get(record.match.environment, {}))
        return {
            "seats": {seat.agent: seat.policy for seat in record.outcome.seats} if record.outcome else {},
            "turns": [_turn(turn, packed) for turn in record.turns],
            "promptless": prompts.missing,
            # After the turns: judges read most of the transcript in the last ones, which improves compression.
            "story": [_scene(scene) for scene in story.scenes],
            "drawn": drawn,
            "pictures": story.pictures,
            "missing": story.missing,
        }


def pack(text: str) -> str:
    """Returns base64 of zlib of a text, which cannot contain markup."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), _LEVEL)).decode()


def _scene(scene: Scene) -> dict[str, Any]:
    return {
        "speaker": scene.speaker,
        "heading": scene.heading,
        "hidden": bool(scene.hidden_from),
        "remarks": scene.remarks,
        "text": scene.text,
    }


def _turn(turn: Turn, prompts: Mapping[tuple[int, int], list[Any]]) -> dict[str, Any]:
    return {
        "agent": turn.agent,
        "read": turn.read,
        "action": turn.action,
        "played": turn.played,
        "fallback": turn.fallback,
        "attempts": [
            {
                **_attempt(attempt),
                **({"prompt": prompts[turn.index, number]} if (turn.index, number) in prompts else {}),
            }
            for number, attempt in enumerate(turn.attempts)
        ],
    }


def _attempt(attempt: Attempt) -> dict[str, Any]:
    """Returns the page data of a reply, without empty values."""
    shown = {
        "reply": attempt.reply,
        "kind": attempt.kind.name.lower(),
        "message": attempt.message,
        "seconds": round(attempt.seconds, _DECIMALS),
        "waited": round(attempt.waited, _DECIMALS),
        "calls": attempt.calls,
        "request_id": attempt.request_id,
        "reasoning": attempt.reasoning,
        "detail": {name: value for name, value in (attempt.detail or {}).items() if name not in (FORM, PROMPT)},
    }
    counts = [attempt.prompt_tokens, attempt.completion_tokens, attempt.cached_tokens, attempt.reasoning_tokens]
    if any(count != 0 for count in counts):
        shown["tokens"] = counts
    return {name: value for name, value in shown.items() if value or name in ("reply", "kind", "message", "tokens")}
