"""Results of pairs from the matches of a run, for comparison and export."""

from collections.abc import Iterator

from rating.stats.results import NO_STYLE, Battle
from rating.stats.style import LENGTH
from rating.store.records import Outcome


def battles_of(outcome: Outcome, length: str = "") -> Iterator[Battle]:
    """Yields the results of all pairs of seats of a finished match, the earlier seat first; the deal is the match seed.

    A match of more than two players gives all pairs of its rank order by reward. Pairs of a policy with itself are
    skipped.

    Args:
        outcome: with its rated seats.
        length: the statistic with the number of words judges read of a seat; empty for none.
    """
    for index, one in enumerate(outcome.seats):
        for other in outcome.seats[index + 1 :]:
            if one.policy != other.policy:
                score = 0.5 + 0.5 * ((one.reward > other.reward) - (one.reward < other.reward))
                words = (one.statistics.get(length, -1.0), other.statistics.get(length, -1.0))
                style = {LENGTH: words} if min(words) >= 0 else NO_STYLE
                yield Battle(one.policy, other.policy, score, str(outcome.seed), style=style)
