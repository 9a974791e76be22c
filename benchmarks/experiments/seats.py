"""Checks of the seats of matches, and notes on unfinished matches."""

from collections import Counter
from collections.abc import Sequence

from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.stats.results import rated_seats
from rating.store.records import FINISHED, Outcome, SeatOutcome


def unfinished(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns a note that counts the matches without a result by status; empty for none."""
    counts = Counter(outcome.status for outcome in outcomes if outcome.status != FINISHED)
    if not counts:
        return []
    kinds = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return [f"{counts.total()} of {len(outcomes)} matches have no result and are left out: {kinds}"]


def check_two_seats(outcomes: Sequence[Outcome]) -> None:
    """Checks that every match has two seats.

    Raises:
        OptionError: if a match has more.
    """
    for outcome in outcomes:
        if len(rated_seats(outcome)) != 2:
            raise OptionError(
                f"{outcome.environment}: expected matches of two players, got one of {len(rated_seats(outcome))};"
                " compute this row from a run with the default number of players"
            )


def statistic(seat: SeatOutcome, name: str) -> float:
    """Returns a statistic of a seat.

    Raises:
        RunError: if the seat has no statistic of this name.
    """
    if name not in seat.statistics:
        raise RunError(f"expected the statistic {name!r} of every seat, got {sorted(seat.statistics)}")
    return seat.statistics[name]
