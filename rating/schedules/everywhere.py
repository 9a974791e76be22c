"""Schedule for mean rewards: every policy equally often on every seat, for any number of seats."""

from collections.abc import Iterator

from rating.schedules.batches import Contest
from rating.schedules.rotation import rotation
from rating.schedules.round_robin import round_robin
from rating.schedules.self_play import self_play
from rating.store.match import Match


def everywhere(contest: Contest) -> Iterator[list[Match]]:
    """Schedules every policy equally often on each rated seat.

    One seat: every policy alone, on the same deals. Two: a round robin on shared deals. More: a rotation.

    Raises:
        OptionError: if there are fewer policies than rated seats.
    """
    if contest.seats == 1:
        return self_play(contest)
    if contest.seats == 2:
        return round_robin(contest, shared_deals=True)
    return rotation(contest)
