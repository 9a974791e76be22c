"""An early warning about a policy that mostly plays fallback moves, before much is spent on it."""

from collections import Counter
from dataclasses import dataclass, field

from agents.records import Turn
from llmarena_envs.core.failures import Failure
from rating.schemes.caveats import remedy

FIRST_TURNS = 10
"""Turns of a policy in an environment before the first check."""


@dataclass
class _Count:
    turns: int = 0
    played_for: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    is_told: bool = False


class FallbackWatch:
    """Counts the turns and fallback moves of every policy in every environment.

    Args:
        max_fallbacks: share of fallback moves above which a rating is withheld.
    """

    def __init__(self, max_fallbacks: float) -> None:
        self._limit = max_fallbacks
        self._counts: dict[tuple[str, str], _Count] = {}

    def add(self, environment: str, policy: str, turn: Turn) -> str:
        """Counts a new turn of a rated policy.

        Returns:
            The warning, once per policy and environment, or an empty string.
        """
        count = self._counts.setdefault((environment, policy), _Count())
        count.turns += 1
        count.played_for += turn.fallback not in ("", "forfeit")
        count.failures.update(one.kind.name.lower() for one in turn.attempts if one.kind is not Failure.OK)
        if count.is_told or count.turns < FIRST_TURNS or count.played_for <= self._limit * count.turns:
            return ""
        count.is_told = True
        return (
            f"{policy}: {count.played_for} of its first {count.turns} turns were played for it; if that goes on its rating is"
            f" withheld (max_fallbacks = {self._limit:g}); {remedy(count.failures)}"
        )
