"""Structured output: JSON schemas of replies, for servers that enforce them."""

from collections.abc import Mapping
from typing import Any


def response_format(observation: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the request field ``response_format`` for a turn, or no field if moves are not enumerated.

    The reply must be ``{"move": "..."}``, which games read like any other object with a move. If all legal moves are listed, it
    is one of them.

    Args:
        observation: of a policy with ``wants_legal``.
    """
    mask = observation.get("action_mask")
    if mask is None:
        return {}
    legal = observation.get("legal", [])
    move: dict[str, Any] = {"type": "string"}
    if legal and len(legal) == int(mask.sum()):  # otherwise the list is truncated
        move["enum"] = list(legal)
    schema = {"type": "object", "properties": {"move": move}, "required": ["move"], "additionalProperties": False}
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": "move", "strict": True, "schema": schema}}
    }
