"""Rows of training data, one class a format.

The type of a column is a type name, a list with the type of its items, or a table with the types of its fields.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agents.chat import Message
from rating.store.records import Record
from rating.training.conversations import PlayedSeat, Reply, Tally, deal_columns, messages_of, prompts_of

Row = dict[str, Any]
Columns = Mapping[str, Any]

MESSAGE: Columns = {"role": "string", "content": "string"}
"""Type of a message."""

DEAL: Columns = {"environment": "string", "group": "string", "deal": "string"}
"""Columns of the deal of a match."""

ORIGIN: Columns = {**DEAL, "agent": "string", "policy": "string", "policies": ["string"], "match": "string"}
"""Columns with the origin of a conversation."""

REPLIES: Columns = {
    "turns": ["int32"],
    "kinds": ["string"],
    "rewards": ["float64"],
    "reward": "float64",
    "initial_reward": "float64",
}
"""Columns with turns, kinds and rewards of the replies of a conversation."""

OPTIONAL: Columns = {"reasoning": ["string"], "legal": [["string"]], "logprobs": ["float64"]}
"""Optional columns of each reply, by the attribute of the format that adds them."""


def _optional_columns(rows: "Sft | Grpo") -> Columns:
    return {name: kind for name, kind in OPTIONAL.items() if getattr(rows, name)}


def _conversation_columns(played: PlayedSeat, replies: Sequence[Reply], optional: Iterable[str]) -> Row:
    """Returns the columns ``REPLIES``, the requested ones of ``OPTIONAL``, and ``ORIGIN``."""
    facts = {
        "reasoning": [reply.reasoning for reply in replies],
        "legal": [list(reply.legal) for reply in replies],
        "logprobs": [reply.logprob for reply in replies],
    }
    return {
        "turns": [reply.turn for reply in replies],
        "kinds": [reply.kind.name.lower() for reply in replies],
        "rewards": [reply.reward for reply in replies],
        "reward": played.reward,
        "initial_reward": played.seat.initial_reward,
        **{name: facts[name] for name in optional},
        **played.deal,
        "agent": played.seat.agent,
        "policy": played.policy,
        "policies": list(played.policies),
        "match": played.match,
    }


def prompt_id(played: PlayedSeat, prompt: Sequence[Message]) -> str:
    """Returns an id of a prompt from deal, seat and messages: 16 hexadecimal digits."""
    text = json.dumps([played.deal["group"], played.seat.agent, prompt], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Sft:
    """Rows for supervised fine-tuning: a conversation of one seat, with a mask of trainable messages.

    Attributes:
        winners: whether to keep only seats with the highest reward of a match where another seat received less.
        min_reward: least reward of a seat in the match.
        rejected: whether to keep invalid replies in the conversation, as not trainable.
        reasoning: whether to add a column with the reasoning.
        legal: whether to add a column with the legal moves before each reply, at most 200; the seats must have them.
        logprobs: whether to add a column with the log probability of each reply.
    """

    winners: bool = False
    min_reward: float | None = None
    rejected: bool = False
    reasoning: bool = False
    legal: bool = False
    logprobs: bool = False

    @property
    def columns(self) -> Columns:
        """Columns of a row and their types."""
        message = {**MESSAGE, **({"weight": "int8"} if self.rejected else {})}
        return {"messages": [message], "trainable": ["bool"], **REPLIES, **_optional_columns(self), **ORIGIN}

    def rows(self, seats: Iterable[PlayedSeat]) -> Iterator[Row]:
        """Yields one row per conversation with a move."""
        for played in seats:
            if not self._is_example(played):
                continue
            for conversation in played.seat.conversations:
                messages, replies = messages_of(conversation, rejected=self.rejected)
                if not any(reply.is_move for reply in replies):
                    continue
                moves = iter(reply.is_move for reply in replies)
                trainable = [message["role"] == "assistant" and next(moves) for message in messages]
                yield {
                    "messages": _weighted(messages, trainable) if self.rejected else messages,
                    "trainable": trainable,
                    **_conversation_columns(played, replies, _optional_columns(self)),
                }

    def _is_example(self, played: PlayedSeat) -> bool:
        return (played.won or not self.winners) and (self.min_reward is None or played.reward >= self.min_reward)


def _weighted(messages: Sequence[Message], trainable: Sequence[bool]) -> list[Row]:
    """Returns the messages; replies have their weight in the loss, as in OpenAI's fine-tuning files."""
    return [
        {**message, "weight": int(learned) if message["role"] == "assistant" else None}
        for message, learned in zip(messages, trainable, strict=True)
    ]


