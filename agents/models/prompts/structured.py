"""Structured output: the form of a reply as a JSON schema, for servers that hold a model to it."""

from collections.abc import Mapping
from typing import Any


def response_format(observation: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the request field ``response_format`` for a turn, or no field where a move is more than one of a list.

    The reply is to be ``{"move": "..."}``, which the games read like any other object that names a move. Where all legal
    moves are listed it is one of them.

    Args:
        observation: of a policy with ``wants_legal``.
    """
    mask = observation.get("action_mask")
    if mask is None:
        return {}
    legal = observation.get("legal", [])
    move: dict[str, Any] = {"type": "string"}
    if legal and len(legal) == int(mask.sum()):  # else the list is cut off
        move["enum"] = list(legal)
    schema = {"type": "object", "properties": {"move": move}, "required": ["move"], "additionalProperties": False}
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": "move", "strict": True, "schema": schema}}
    }
