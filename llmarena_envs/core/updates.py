"""The new parts of a text that grows at its end."""

from collections.abc import Sequence
from typing import TypeVar

Part = TypeVar("Part")


def new_parts(parts: Sequence[Part], told: Sequence[Part]) -> list[Part]:
    """Returns ``parts`` without the common prefix with ``told``: the news for a reader of ``told``."""
    pairs = enumerate(zip(parts, told, strict=False))
    known = next((number for number, (part, old) in pairs if part != old), min(len(parts), len(told)))
    return list(parts[known:])
