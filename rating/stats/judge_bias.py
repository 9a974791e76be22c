"""Tests of one judge: preference for a kind of side, and the effect of a trait beyond the other judges' view.

``preference`` is an exact test between equally good sides, e.g. for position bias.

``beyond_others`` is a linear regression of the judge's score on the mean score by the other judges, the trait and the position,
with HC3 errors. The mean of few judges measures their view with error. Uncorrected, the trait would absorb the unmeasured part,
and a judge more accurate than the others would seem to favour good sides. So the square of the mean is replaced by the mean
product over pairs of other judges, an unbiased estimate of the squared view.

Sources: Fuller, "Measurement Error Models" (1987), for the corrected moments; MacKinnon and White, "Some
heteroskedasticity-consistent covariance matrix estimators with improved finite sample properties" (1985), for HC3.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, stdtr, stdtrit

from rating.stats.estimates import Estimate, Floats, Integers, rate_estimate, with_interval

FEWEST_ITEMS = 20
"""Minimum number of items with the trait on one side for a test."""

POINTS = 0.1
"""Size of the bias in statements of power: of two equal sides, the favoured one scores 60 instead of 50 points of 100."""

POINTS_BEYOND = 2 * POINTS
"""The same bias as a value of ``beyond_others``: the difference between the trait on side A and on side B."""


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


class BiasTest(NamedTuple):
    """A test of a judge for one bias.

    Attributes:
        estimate: the size of the bias: for ``preference`` the mean score of the tested kind of side, 0 to 1, where 0.5 is no
            bias; for ``beyond_others`` the points that the trait adds to the score of a side, -1 to 1.
        p: p-value of the test of no bias.
        error: standard error of the estimate, without a bias.
        freedom: its degrees of freedom.
        step: distance of neighbouring values of the estimate, which makes an exact test conservative; 0 if it is continuous.
        power: chance that a bias of 10 points would have been found; ``None`` if it is not computed.
    """

    estimate: Estimate
    p: float
    error: float = math.nan
    freedom: float = math.inf
    step: float = 0.0
    power: float | None = None


def power(test: BiasTest, level: float, bias: float) -> float | None:
    """Returns the chance that a test finds a bias, from its own standard error.

    Args:
        test: the test.
        level: two-sided level.
        bias: true value of its estimate, less the value without a bias.

    Returns:
        ``None`` without a standard error, since nothing varied.
    """
    if not test.error > 0:
        return None
    shift, critical = (bias - test.step / 2) / test.error, float(stdtrit(test.freedom, 1 - level / 2))
    return float(stdtr(test.freedom, shift - critical) + stdtr(test.freedom, -shift - critical))


def preference(trials: Sequence[BiasTrial]) -> BiasTest | None:
    """Compares the scores of A with and without the tested kind, within each stratum.

    The two-sided test permutes the scores within strata: for one text in both orders it is the sign test on discordant pairs
    (McNemar), for decided verdicts on two players the exact test of Cochran, Mantel and Haenszel.

    The share is based on the Mantel-Haenszel mean difference. Its interval is Wilson's for the number of verdicts of a balanced
    design with the same information.

    Args:
        trials: independent verdicts of one judge; A is the same text or player throughout a stratum.

    Returns:
        ``None`` without trials of both kinds in one stratum.
    """
    strata: dict[Hashable, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for trial in trials:
        strata[trial.stratum][trial.is_a].append(trial.score)
    mixed = [(other, own) for other, own in strata.values() if other and own]
    if not mixed:
        return None
    n = sum(len(other) + len(own) for other, own in mixed)
    weights = np.array([len(other) * len(own) / (len(other) + len(own)) for other, own in mixed])
    gains = np.array([sum(own) / len(own) - sum(other) / len(other) for other, own in mixed])
    share, informative = float(1 + gains @ weights / weights.sum()) / 2, max(1, int(4 * weights.sum()))
    estimate = rate_estimate(min(max(share, 0.0), 1.0) * informative, informative)
    assert estimate is not None
    error, step = _null_error(mixed, weights), 0.5 / float(weights.sum())
    return BiasTest(estimate._replace(n=n, clusters=n), _exact_p(mixed), error, step=step)


def _null_error(strata: Sequence[tuple[list[float], list[float]]], weights: Floats) -> float:
    """Returns the standard error of the share if the scores of each stratum are exchangeable."""
    variance = 0.0
    for other, own in strata:
        scores = np.array(other + own)
        n = len(scores)
        variance += len(other) * len(own) / (n * (n - 1)) * float(np.sum((scores - scores.mean()) ** 2))
    return math.sqrt(variance) / (2 * float(weights.sum()))


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


class OtherJudgesView(NamedTuple):
    """The other judges' view of an item, from scores of its side A on the scale -0.5 to 0.5.

    Attributes:
        mean: mean score.
        product: mean product of the scores of two different judges.
    """

    mean: float
    product: float


class JudgedItem(NamedTuple):
    """A judge's score of an item and the other judges' view.

    Attributes:
        score: score of side A, -0.5 to 0.5.
        position: 0.5 if A is shown first, -0.5 if second, 0 if both orders were judged.
        trait: 1 if only A has the trait, -1 if only B has it, otherwise 0.
        others: the view of the other judges.
    """

    score: float
    position: float
    trait: int
    others: OtherJudgesView


def beyond_others(rows: Sequence[JudgedItem]) -> BiasTest | None:
    """Returns the effect of the trait on the scores of one judge.

    Args:
        rows: one per item.

    Returns:
        ``None`` for fewer than ``FEWEST_ITEMS`` items with the trait, without a common view of the others, or without
        variation.
    """
    n = sum(row.trait != 0 for row in rows)
    if n < FEWEST_ITEMS:
        return None
    score, position, trait, view, product = np.array([(*row[:3], *row.others) for row in rows]).T
    if product.sum() <= 0:
        return None
    columns = [view, trait / 2] + ([position] if position.any() else [])
    data = np.stack(columns, axis=1)
    squares = data.T @ data
    corrected = squares.copy()
    corrected[0, 0] = product.sum()
    if np.linalg.matrix_rank(squares) < len(squares) or np.linalg.matrix_rank(corrected) < len(squares):
        return None
    solve = np.linalg.inv(corrected)
    weights = solve @ (data.T @ score)
    influence = data * (score - data @ weights)[:, None]
    influence[:, 0] += weights[0] * (view**2 - product)
    leverage = np.einsum("ij,jk,ik->i", data, np.linalg.inv(squares), data)
    if leverage.max() > 1 - 1e-9:
        return None
    influence /= (1 - leverage)[:, None]
    error = float(np.sqrt((solve @ (influence.T @ influence) @ solve)[1, 1]))
    if error < 1e-9:  # no variation: the error is unknown, not 0
        return None
    value, freedom = float(weights[1]), n - 1
    half = float(stdtrit(freedom, 0.975)) * error
    p = float(2 * stdtr(freedom, -abs(value) / error))
    value = min(max(value, -1.0), 1.0)
    return BiasTest(with_interval(value, value - half, value + half, n, n, (-1, 1)), p, error, freedom)
