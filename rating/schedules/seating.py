"""The same policies on the same seats, match after match."""

import itertools
from collections.abc import Iterator, Sequence

from rating.records.match import Match
from rating.schedules.batches import Contest, Planned, batches


def seating(contest: Contest, policies: Sequence[str]) -> Iterator[list[Match]]:
    """Schedules matches that differ in their deals only.

    Args:
        contest: what is to be scheduled.
        policies: on the rated seats.
    """
    return batches(contest, ([Planned(deal, tuple(policies))] for deal in itertools.count()))
