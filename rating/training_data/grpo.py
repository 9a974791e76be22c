"""Rows for group-relative policy optimisation (Shao et al., arXiv 2402.03300): a prompt, what was said behind it, and its reward.

Rows of one prompt stand together: advantages are relative to them.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rating.training_data.columns import MESSAGE, ORIGIN_OF_PART, REPLIES, Part, replies_of
from rating.training_data.conversations import messages_of


@dataclass(frozen=True)
class Grpo:
    """How a recorded sample is told.

    Attributes:
        reasoning: whether what was thought stands in a column of its own.
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
        """Yields a row a conversation; all replies stay in it, since all of them led to the reward."""
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
    """Returns a name of a prompt: the same deal, the same seat and the same messages; 16 hexadecimal digits."""
    text = json.dumps([part.deal["group"], part.seat.agent, prompt], ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
