"""Results of pairs from the matches of a run, to be compared with or written for others."""

from collections.abc import Iterator

from rating.records.outcome import Outcome
from rating.statistics.battles import NO_STYLE, Battle
from rating.statistics.style import LENGTH


def battles_of(outcome: Outcome, length: str = "") -> Iterator[Battle]:
    """Yields the results of all pairs of seats of a finished match, each with the earlier seat first; its deal is its seed.

    A match of more than two players is all pairs of its rank order by reward. Pairs of a policy with itself are left out.

    Args:
        outcome: with its rated seats.
        length: the statistic that holds how much judges read of a seat, in words; empty for none.
    """
    for index, one in enumerate(outcome.seats):
        for other in outcome.seats[index + 1 :]:
            if one.policy != other.policy:
                score = 0.5 + 0.5 * ((one.reward > other.reward) - (one.reward < other.reward))
                words = (one.statistics.get(length, -1.0), other.statistics.get(length, -1.0))
                style = {LENGTH: words} if min(words) >= 0 else NO_STYLE
                yield Battle(one.policy, other.policy, score, str(outcome.seed), style=style)
