"""Expected scores: win probabilities across environments, and the mean score against the opponents of a policy.

Ratings of different environments have no common scale, and the best policy differs between them. Win probabilities against the
same opponents are comparable: Bradley-Terry (Bradley and Terry 1952) is fitted to each environment, and the expected score of a
policy is averaged over its opponents and then over environments with equal weight. Only environments and policies of a complete
table count, so leaving out a weak environment gives no advantage.

``met_scores`` are mean scores over the matches as scheduled. Only the results are random, not the opponents. The variance of a
match is the Bradley-Terry fit's, averaged over the distribution of the ratings, times the dispersion: the squares of the
residuals, summed by deal, over their expectation. The interval is Wilson's (1927) for the number of independent matches with the
same variance, with Student's quantile.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from rating.stats.bradley_terry import ELO_PER_NAT, BradleyTerryFit, Comparisons, fit
from rating.stats.bradley_terry.model import probability
from rating.stats.estimates import Z_95, Estimate, Floats, wilson_interval, with_interval
from rating.stats.simultaneous import Pair, difference_errors, established_above

_NORMAL = 1e6
"""Degrees of freedom of Student's t that make it practically normal."""

_PRIOR_MATCHES = 8.0
"""Prior weight of a dispersion of 1, in even matches of variance 1/4: results without an upset do not exclude it."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


@dataclass(frozen=True)
class CommonPolicies:
    """A complete table of environments and policies.

    Attributes:
        environments: in input order.
        policies: sorted; each has a rating in every environment.
    """

    environments: tuple[str, ...]
    policies: tuple[str, ...]


NOBODY = CommonPolicies((), ())


def largest_pool(policies: Mapping[str, tuple[str, ...]]) -> CommonPolicies:
    """Returns the largest complete table; for equal sizes, the one with more environments.

    Args:
        policies: policies with a rating, by environment.

    Returns:
        A pool of two or more policies, or an empty one.
    """
    played = {
        name: frozenset(environment for environment, names in policies.items() if name in names)
        for names in policies.values()
        for name in names
    }
    sets = set(played.values())
    candidates = {frozenset.intersection(*played.values())} if played else set()
    candidates |= sets | {a & b for a, b in itertools.combinations(sets, 2)}
    best = NOBODY
    for chosen in candidates:
        pool = CommonPolicies(
            tuple(environment for environment in policies if environment in chosen),
            tuple(sorted(name for name, own in played.items() if chosen and chosen <= own)),
        )
        if len(pool.policies) >= 2 and _size(pool) > _size(best):
            best = pool
    return best


def _size(pool: CommonPolicies) -> tuple[int, int, tuple[str, ...]]:
    environments, policies = len(pool.environments), len(pool.policies)
    return environments * policies, environments, pool.environments


def win_probabilities(fits: Mapping[str, BradleyTerryFit], pool: CommonPolicies) -> dict[str, Estimate]:
    """Returns the mean expected score of every policy against the others of the pool, averaged over both seats.

    The 95 % interval is by the delta method from the covariance of the ratings, on the logistic scale, so it stays within 0 and
    1. It does not extend to other environments.

    Args:
        fits: fit of each environment of the pool.
        pool: two or more policies.
    """
    values, covariance = _joint(fits, pool)
    errors = np.sqrt(np.diag(covariance))
    return {
        name: _estimate(value, error, len(pool.environments))
        for name, value, error in zip(pool.policies, values.tolist(), errors.tolist(), strict=True)
    }


def established_scores(fits: Mapping[str, BradleyTerryFit], pool: CommonPolicies) -> tuple[Pair, ...]:
    """Returns the pairs of policies with an established difference of mean expected scores, corrected for multiple comparisons.

    Args:
        fits: fit of each environment of the pool.
        pool: two or more policies.
    """
    values, covariance = _joint(fits, pool)
    if not np.isfinite(covariance).all():
        return ()
    one, other = np.triu_indices(len(values), 1)
    lead = (values[one] - values[other]) / difference_errors(covariance, one, other)
    above = established_above(lead, covariance, one, other, degrees=_NORMAL)
    return tuple(Pair(pool.policies[better], pool.policies[worse]) for better, worse in np.argwhere(above))


def _joint(fits: Mapping[str, BradleyTerryFit], pool: CommonPolicies) -> tuple[Floats, Floats]:
    """Returns the mean expected scores of a pool and their covariance, scaled for normal quantiles."""
    size, count = len(pool.policies), len(pool.environments)
    values, total = np.zeros(size), np.zeros((size, size))
    for environment in pool.environments:
        fitted = fits[environment]
        index = [fitted.policies.index(name) for name in pool.policies]
        x, seat = fitted.ratings[index] / ELO_PER_NAT, fitted.seat_advantage / ELO_PER_NAT
        d = x[:, None] - x[None, :]
        p = np.stack((probability(d + seat), probability(d - seat)))
        np.einsum("sii->si", p)[...] = 0.0
        slope = (p * (1 - p)).mean(axis=0)
        values += p.mean(axis=0).sum(axis=1) / ((size - 1) * count)
        gradient = (np.diag(slope.sum(axis=1)) - slope) / ((size - 1) * count)
        if fitted.clusters == 1:
            total += math.inf
            continue
        covariance = fitted.covariance[np.ix_(index, index)] * (fitted.reach / Z_95 / ELO_PER_NAT) ** 2
        total += gradient @ covariance @ gradient.T
    return values, total


def _estimate(value: float, error: float, environments: int) -> Estimate:
    value = min(max(value, 1e-12), 1 - 1e-12)
    logit, half = math.log(value / (1 - value)), Z_95 * error / (value * (1 - value))
    low, high = probability([logit - half, logit + half]).tolist()
    return Estimate(value, low, high, environments, environments)


def met_scores(comparisons: Comparisons, fitted: BradleyTerryFit) -> dict[str, Estimate]:
    """Returns the mean score of each policy, clustered by deal.

    Args:
        comparisons: results, each of weight 1.
        fitted: ratings fitted to the same results, with the options to use.
    """
    plain = fit(comparisons, fitted.options)  # has the covariance of the model
    first, second, size = comparisons.first, comparisons.second, len(comparisons.policies)
    policy = np.concatenate((first, second))
    score = np.concatenate((comparisons.score, 1 - comparisons.score))
    expected, mean, variance = _expected(comparisons, plain)
    residual = score - np.concatenate((expected, 1 - expected))
    information = np.tile(expected * (1 - expected), 2)
    cells, cell = np.unique(np.tile(comparisons.cluster, 2) * size + policy, return_inverse=True)
    deals = len(np.unique(comparisons.cluster))
    # The residuals of a deal add up to 0.
    known = len(cells) - deals
    free = max(known - size + 1 - int(plain.options.seat_term), 1)
    squares = float(np.sum(np.bincount(cell, residual) ** 2)) * known / free
    dispersion = (squares + _PRIOR_MATCHES / 4) / (float(information.sum()) + _PRIOR_MATCHES / 4)
    matches = np.bincount(policy, minlength=size)
    value = np.bincount(policy, score, minlength=size) / matches
    centre = np.bincount(policy, np.concatenate((mean, 1 - mean)), minlength=size) / matches
    error = dispersion * np.bincount(policy, np.tile(variance, 2), minlength=size) / matches**2
    quantile = float(stdtrit(free, 0.975))
    clusters = np.bincount(cells % size, minlength=size)
    return {
        name: with_interval(
            float(value[index]),
            *wilson_interval(float(value[index]), float(centre[index] * (1 - centre[index]) / error[index]), quantile),
            int(matches[index]),
            int(clusters[index]),
            (0.0, 1.0),
        )
        for index, name in enumerate(comparisons.policies)
    }


def _expected(comparisons: Comparisons, fitted: BradleyTerryFit) -> tuple[Floats, Floats, Floats]:
    """Returns for each result the expected score of the first policy, its mean, and the mean variance of the score.

    Means are over the distribution of the difference of ratings.
    """
    first, second = comparisons.first, comparisons.second
    seat = fitted.seat_advantage if fitted.options.seat_term else 0.0
    lead = (fitted.ratings[first] - fitted.ratings[second] + seat) / ELO_PER_NAT
    own = np.diag(fitted.covariance)
    spread = np.sqrt(np.clip(own[first] + own[second] - 2 * fitted.covariance[first, second], 0, None)) / ELO_PER_NAT
    chances = probability(lead[:, None] + spread[:, None] * _NODES)
    weights = _WEIGHTS / _WEIGHTS.sum()
    return probability(lead), chances @ weights, (chances * (1 - chances)) @ weights
