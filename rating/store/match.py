"""A match: the inputs that determine it, and its id."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Match:
    """One match to be played.

    Attributes:
        environment: module name, e.g. ``tictactoe_v0``.
        number: position in the schedule of its environment, counted from 0; ratings are applied in this order.
        policies: name of the policy on each seat, in the order of the environment's ``possible_agents``.
        seed: the seed of the match; the random streams of the game and of every seat are spawned from it. Matches of the same
            opening or deal with exchanged seats share it.
        options: options of the environment; JSON values.
    """

    environment: str
    number: int
    policies: tuple[str, ...]
    seed: int
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def id(self) -> str:
        """Hash of all fields, 16 hexadecimal digits."""
        canonical = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]
