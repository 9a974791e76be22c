"""Self-play: every policy with itself on all rated seats."""

import itertools
from collections.abc import Iterator

from rating.schedules.batches import Contest, Planned, batches
from rating.store.match import Match


def self_play(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every policy with itself on all rated seats; a cycle is one deal shared by all policies."""
    cycles = ([Planned(deal, (name,) * contest.seats) for name in contest.policies] for deal in itertools.count())
    return batches(contest, cycles)
