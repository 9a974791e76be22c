"""The played pairings of a tournament, and their planned number (Auto-Arena, arXiv 2405.20267v1, section 4.1)."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from llmarena_envs.core.declaration import role_of
from rating.stats.results import rated_seats, staff_seats
from rating.store.records import FINISHED, UNDECIDED, VOID, Outcome

JUDGE = "judge"


class Pairing(NamedTuple):
    """The battles of two players in a row.

    Attributes:
        first: one player, the first by name.
        second: the other one.
        committee: judges, in the order of their seats.
        outcomes: of the battles, in match-number order.
    """

    first: str
    second: str
    committee: tuple[str, ...]
    outcomes: tuple[Outcome, ...]

    def wins(self, player: str) -> int:
        """Returns the battles that a player won."""
        return sum(
            seat.policy == player and seat.reward > 0
            for outcome in self.outcomes
            if outcome.status == FINISHED
            for seat in rated_seats(outcome)
        )

    @property
    def ties(self) -> int:
        """Battles that were tied."""
        finished = sum(outcome.status == FINISHED for outcome in self.outcomes)
        return finished - self.wins(self.first) - self.wins(self.second)

    @property
    def undecided(self) -> int:
        """Battles with too few verdicts."""
        return sum(outcome.status == UNDECIDED for outcome in self.outcomes)

    @property
    def void(self) -> int:
        """Battles without effect because a provider failed."""
        return sum(outcome.status == VOID for outcome in self.outcomes)


def pairings(outcomes: Sequence[Outcome]) -> list[Pairing]:
    """Returns the pairings in the order of play."""
    ordered = sorted(outcomes, key=lambda outcome: outcome.number)
    found = []
    for (first, second), group in itertools.groupby(ordered, key=_players):
        members = tuple(group)
        found.append(Pairing(first, second, _committee(members[0]), members))
    return found


def _players(outcome: Outcome) -> tuple[str, str]:
    first, second = sorted(seat.policy for seat in rated_seats(outcome))
    return first, second


def _committee(outcome: Outcome) -> tuple[str, ...]:
    return tuple(seat.policy for seat in staff_seats(outcome) if role_of(seat.agent) == JUDGE)


def planned_pairings(players: int, newcomers: int = 0) -> int:
    """Returns the number of pairings of a Swiss tournament with newcomers.

    Args:
        players: number of players, including newcomers.
        newcomers: number of players added in sequence.
    """
    base = players - newcomers
    added = sum(_rounds(size) for size in range(base + 1, players + 1))
    return _rounds(base) * (base // 2) + added


def _rounds(players: int) -> int:
    """Returns the binary logarithm, rounded up."""
    return (players - 1).bit_length()
