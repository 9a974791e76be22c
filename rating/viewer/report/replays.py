"""Matches of a run in a compressed form, which the page unpacks on demand."""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agents.models.prompts.conversation import PROMPT
from agents.models.prompts.form import FORM
from agents.records import Attempt, Turn
from agents.turn import TurnSettings
from llmarena_envs.core.transcript import Scene
from rating.blame.drawing import curve
from rating.blame.results import Blame
from rating.store.records import Glance, Record
from rating.store.replay import PromptReader, Prompts, Story, tell
from rating.viewer.report.match_index import MatchIndex, replies_in
from rating.viewer.report.pieces import ELEMENTS, LINES, Pieces
from rating.viewer.report.prompts import pack_prompts

_CHUNK = 100
"""Matches per pack. Observations repeat across matches: larger packs compress better, but open more slowly."""

_LEVEL = 6
"""Compression level of zlib. With 9, long debates are 7 % smaller, but compression is ten times slower."""

_LARGE = 4_000_000
"""Maximum characters of a pack, exceeded by at most one match."""

_DECIMALS = 2
"""Decimals of seconds."""

DRAWN_TURNS = 2_000
"""Maximum number of turns per environment with drawn positions, in the first matches."""

_NO_BLAMES: Mapping[str, Sequence[Blame]] = {}


class Replays:
    """The matches of a run for the page, packed while they are read.

    Args:
        records: records of the run; read once, by ``chunks``.
        costs: formatted cost of each match, by id.
        rules: rules texts by environment and agent.
        settings: turn settings with the invalid-reply policy, by environment.
        blames: results of ``llmarena blame`` by match.
    """

    def __init__(
        self,
        records: Iterable[Record],
        costs: Mapping[str, str],
        rules: Mapping[str, Mapping[str, str]],
        settings: Mapping[str, TurnSettings],
        blames: Mapping[str, Sequence[Blame]] = _NO_BLAMES,
    ) -> None:
        self._records = records
        self._costs = costs
        self._rules = rules
        self._prompts = PromptReader(settings)
        self._blames = blames
        self._turns: Counter[str] = Counter()
        self._index = MatchIndex()

    def chunks(self) -> Iterator[str]:
        """Yields packs of matches with transcripts, turns and positions: base64 of zlib of JSON."""
        pending, pieces, size = list[str](), Pieces(), 0
        for record in self._records:
            identity = record.match.id
            glance = Glance(record.match, record.outcome, len(record.turns), record.error, record.tries)
            self._index.add(
                glance,
                replies_in(record),
                identity,
                record.status,
                turns=len(record.turns),
                cost=self._costs.get(identity, ""),
                place=len(pending),
            )
            pending.append(_json(_in_pieces(self._content(record), pieces)))
            size += len(pending[-1])
            if len(pending) == _CHUNK or size + pieces.size > _LARGE:
                yield _packed(pending, pieces)
                pending, pieces, size = [], Pieces(), 0
        if pending:
            yield _packed(pending, pieces)

    def index(self) -> str:
        """Returns the index of the matches, packed; complete after the last chunk."""
        return pack(index_text(self._index, self._rules))

    def _content(self, record: Record) -> dict[str, Any]:
        environment = record.match.environment
        self._turns[environment] += len(record.turns)
        drawn = self._turns[environment] <= DRAWN_TURNS
        story = tell(record, draw=drawn)
        content = match_content(record, story, self._prompts.read(record), self._rules.get(environment, {}))
        curves = [curve(result) for result in self._blames.get(record.match.id, ())]
        return {**content, "drawn": drawn, "pictures": story.pictures, "curves": curves}


def index_text(index: MatchIndex, rules: Mapping[str, Mapping[str, str]]) -> str:
    """Returns the index of the page as JSON: ``MatchIndex.table`` with the rules and agents by environment."""
    agents = {environment: list(table) for environment, table in rules.items()}
    table = {**index.table(), "rules": rules, "agents": agents, "drawn": DRAWN_TURNS}
    return json.dumps(table, separators=(",", ":"))


def match_content(record: Record, story: Story, prompts: Prompts, rules: Mapping[str, str]) -> dict[str, Any]:
    """Returns a match as JSON values for the page.

    Args:
        record: the match.
        story: its transcript.
        prompts: prompts of its models.
        rules: rules text by agent, as in the index.
    """
    packed = pack_prompts(record, prompts, rules)
    return {
        "seats": {seat.agent: seat.policy for seat in record.outcome.seats} if record.outcome else {},
        "turns": [_turn(turn, packed) for turn in record.turns],
        "promptless": prompts.missing,
        # After the turns: judges read most of the transcript in the last ones, which improves compression.
        "story": [_scene(scene) for scene in story.scenes],
        "missing": story.missing,
    }


def pack(text: str) -> str:
    """Returns base64 of zlib of a text, which cannot contain markup."""
    return base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), _LEVEL)).decode()


def _packed(matches: Iterable[str], pieces: Pieces) -> str:
    return pack(f'{{"pieces":{_json(pieces.table())},"matches":[{",".join(matches)}]}}')


def _in_pieces(content: dict[str, Any], pieces: Pieces) -> dict[str, Any]:
    """Returns the page data of a match with its observations and drawings as runs of pieces."""
    turns = [{**turn, "read": pieces.runs(turn["read"], LINES)} for turn in content["turns"]]
    return {**content, "turns": turns, "pictures": [pieces.runs(svg, ELEMENTS) for svg in content["pictures"]]}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
