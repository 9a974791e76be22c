"""Rows for group-relative policy optimisation (Shao et al., arXiv 2402.03300): a prompt, its completion and the reward.

Rows of one prompt are adjacent, because advantages are relative to the group.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rating.training.columns import MESSAGE, ORIGIN_OF_PART, REPLIES, Part, replies_of
from rating.training.conversations import messages_of


@dataclass(frozen=True)
class Grpo:
    """Options of the GRPO format.

    Attributes:
        reasoning: whether to add a column with the reasoning.
    """

    reasoning: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a row and their types."""
        thoughts = {"reasoning": ["string"]} if self.reasoning else {}
        own = {
            "prompt": [MESSAGE],
            "completion": [MESSAGE],
            "mask": ["bool"],
            "prompt_id": "string",
            "samples": "int32",
        }
        return {**own, **REPLIES, **thoughts, **ORIGIN_OF_PART}

    def rows(self, parts: Iterable[Part]) -> Iterator[dict[str, Any]]:
        """Yields one row per conversation, with all replies, since all of them led to the reward."""
        samples: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for part in parts:
            for conversation in part.seat.conversations:
                messages, replies = messages_of(conversation, rejected=True)
                start = next(place for place, message in enumerate(messages) if message["role"] == "assistant")
                prompt, completion = messages[:start], messages[start:]
                key = prompt_id(part, prompt)
                row = {
                    "prompt": prompt,
                    "completion": completion,
                    "mask": [message["role"] == "assistant" for message in completion],
                    "prompt_id": key,
                    **replies_of(part, replies, reasoning=self.reasoning),
                    **part.origin(),
                }
                samples[key].append(row)
        for rows in samples.values():
            for row in rows:
                yield {**row, "samples": len(rows)}


def prompt_id(part: Part, prompt: list[dict[str, str]]) -> str:
    """Returns an id of a prompt from deal, seat and messages: 16 hexadecimal digits."""
    text = json.dumps([part.deal["group"], part.seat.agent, prompt], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