@dataclass(frozen=True)
class Grpo:
    """Rows for group-relative policy optimisation (Shao et al., arXiv 2402.03300): a prompt, its completion and the reward.

    Rows of one prompt are adjacent, because advantages are relative to the group.

    Attributes:
        reasoning: whether to add a column with the reasoning.
        legal: whether to add a column with the legal moves before each reply, at most 200; the seats must have them.
        logprobs: whether to add a column with the log probability of each reply.
    """

    reasoning: bool = False
    legal: bool = False
    logprobs: bool = False

    @property
    def columns(self) -> Columns:
        """Columns of a row and their types."""
        texts = {"prompt": [MESSAGE], "completion": [MESSAGE], "mask": ["bool"]}
        return {**texts, "prompt_id": "string", "samples": "int32", **REPLIES, **_optional_columns(self), **ORIGIN}

    def rows(self, seats: Iterable[PlayedSeat]) -> Iterator[Row]:
        """Yields one row per conversation, with all replies, since all of them led to the reward."""
        samples: defaultdict[str, list[Row]] = defaultdict(list)
        for played in seats:
            for conversation in played.seat.conversations:
                messages, replies = messages_of(conversation, rejected=True)
                start = next(place for place, message in enumerate(messages) if message["role"] == "assistant")
                prompt, completion = messages[:start], messages[start:]
                key = prompt_id(played, prompt)
                row = {
                    "prompt": prompt,
                    "completion": completion,
                    "mask": [message["role"] == "assistant" for message in completion],
                    "prompt_id": key,
                    "samples": 0,  # counted at the end
                    **_conversation_columns(played, replies, _optional_columns(self)),
                }
                samples[key].append(row)
        for rows in samples.values():
            for row in rows:
                yield {**row, "samples": len(rows)}


_SIDE: Columns = {"policy": "string", "match": "string", "kind": "string", "reward": "float64"}
"""Columns of either side of a pair, behind ``chosen_`` and ``rejected_``."""


@dataclass(frozen=True)
class Preference:
    """Rows for preference learning such as DPO (Rafailov et al., arXiv 2305.18290): two replies to the same prompt.

    Pairs are an invalid reply against the move of the same turn, and moves of several matches of one deal, made by the same seat
    after the same messages, compared by reward.

    Attributes:
        margin: least difference in mean reward between chosen and rejected moves.
        rejected: whether to keep invalid replies in the prompts.
    """

    margin: float = 0.0
    rejected: bool = False

    @property
    def columns(self) -> Columns:
        """Columns of a row and their types."""
        texts = {"prompt": [MESSAGE], "chosen": [MESSAGE], "rejected": [MESSAGE]}
        sides = {f"{side}_{name}": kind for side in ("chosen", "rejected") for name, kind in _SIDE.items()}
        return {**texts, "source": "string", "turn": "int32", "agent": "string", **sides, **DEAL}

    def rows(self, seats: Iterable[PlayedSeat]) -> Iterator[Row]:
        """Yields the pairs of single turns first, then the pairs of whole deals."""
        prompts: dict[str, _Prompt] = {}
        for played in seats:
            for conversation in played.seat.conversations:
                moves = {reply.turn: reply for reply in conversation if reply.is_move}
                for messages, reply in prompts_of(conversation, rejected=self.rejected):
                    prompt = _Prompt(messages, reply.turn, played.seat.agent, played.deal)
                    if reply.is_move:
                        prompts.setdefault(prompt_id(played, messages), prompt).add(_side(played, reply), reply.played)
                    elif (move := moves.get(reply.turn)) and move.text != reply.text:
                        yield prompt.pair("reask", _side(played, move), replace(_side(played, reply), reward=None))
        for prompt in prompts.values():
            yield from prompt.pairs(self.margin)


