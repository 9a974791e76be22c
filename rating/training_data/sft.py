"""Rows for supervised fine-tuning: a conversation of one seat, and which of its messages are to be learned."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agents.chat import Message
from rating.training_data.columns import MESSAGE, ORIGIN_OF_PART, REPLIES, Part, replies_of
from rating.training_data.conversations import messages_of


@dataclass(frozen=True)
class Sft:
    """What is learned, and how it is told.

    Attributes:
        winners: whether only those teach who received most in their match, while somebody received less.
        min_reward: of the match, below which a seat does not teach.
        rejected: whether replies that were no move stay in the conversation, where they are not to be learned.
        reasoning: whether what was thought stands in a column of its own.
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
        """Yields a row a conversation that holds a move."""
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
    """Returns the messages, each reply with its weight in the loss as OpenAI's fine-tuning files have it."""
    return [
        {**message, "weight": int(learned) if message["role"] == "assistant" else None}
        for message, learned in zip(messages, trainable, strict=True)
    ]
