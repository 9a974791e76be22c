"""Rows for supervised fine-tuning: a conversation of one seat, with a mask of trainable messages."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agents.chat import Message
from rating.training.columns import MESSAGE, ORIGIN_OF_PART, REPLIES, Part, replies_of
from rating.training.conversations import messages_of


@dataclass(frozen=True)
class Sft:
    """Options of the SFT format.

    Attributes:
        winners: whether to keep only seats with the highest reward of a match where another seat received less.
        min_reward: least reward of a seat in the match.
        rejected: whether to keep invalid replies in the conversation, as not trainable.
        reasoning: whether to add a column with the reasoning.
    """

    winners: bool = False
    min_reward: float | None = None
    rejected: bool = False
    reasoning: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a row and their types."""
        message = {**MESSAGE, **({"weight": "int8"} if self.rejected else {})}
        thoughts = {"reasoning": ["string"]} if self.reasoning else {}
        return {"messages": [message], "trainable": ["bool"], **REPLIES, **thoughts, **ORIGIN_OF_PART}

    def rows(self, parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
        """Yields one row per conversation with a move."""
        for part in parts:
            if not self._teaches(part):
                continue
            for conversation in part.seat.conversations:
                messages, replies = messages_of(conversation, rejected=self.rejected)
                if not any(reply.is_move for reply in replies):
                    continue
                moves = iter(reply.is_move for reply in replies)
                trainable = [message["role"] == "assistant" and next(moves) for message in messages]
                yield {
                    "messages": _weighted(messages, trainable) if self.rejected else messages,
                    "trainable": trainable,
                    **replies_of(part, replies, reasoning=self.reasoning),
                    **part.origin(),
                }

    def _teaches(self, part: Part) -> bool:
        return (part.won or not self.winners) and (self.min_reward is None or part.reward >= self.min_reward)


def _weighted(messages: list[Message], trainable: list[bool]) -> list[dict[str, Any]]:
    """Returns the messages; replies have their weight in the loss, as in OpenAI's fine-tuning files."""
    return [
        {**message, "weight": int(learned) if message["role"] == "assistant" else None}
        for message, learned in zip(messages, trainable, strict=True)
    ]