@dataclass(frozen=True)
class _Side:
    """One reply of a pair; all fields but the text are columns."""

    text: str
    policy: str
    match: str
    kind: str
    reward: float | None


def _side(played: PlayedSeat, reply: Reply) -> _Side:
    return _Side(reply.text, played.policy, played.match, reply.kind.name.lower(), played.reward)


@dataclass
class _Move:
    """A move, with the rewards of all matches where it was stated in the same words."""

    side: _Side
    played: str
    rewards: list[float]

    @property
    def mean(self) -> float:
        return sum(self.rewards) / len(self.rewards)


@dataclass
class _Prompt:
    """A prompt, and its moves by text."""

    messages: list[Message]
    turn: int
    agent: str
    deal: Mapping[str, str]
    moves: dict[str, _Move] = field(default_factory=dict)

    def add(self, side: _Side, played: str) -> None:
        """Adds a move."""
        move = self.moves.setdefault(side.text, _Move(side, played, []))
        move.rewards.append(side.reward or 0.0)

    def pairs(self, margin: float) -> Iterator[Row]:
        """Yields pairs of the best and worst reply, the second best and second worst, and so on.

        Each reply is in at most one pair, so a prompt with many replies does not outweigh the others.
        """
        ranked = sorted(self.moves.values(), key=lambda move: move.mean, reverse=True)
        for best, worst in zip(ranked[: len(ranked) // 2], reversed(ranked), strict=False):
            if best.mean <= worst.mean or best.mean - worst.mean < margin:
                break
            if best.played != worst.played:  # otherwise the move is the same and the difference is luck
                chosen, rejected = (replace(move.side, reward=move.mean) for move in (best, worst))
                yield self.pair("deal", chosen, rejected)

    def pair(self, source: str, chosen: _Side, rejected: _Side) -> Row:
        """Returns a row with two replies to the prompt."""
        sides = {"chosen": chosen, "rejected": rejected}
        return {
            "prompt": self.messages,
            **{side: [{"role": "assistant", "content": reply.text}] for side, reply in sides.items()},
            "source": source,
            "turn": self.turn,
            "agent": self.agent,
            **{f"{side}_{name}": getattr(reply, name) for side, reply in sides.items() for name in _SIDE},
            **self.deal,
        }


@dataclass(frozen=True)
class Deals:
    """Rows of deals: environment, options and seed of matches, with every seat free for a model in training."""

    @property
    def columns(self) -> Columns:
        """Columns of a row and their types."""
        return {**DEAL, "matches": "int32"}

    def rows(self, records: Iterable[Record], tally: Tally) -> Iterator[Row]:
        """Yields every deal once, with its number of matches."""
        deals: dict[str, dict[str, str]] = {}
        matches: Counter[str] = Counter()
        for record in records:
            try:
                deal = deal_columns(record.match)
            except ValueError as error:
                tally.damaged(f"match {record.match.number} of {record.match.environment}", str(error))
                continue
            tally.take(record.match)
            deals.setdefault(deal["group"], deal)
            matches[deal["group"]] += 1
        for group, deal in deals.items():
            yield {**deal, "matches": matches[group]}


Format = Sft | Preference | Grpo | Deals
FORMATS: Mapping[str, type[Format]] = {"sft": Sft, "preference": Preference, "grpo": Grpo, "deals": Deals}
"""Row formats, by name."""
