"""Pause of uninformative games, to limit their cost."""

from collections import Counter
from collections.abc import Iterable

from rating.stats.results import rated_seats
from rating.store.outcome import FINISHED, VOID, Outcome

PAUSED = "paused"
"""Stop reason: the first matches of the game give no information."""

FIRST_MATCHES = 30
"""Number of matches before the check, unless the scheme needs more to seat every policy."""

_TIED, _FORFEITED, _VOID, _UNDECIDED = "tied", "forfeited", "void", "without a result"


def no_information(outcomes: Iterable[Outcome], first_matches: int, *, rivals: bool) -> str:
    """Returns why the first matches of a game do not separate its policies; empty if at least one match does.

    Args:
        outcomes: of one environment, with all seats known, in any order; later matches are ignored.
        first_matches: number of matches to check.
        rivals: whether rewards within a match are compared; equal rewards are then a tie.
    """
    kinds = Counter(_kind(outcome, rivals) for outcome in outcomes if outcome.number < first_matches)
    if "" in kinds:
        return ""
    first = f"(the first {first_matches})"
    if len(kinds) == 1:
        return f"every match {next(iter(kinds))} {first}; no information"
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in (_TIED, _FORFEITED, _VOID, _UNDECIDED) if kind in kinds)
    return f"no match decided by play {first}: {counts}; no information"


def _kind(outcome: Outcome, rivals: bool) -> str:
    """Returns why a match does not separate its policies; empty if it does."""
    if outcome.status != FINISHED:
        return _VOID if outcome.status == VOID else _UNDECIDED
    seats = rated_seats(outcome)
    if any(seat.forfeit for seat in seats):
        return _FORFEITED
    is_tie = rivals and len({seat.policy for seat in seats}) > 1 and len({seat.reward for seat in seats}) == 1
    return _TIED if is_tie else ""
