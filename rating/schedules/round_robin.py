"""Round robin: every pair of policies, in both seat orders."""

import itertools
from collections.abc import Iterator, Sequence

from rating.schedules.batches import Contest, Cycle, Planned, batches
from rating.store.match import Match


def round_robin(contest: Contest, *, shared_deals: bool = False) -> Iterator[list[Match]]:
    """Schedules every pair of policies twice per cycle: one deal with the seats swapped.

    Pairs follow the rounds of the circle method, which spreads concurrent matches over the policies.

    By default each pair has its own deals. In a zero-sum game with ratings, swapping seats on one deal removes the luck of the
    deal from the pair; the remaining variance averages out sooner over different deals, and the intervals have as many
    independent deals as pairs of matches. Share deals where mean rewards are compared and depend more on the deal than on the
    opponent, as in an auction: all policies get the same valuations, and a cycle counts as one case.

    Args:
        contest: two rated seats, two policies or more.
        shared_deals: use one deal for all matches of a cycle.

    Raises:
        OptionError: if the contest does not fit.
    """
    contest.check("round robin", policies=2, seats=2)
    return batches(contest, _cycles(contest.policies, shared_deals))


def circle(policies: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Returns every pair once, in rounds in which each policy plays at most once (circle method)."""
    ring: list[str | None] = [*policies, *([None] if len(policies) % 2 else [])]
    rounds = []
    for _ in range(len(ring) - 1):
        opposite = zip(ring[: len(ring) // 2], reversed(ring), strict=False)
        rounds.append([(first, second) for first, second in opposite if first is not None and second is not None])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def _cycles(policies: Sequence[str], shared_deals: bool) -> Iterator[Cycle]:
    rounds = circle(policies)
    deals = itertools.count()
    for cycle in itertools.count():
        planned = []
        for pairs in rounds:
            numbers = [cycle if shared_deals else next(deals) for _ in pairs]
            planned += [Planned(deal, pair) for deal, pair in zip(numbers, pairs, strict=True)]
            planned += [Planned(deal, pair[::-1]) for deal, pair in zip(numbers, pairs, strict=True)]
        yield planned
