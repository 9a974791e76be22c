"""Rows for preference learning such as DPO (Rafailov et al., arXiv 2305.18290): two replies to the same prompt.

Pairs are an invalid reply against the move of the same turn, and moves of several matches of one deal, made by the same seat
after the same messages, compared by reward.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from agents.chat import Message
from rating.training.columns import MESSAGE, ORIGIN, Part
from rating.training.conversations import prompts_of
from rating.training.grpo import prompt_id

REASK = "reask"
DEAL = "deal"
_SIDE = {"policy": "string", "match": "string", "kind": "string", "reward": "float64"}


@dataclass(frozen=True)
class Preference:
    """Options of the preference format.

    Attributes:
        margin: least difference in mean reward between chosen and rejected moves.
        rejected: whether to keep invalid replies in the prompts.
    """

    margin: float = 0.0
    rejected: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a row and their types."""
        texts = {"prompt": [MESSAGE], "chosen": [MESSAGE], "rejected": [MESSAGE]}
        sides = {f"{side}_{name}": kind for side in ("chosen", "rejected") for name, kind in _SIDE.items()}
        return {**texts, "source": "string", "turn": "int32", "agent": "string", **sides, **ORIGIN}

    def rows(self, parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
        """Yields the pairs of single turns first, then the pairs of whole deals."""
        prompts: dict[str, _Prompt] = {}
        for part in parts:
            for conversation in part.seat.conversations:
                moves = {reply.turn: reply for reply in conversation if reply.is_move}
                for prompt, reply in prompts_of(conversation, rejected=self.rejected):
                    if reply.is_move:
                        key = prompt_id(part, prompt)
                        if key not in prompts:
                            prompts[key] = _Prompt(_common(part, prompt, reply.turn))
                        said = _Said(reply.text, part.policy, part.match, "ok", part.reward, reply.played)
                        prompts[key].add(said, part.reward)
                    elif (move := moves.get(reply.turn)) and move.text != reply.text:
                        refused = _Said(reply.text, part.policy, part.match, reply.kind.name.lower(), None)
                        chosen = _Said(move.text, part.policy, part.match, "ok", part.reward)
                        row = _common(part, prompt, reply.turn)
                        yield _pair(REASK, row, chosen, refused)
        for answered in prompts.values():
            yield from answered.pairs(self.margin)


@dataclass(frozen=True)
class _Said:
    """One side of a pair: the text, the fields of ``_SIDE``, and the move."""

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


@dataclass
class _Reply:
    """A move with the mean reward over all replies with the same text."""

    said: _Said
    total: float
    times: int = 1

    @property
    def mean(self) -> float:
        return self.total / self.times


@dataclass
class _Prompt:
    """A prompt, as columns of a row, and its moves by text."""

    row: dict[str, Any]
    replies: dict[str, _Reply] = field(default_factory=dict)

    def add(self, said: _Said, reward: float) -> None:
        """Adds a move."""
        known = self.replies.get(said.text)
        if known is None:
            self.replies[said.text] = _Reply(said, reward)
        else:
            known.total += reward
            known.times += 1

    def pairs(self, margin: float) -> Iterator[dict[str, Any]]:
        """Yields pairs of the best and worst reply, the second best and second worst, and so on.

        Each reply is in at most one pair, so a prompt with many replies does not outweigh the others.
        """
        ranked = sorted(self.replies.values(), key=lambda reply: reply.mean, reverse=True)
        for best, worst in zip(ranked[: len(ranked) // 2], reversed(ranked), strict=False):
            if best.mean <= worst.mean or best.mean - worst.mean < margin:
                break
            if best.said.played != worst.said.played:  # otherwise the move is the same and the difference is luck
                yield _pair(
                    DEAL, self.row, replace(best.said, reward=best.mean), replace(worst.said, reward=worst.mean)
                )
