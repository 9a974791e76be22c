"""Exact test of a judge's preference for one kind of side, e.g. position bias; and changes of verdicts."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from rating.stats.estimates import Estimate, Floats, Integers, rate_estimate


class BiasTrial(NamedTuple):
    """A verdict on two sides, A and B, one of them of the tested kind.

    Attributes:
        stratum: group of trials with equally good sides: the same texts, or the same two players.
        is_a: whether A is the side of this kind.
        score: score of A: 1, 0, or 0.5 for a tie.
    """

    stratum: Hashable
    is_a: bool
    score: float


class BiasEstimate(NamedTuple):
    """Preference of a judge for one kind of side.

    Attributes:
        share: mean score of this kind against equally good sides of the other kind, 0 to 1; 0.5 is no bias. ``None`` without
            trials of both kinds in one stratum.
        p: p-value of the exact test of no bias; ``None`` like ``share``.
    """

    share: Estimate | None
    p: float | None


def preference(trials: Sequence[BiasTrial]) -> BiasEstimate:
    """Compares the scores of A with and without the tested kind, within each stratum.

    The two-sided test permutes the scores within strata: for one text in both orders it is the sign test on discordant pairs
    (McNemar), for decided verdicts on two players the exact test of Cochran, Mantel and Haenszel.

    The share is based on the Mantel-Haenszel mean difference. Its interval is Wilson's for the number of verdicts of a balanced
    design with the same information.

    Args:
        trials: independent verdicts of one judge; A is the same text or player throughout a stratum.
    """
    strata: dict[Hashable, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for trial in trials:
        strata[trial.stratum][trial.is_a].append(trial.score)
    mixed = [(other, own) for other, own in strata.values() if other and own]
    if not mixed:
        return BiasEstimate(None, None)
    n = sum(len(other) + len(own) for other, own in mixed)
    weights = np.array([len(other) * len(own) / (len(other) + len(own)) for other, own in mixed])
    gains = np.array([sum(own) / len(own) - sum(other) / len(other) for other, own in mixed])
    share, informative = float(1 + gains @ weights / weights.sum()) / 2, max(1, int(4 * weights.sum()))
    estimate = rate_estimate(min(max(share, 0.0), 1.0) * informative, informative)
    return BiasEstimate(estimate and estimate._replace(n=n, clusters=n), _exact_p(mixed))


def _exact_p(strata: Sequence[tuple[list[float], list[float]]]) -> float:
    """Returns the p-value of the sum of the scores in the second parts, given all scores of each stratum."""
    found, margins = 0.0, Counter[tuple[int, int, int, int]]()
    for other, own in strata:
        scores = other + own
        margins[len(scores), len(own), scores.count(0.5), scores.count(1)] += 1
        found += 2 * sum(own)
    chances = np.ones(1)
    for margin, times in margins.items():
        one = _chances(*margin)
        for _ in range(times if np.count_nonzero(one) > 1 else 0):
            chances = np.convolve(chances, one)
        if np.count_nonzero(one) == 1:
            found -= times * int(one.argmax())
    return min(1.0, float(chances[chances <= chances[round(found)] * (1 + 1e-9)].sum()))


@lru_cache(maxsize=10_000)
def _chances(n: int, drawn: int, ties: int, wins: int) -> Floats:
    """Returns the distribution of twice the sum of ``drawn`` of ``n`` scores with the given ties and wins."""
    chances = np.zeros(2 * drawn + 1)
    for tied in range(min(drawn, ties) + 1):
        won: Integers = np.arange(drawn - tied + 1)
        ways = _log_choose(wins, won) + _log_choose(n - ties - wins, drawn - tied - won)
        chances[2 * won + tied] += np.exp(ways + _log_choose(ties, tied) - _log_choose(n, drawn))
    return chances


def _log_choose(n: int, k: Integers | int) -> Floats:
    """Returns the logarithm of a binomial coefficient; minus infinity if it is 0."""
    return np.asarray(gammaln(n + 1) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n + 1, k)), dtype=np.float64)


class Changes(NamedTuple):
    """Changes of a judge's verdicts after reading the other judges' verdicts.

    Attributes:
        changed: share of changed verdicts.
        towards: share of changed verdicts that moved to the first verdict of most others.
        away: share of changed verdicts that moved away from the first verdict of most others.
    """

    changed: Estimate | None
    towards: Estimate | None
    away: Estimate | None


def changes(verdicts: Sequence[tuple[str, str, str | None]]) -> Changes:
    """Returns the share and direction of changed verdicts.

    Args:
        verdicts: the first verdict, the final one, and the first verdict of most others (``None`` if unknown).
    """
    changed = [verdict for verdict in verdicts if verdict[0] != verdict[1]]
    compared = [verdict for verdict in changed if verdict[2] is not None]
    return Changes(
        rate_estimate(len(changed), len(verdicts)),
        rate_estimate(sum(final == others for _, final, others in compared), len(compared)),
        rate_estimate(sum(first == others for first, _, others in compared), len(compared)),
    )
