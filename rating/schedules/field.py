"""Field: every policy on one seat against a fixed policy on all others."""

import itertools
from collections.abc import Iterator

from llmarena_envs.core.options import OptionError
from rating.schedules.batches import Contest, Cycle, Planned, batches
from rating.store.records import Match


def field_play(
    contest: Contest, *, opponent: str, focus_option: str = "", both_roles: bool = False
) -> Iterator[list[Match]]:
    """Schedules every policy on one seat against ``opponent`` on all others.

    A cycle has one deal for each seat; every policy takes that seat on it.

    Args:
        contest: two rated seats or more.
        opponent: policy on the other seats; a policy of the contest also plays itself.
        focus_option: option of the environment that takes the index of the seat under test among the rated seats, e.g. ``seat``
            of undercover, which makes that seat the undercover. Empty for none.
        both_roles: whether every policy also takes all other seats, with ``opponent`` on the one.

    Raises:
        OptionError: if there are fewer than two rated seats.
    """
    if contest.seats < 2:
        raise OptionError("field: expected two rated seats or more, got 1")
    return batches(contest, _cycles(contest, opponent, focus_option, both_roles))


def seat_under_test(number: int, policies: int, seats: int) -> int:
    """Returns the index of the seat under test among the rated seats, for ``field_play`` without ``both_roles``.

    Args:
        number: match number.
        policies: number of policies of the contest.
        seats: number of rated seats.
    """
    return number // policies % seats


def _cycles(contest: Contest, opponent: str, focus_option: str, both_roles: bool) -> Iterator[Cycle]:
    for cycle in itertools.count():
        planned = []
        for seat in range(contest.seats):
            deal, options = cycle * contest.seats + seat, {focus_option: seat} if focus_option else {}
            for name in contest.policies:
                tables = [(name, opponent)]
                if both_roles and name != opponent:
                    tables.append((opponent, name))
                for focus, other in tables:
                    seats = tuple(focus if index == seat else other for index in range(contest.seats))
                    planned.append(Planned(deal, seats, options))
        yield planned
