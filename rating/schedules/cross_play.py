"""Cross-play: every ordered pair of policies, self-play included."""

import itertools
from collections.abc import Iterator

from rating.schedules.batches import Contest, Planned, batches
from rating.schedules.round_robin import circle
from rating.store.match import Match


def cross_play(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every ordered pair of policies, self-play included; a cycle is one deal.

    For cooperative games: a common deal reduces the variance of differences between policies.

    Args:
        contest: two rated seats.

    Raises:
        OptionError: if the contest does not have two rated seats.
    """
    contest.check("cross-play", policies=1, seats=2)
    pairs = [(name, name) for name in contest.policies]
    for players in circle(contest.policies):
        pairs += players + [pair[::-1] for pair in players]
    return batches(contest, ([Planned(deal, pair) for pair in pairs] for deal in itertools.count()))
