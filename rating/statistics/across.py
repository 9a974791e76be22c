"""Several environments together: how likely a policy is to win against the others, on average over environments.

Ratings of different environments have no common scale, and the best of an environment is a different one in each. The chance to
win against the same opponents means the same everywhere: Bradley-Terry (Bradley and Terry 1952) is fitted to each environment,
the expected score of a policy is averaged over its opponents and then over environments, each of which counts alike. Only
environments and policies count that make a complete table, so that nobody gains by leaving out what it is bad at.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rating.statistics.bradley_terry import ELO_PER_NAT, BradleyTerryFit
from rating.statistics.bradley_terry.model import probability
from rating.statistics.estimates import Z_95, Estimate
from rating.statistics.simultaneous import Pair, difference_errors, established_above

Floats = NDArray[np.float64]

_NORMAL = 1e6
"""Degrees of freedom of Student's t that make it normal."""


@dataclass(frozen=True)
class CommonPolicies:
    """Who is compared where.

    Attributes:
        environments: in the order they came in.
        policies: sorted; each has a rating in every one of the environments.
    """

    environments: tuple[str, ...]
    policies: tuple[str, ...]


NOBODY = CommonPolicies((), ())


def largest_pool(policies: Mapping[str, tuple[str, ...]]) -> CommonPolicies:
    """Returns the complete table with the most cells; of equal ones that with more environments.

    Args:
        policies: those with a rating, by environment.

    Returns:
        A pool of two policies or more, or an empty one.
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
    """Returns the mean expected score of every policy of a pool against the others of it, on both seats alike.

    The 95 % interval is by the delta method from the covariance of the ratings, on the logistic scale, so that it stays within
    0 and 1. It tells how well these environments are known, not what others would say.

    Args:
        fits: of each environment of the pool.
        pool: two policies or more.
    """
    values, covariance = _joint(fits, pool)
    errors = np.sqrt(np.diag(covariance))
    return {
        name: _estimate(value, error, len(pool.environments))
        for name, value, error in zip(pool.policies, values.tolist(), errors.tolist(), strict=True)
    }


def established_scores(fits: Mapping[str, BradleyTerryFit], pool: CommonPolicies) -> tuple[Pair, ...]:
    """Returns the pairs of policies whose difference of mean expected scores is established, all pairs together.

    Args:
        fits: of each environment of the pool.
        pool: two policies or more.
    """
    values, covariance = _joint(fits, pool)
    if not np.isfinite(covariance).all():
        return ()
    one, other = np.triu_indices(len(values), 1)
    lead = (values[one] - values[other]) / difference_errors(covariance, one, other)
    above = established_above(lead, covariance, one, other, degrees=_NORMAL)
    return tuple(Pair(pool.policies[better], pool.policies[worse]) for better, worse in np.argwhere(above))


def _joint(fits: Mapping[str, BradleyTerryFit], pool: CommonPolicies) -> tuple[Floats, Floats]:
    """Returns the mean expected scores of a pool and their covariance, scaled so that normal quantiles apply."""
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
