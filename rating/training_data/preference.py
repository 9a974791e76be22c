"""Rows for learning from preferences, as by DPO (Rafailov et al., arXiv 2305.18290): two replies to the same prompt.

A reply that was no move stands against the move that its turn ended in; and moves of several matches of one deal, made in the
same seat after the same messages, against each other by what they led to.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.chat import Message
from rating.training_data.columns import MESSAGE, ORIGIN, Part
from rating.training_data.conversations import prompts_of
from rating.training_data.grpo import prompt_id
from rating.training_data.spool import Spool, dump, load

REASK = "reask"
DEAL = "deal"
_SIDE = {"policy": "string", "match": "string", "kind": "string", "reward": "float64"}


@dataclass(frozen=True)
class Preference:
    """Which pairs there are.

    Attributes:
        margin: by how much the mean reward of the chosen reply is above that of the rejected one, at least, where both are moves.
        rejected: whether replies that were no move stay in the prompts.
        directory: where replies wait on disk for others to the same prompt.
    """

    margin: float = 0.0
    rejected: bool = False
    directory: Path | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a row and their types."""
        texts = {"prompt": [MESSAGE], "chosen": [MESSAGE], "rejected": [MESSAGE]}
        sides = {f"{side}_{name}": kind for side in ("chosen", "rejected") for name, kind in _SIDE.items()}
        return {**texts, "source": "string", "turn": "int32", "agent": "string", **sides, **ORIGIN}

    def rows(self, parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
        """Yields the pairs of single turns as they come, then those of whole deals."""
        with _Replies(self.directory) as replies:
            for part in parts:
                for conversation in part.seat.conversations:
                    moves = {reply.turn: reply for reply in conversation if reply.is_move}
                    for prompt, reply in prompts_of(conversation, rejected=self.rejected):
                        if reply.is_move:
                            said = _Said(reply.text, part.policy, part.match, "ok", part.reward, reply.played)
                            replies.add(part, prompt, reply.turn, said)
                        elif (move := moves.get(reply.turn)) and move.text != reply.text:
                            refused = _Said(reply.text, part.policy, part.match, reply.kind.name.lower(), None)
                            chosen = _Said(move.text, part.policy, part.match, "ok", part.reward)
                            row = _common(part, prompt, reply.turn)
                            yield _pair(REASK, row, chosen, refused)
            yield from replies.pairs(self.margin)


@dataclass(frozen=True)
class _Said:
    """One side of a pair: the text, the fields of ``_SIDE``, and the move that it states."""

    text: str
    policy: str
    match: str
    kind: str
    reward: float | None
    played: str = ""


def _common(part: Part, prompt: list[Message], turn: int) -> dict[str, Any]:
    origin = part.origin()
    return {"prompt": prompt, "turn": turn, "agent": part.seat.agent, **{name: origin[name] for name in ORIGIN}}


def _pair(source: str, row: dict[str, Any], chosen: _Said, rejected: _Said) -> dict[str, Any]:
    pair = {**row, "source": source}
    for side, said in (("chosen", chosen), ("rejected", rejected)):
        pair[side] = [{"role": "assistant", "content": said.text}]
        pair |= {f"{side}_{name}": getattr(said, name) for name in _SIDE}
    return pair


class _Replies(Spool):
    """Moves by the prompt that they answer; equal texts to one prompt are one reply with the mean of their rewards."""

    def __init__(self, directory: Path | None) -> None:
        super().__init__(
            "CREATE TABLE prompt (id INTEGER PRIMARY KEY, key TEXT UNIQUE, data BLOB);"
            "CREATE TABLE reply (id INTEGER PRIMARY KEY, prompt INTEGER, text BLOB, total REAL, times INTEGER, data BLOB,"
            " UNIQUE (prompt, text))",
            directory,
        )

    def add(self, part: Part, prompt: list[Message], turn: int, said: _Said) -> None:
        """Puts a move aside."""
        key = prompt_id(part, prompt)
        known = self._db.execute("SELECT id FROM prompt WHERE key = ?", (key,)).fetchone()
        if known is None:
            row = dump(_common(part, prompt, turn))
            known = (self._db.execute("INSERT INTO prompt (key, data) VALUES (?, ?)", (key, row)).lastrowid,)
        text = hashlib.sha256(said.text.encode()).digest()
        self._db.execute(
            "INSERT INTO reply (prompt, text, total, times, data) VALUES (?, ?, ?, 1, ?) ON CONFLICT (prompt, text)"
            " DO UPDATE SET total = total + excluded.total, times = times + 1",
            (*known, text, said.reward, dump(vars(said))),
        )

    def pairs(self, margin: float) -> Iterator[dict[str, Any]]:
        """Yields the best reply to a prompt against the worst, the second best against the second worst, and so on.

        So no reply stands in two pairs, and a prompt with many replies does not outweigh the others.
        """
        prompts = (
            "SELECT prompt.id, data FROM prompt JOIN"
            " (SELECT prompt AS id FROM reply GROUP BY prompt HAVING count(*) > 1) USING (id) ORDER BY prompt.id"
        )
        for prompt, data in self._db.execute(prompts):
            ranked = self._db.execute(
                "SELECT total / times, id FROM reply WHERE prompt = ? ORDER BY total / times DESC, id", (prompt,)
            ).fetchall()
            row = load(data)
            for place in range(len(ranked) // 2):
                best, worst = ranked[place], ranked[-1 - place]
                if best[0] <= worst[0] or best[0] - worst[0] < margin:
                    break
                chosen, rejected = self._said(*best), self._said(*worst)
                if chosen.played != rejected.played:  # else it was the same move, and they differ by luck
                    yield _pair(DEAL, row, chosen, rejected)

    def _said(self, reward: float, number: int) -> _Said:
        (data,) = self._db.execute("SELECT data FROM reply WHERE id = ?", (number,)).fetchone()
        return _Said(**{**load(data), "reward": reward})
