"""Fixed seating: the same policies on the same seats in every match."""

import itertools
from collections.abc import Iterator, Sequence

from rating.schedules.batches import Contest, Planned, batches
from rating.store.match import Match


def seating(contest: Contest, policies: Sequence[str]) -> Iterator[list[Match]]:
    """Schedules matches that differ only in their deals.

    Args:
        contest: contest to schedule.
        policies: policies on the rated seats.
    """
    return batches(contest, ([Planned(deal, tuple(policies))] for deal in itertools.count()))
