"""What rows of self-play share: the matches of each policy with itself, and what is said of those that are missing."""

from collections.abc import Sequence

from llmarena_envs.core.options import OptionError
from rating.errors import RunError
from rating.records.outcome import Outcome, SeatOutcome
from rating.statistics.estimates import Estimate
from rating.statistics.proportions import clustered_rate
from rating.statistics.results import finished

FEWEST = 6
"""Independent cases below which a resampled interval is too narrow to be shown; see ``rating.statistics.medians``."""


def by_policy(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """Returns the finished matches of every policy with itself."""
    table: dict[str, list[Outcome]] = {}
    for outcome in finished(outcomes):
        table.setdefault(outcome.seats[0].policy, []).append(outcome)
    return table


def missing(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns a note for every policy some of whose matches are void or ended by a defect of the environment."""
    notes = []
    for policy in sorted({outcome.seats[0].policy for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome.seats[0].policy == policy]
        left_out = len(own) - len(finished(own))
        if left_out:
            notes.append(f"{policy}: {left_out} of {len(own)} matches could not be played to the end and are left out")
    return notes


def check_two_seats(outcomes: Sequence[Outcome]) -> None:
    """Checks that two sat at every match.

    Raises:
        OptionError: if more did.
    """
    for outcome in outcomes:
        if len(outcome.seats) != 2:
            raise OptionError(
                f"{outcome.environment}: expected matches of two players, got one of {len(outcome.seats)};"
                " compute this row from a run with the default number of players"
            )


def statistic(seat: SeatOutcome, name: str) -> float:
    """Returns a statistic of a seat.

    Raises:
        RunError: if it has none of this name.
    """
    if name not in seat.statistics:
        raise RunError(f"expected the statistic {name!r} of every seat, got {sorted(seat.statistics)}")
    return seat.statistics[name]


def cautious(estimate: Estimate | None) -> Estimate | None:
    """Returns a resampled estimate, without its interval if that rests on too few cases, or on cases that are all alike."""
    if estimate is None or (estimate.clusters >= FEWEST and estimate.low != estimate.high):
        return estimate
    return estimate._replace(low=None, high=None)


def share(hits: Sequence[bool], clusters: Sequence[int]) -> Estimate | None:
    """Returns a rate of cases that are alike within clusters; where all are alike, the interval is sound for any number."""
    estimate = clustered_rate(hits, clusters)
    return cautious(estimate) if estimate and 0 < estimate.value < 1 else estimate
