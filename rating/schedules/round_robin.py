"""Round robin: every pair of policies on both seats."""

import itertools
from collections.abc import Iterator, Sequence

from rating.records.match import Match
from rating.schedules.batches import Contest, Cycle, Planned, batches


def round_robin(contest: Contest, *, shared_deals: bool = False) -> Iterator[list[Match]]:
    """Schedules every pair of policies twice a cycle: one deal from both sides.

    The pairs come in the rounds of the circle method, so that matches played at the same time spread over the policies.

    By default every pair has deals of its own. In a zero-sum game that is rated, playing a deal from both sides removes
    the luck of the deal from the pair; what is left is how well each policy happens to play it, and that averages out
    sooner over different deals. There are also as many independent deals as pairs of matches, which intervals need. Share
    the deals where mean rewards are compared and depend on the deal more than on the opponent, as in an auction: then all
    policies are given the same valuations, and a cycle counts as one case.

    Args:
        contest: two rated seats, two policies or more.
        shared_deals: play one deal in all matches of a cycle.

    Raises:
        OptionError: if the contest is another.
    """
    contest.check("round robin", policies=2, seats=2)
    return batches(contest, _cycles(contest.policies, shared_deals))


def circle(policies: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Returns every pair once, in rounds in which nobody plays twice (circle method)."""
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
