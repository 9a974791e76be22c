"""What is new in a text that mostly grows at its end."""

from collections.abc import Sequence
from typing import TypeVar

Part = TypeVar("Part")


def new_parts(parts: Sequence[Part], told: Sequence[Part]) -> list[Part]:
    """Returns the parts behind those with which both sequences begin: what somebody has to read who was told the second one."""
    pairs = enumerate(zip(parts, told, strict=False))
    known = next((number for number, (part, old) in pairs if part != old), min(len(parts), len(told)))
    return list(parts[known:])
