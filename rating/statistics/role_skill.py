"""Skill by role: games whose sides have different parts, with any policies at one table.

The first side wins with probability ``1 / (1 + exp(-(b + s - o)))``: ``s`` and ``o`` are the mean skills of its players and of
the others, each in its role, and ``b`` is the advantage of the first side. A policy has a skill for every role. Its skills have a
Gaussian prior with a correlation, so that what is known of it in one role tells something of another; both its width and the
correlation are those that make the results most likely (Laplace approximation). Skills are on the Elo scale, and 1000 on average
in each role.

A share of matches won in a role depends on who else sat at the table; this does not, but for what the data leave open.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rating.statistics.estimates import Z_95

Floats = NDArray[np.float64]

ELO_PER_NAT = 400 / math.log(10)
MEAN_SKILL = 1000.0
_WIDTHS = (0.6, 1.0, 1.7, 3.0)
"""Standard deviations of the prior that are tried, in nats; the least one is 100 Elo."""
_CORRELATIONS = (0.0, 0.4, 0.7, 0.9)
_SIDE_WIDTH = 2.5
"""Standard deviation of the prior of the first side's advantage, in nats."""


class RoleMatch(NamedTuple):
    """A match between two sides.

    Attributes:
        first: policy and role of each player of the first side.
        others: of each other player.
        score: 1 if the first side won, 0 if the others did, 0.5 for neither.
        deal: matches of one deal are not independent.
    """

    first: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]
    score: float
    deal: int


class Skill(NamedTuple):
    """A skill with its 95 % interval, in Elo, and the number of matches in the role."""

    rating: float
    low: float
    high: float
    matches: int


@dataclass(frozen=True)
class RoleSkills:
    """What a fit knows.

    Attributes:
        skills: by policy and role, for every role in which it and another one have played.
        overall: mean over all roles, for policies that have a skill in each.
        advantage: of the first side between average players, in Elo.
        advantage_error: its standard error.
        prior_sd: fitted width of the prior, in Elo.
        correlation: fitted one between the skills of a policy.
    """

    skills: dict[str, dict[str, Skill]]
    overall: dict[str, Skill]
    advantage: float
    advantage_error: float
    prior_sd: float
    correlation: float


def role_skills(matches: Iterable[RoleMatch]) -> RoleSkills | None:
    """Fits the skills of all policies in all roles.

    The error of a skill is the wider of two: the model's, and one clustered by deal.

    Args:
        matches: in any order.

    Returns:
        ``None`` if there are no matches.

    Raises:
        ValueError: if a score is not within 0 and 1, or a side is empty.
        ArithmeticError: if the fit does not converge.
    """
    ordered = sorted(matches)
    if not ordered:
        return None
    for match in ordered:
        if not 0 <= match.score <= 1 or not match.first or not match.others:
            raise ValueError(f"expected a score from 0 to 1 and players on both sides, got {match}")
    seats = sorted({seat for match in ordered for seat in (*match.first, *match.others)})
    policies, roles = (sorted({seat[part] for seat in seats}) for part in range(2))
    size = len(policies) * len(roles)
    column = {seat: policies.index(seat[0]) * len(roles) + roles.index(seat[1]) for seat in seats}
    design, matches_in = np.zeros((len(ordered), size + 1)), np.zeros(size, dtype=np.int64)
    design[:, -1] = 1.0
    for row, match in enumerate(ordered):
        for side, sign in ((match.first, 1), (match.others, -1)):
            for seat in side:
                design[row, column[seat]] += sign / len(side)
        matches_in[[column[seat] for seat in {*match.first, *match.others}]] += 1
    data = _Data(design, np.array([match.score for match in ordered]), len(policies), len(roles))
    skills, model, width, correlation = _posterior(data)
    deals = np.unique([match.deal for match in ordered], return_inverse=True)[1]
    played = matches_in.reshape(len(policies), len(roles)) > 0
    played &= played.sum(axis=0) > 1  # a skill is told from that of another
    contrasts = _contrasts(played)
    values = contrasts @ skills * ELO_PER_NAT
    errors = _errors(contrasts, model, data.clustered(skills, model, deals)) * ELO_PER_NAT
    found: dict[str, dict[str, Skill]] = {}
    overall: dict[str, Skill] = {}
    for index, policy in enumerate(policies):
        at = [index * len(roles) + place for place in range(len(roles))]
        found[policy] = {
            role: _skill(values[place], errors[place], int(matches_in[place]))
            for role, place in zip(roles, at, strict=True)
            if played.ravel()[place]
        }
        if played[index].all():
            overall[policy] = _skill(values[size + index], errors[size + index], int(matches_in[at].sum()))
    return RoleSkills(
        found,
        overall,
        float(values[-1]),
        float(errors[-1]),
        width * ELO_PER_NAT,
        correlation,
    )


def _skill(value: float, error: float, matches: int) -> Skill:
    rating = MEAN_SKILL + float(value)
    return Skill(rating, rating - Z_95 * float(error), rating + Z_95 * float(error), matches)


@dataclass(frozen=True, eq=False)
class _Data:
    """Results of m matches; a vector of k skills is by policy, then role, and ends with the advantage of the first side.

    Attributes:
        design: shape (m, k): what each skill counts for.
        score: shape (m,).
        policies: number of policies.
        roles: number of roles.
    """

    design: Floats
    score: Floats
    policies: int
    roles: int

    def precision(self, width: float, correlation: float) -> Floats:
        """Returns the inverse covariance of the prior, shape (k, k)."""
        alike = correlation * np.ones((self.roles, self.roles)) + (1 - correlation) * np.eye(self.roles)
        table = np.zeros((self.design.shape[1],) * 2)
        table[:-1, :-1] = np.kron(np.eye(self.policies), np.linalg.inv(width**2 * alike))
        table[-1, -1] = _SIDE_WIDTH**-2
        return table

    def chance(self, skills: Floats) -> Floats:
        """Returns the probability that the first side wins each match."""
        return 0.5 * (1 + np.tanh(0.5 * (self.design @ skills)))

    def hessian(self, skills: Floats, precision: Floats) -> Floats:
        """Returns the negative second derivative of the log posterior."""
        p = self.chance(skills)
        return (self.design * (p * (1 - p))[:, None]).T @ self.design + precision

    def fit(self, precision: Floats, start: Floats) -> Floats:
        """Returns the most likely skills; damped as the fit of ``rating.statistics.bradley_terry``."""
        skills = start.copy()
        for _ in range(200):
            gradient = self.design.T @ (self.score - self.chance(skills)) - precision @ skills
            step = np.linalg.solve(self.hessian(skills, precision), gradient)
            change = np.abs(self.design @ step).max()
            skills += step * (math.log1p(change) / change if change > 1e-9 else 1.0)
            if change < 1e-9:
                return skills
        raise ArithmeticError(
            f"the fit of role skills did not converge: a change of {change:g} is left after 200 steps"
        )

    def evidence(self, skills: Floats, precision: Floats) -> float:
        """Returns the log likelihood of the results under a prior, by Laplace's approximation, but for a constant."""
        lead = self.design @ skills
        likelihood = float(np.sum(self.score * lead - np.logaddexp(0, lead)) - skills @ precision @ skills / 2)
        curvature = np.linalg.slogdet(self.hessian(skills, precision))[1]
        return likelihood + float(np.linalg.slogdet(precision)[1] - curvature) / 2

    def clustered(self, skills: Floats, inverse: Floats, deals: NDArray[np.intp]) -> Floats | None:
        """Returns the sandwich covariance; ``None`` if there are not more deals than parameters."""
        count, size = int(deals.max()) + 1, self.design.shape[1]
        if count <= size:
            return None
        gradients = np.zeros((count, size))
        np.add.at(gradients, deals, self.design * (self.score - self.chance(skills))[:, None])
        return inverse @ (gradients.T @ gradients) @ inverse * (count / (count - size))


class _Posterior(NamedTuple):
    """Skills after averaging over priors: mean and covariance, width of the prior and correlation."""

    mean: Floats
    covariance: Floats
    width: float
    correlation: float


def _posterior(data: _Data) -> _Posterior:
    """Returns what is known of the skills: the mean over priors, each weighed by how likely it makes the results."""
    skills = np.zeros(data.design.shape[1])
    evidence, means, covariances = [], [], []
    priors = [(width, correlation) for width in _WIDTHS for correlation in _CORRELATIONS]
    for width, correlation in priors:
        precision = data.precision(width, correlation)
        skills = data.fit(precision, skills)
        evidence.append(data.evidence(skills, precision))
        means.append(skills)
        covariances.append(np.linalg.inv(data.hessian(skills, precision)))
    weights = np.exp(np.array(evidence) - max(evidence))
    weights /= weights.sum()
    mean = weights @ np.array(means)
    apart = np.array(means) - mean
    covariance = np.tensordot(weights, np.array(covariances), 1) + (apart * weights[:, None]).T @ apart
    width, correlation = (float(weights @ np.array(column)) for column in zip(*priors, strict=True))
    return _Posterior(mean, covariance, width, correlation)


def _contrasts(played: NDArray[np.bool_]) -> Floats:
    """Returns what is asked for as sums of skills: each less the mean of its role, the means over roles, the advantage.

    Args:
        played: whether a policy has played in a role, shape (policies, roles).
    """
    policies, roles = played.shape
    size = policies * roles
    shares = (played / np.maximum(played.sum(axis=0), 1)).ravel()
    same_role = np.equal.outer(np.arange(size) % roles, np.arange(size) % roles)
    centred = np.eye(size) - same_role * shares
    overall = centred.reshape(policies, roles, size).mean(axis=1)
    table = np.zeros((size + policies + 1, size + 1))
    table[:size, :-1], table[size:-1, :-1], table[-1, -1] = centred, overall, 1.0
    return table


def _errors(contrasts: Floats, *covariances: Floats | None) -> Floats:
    """Returns the widest standard error of each contrast."""
    known: Sequence[Floats] = [one for one in covariances if one is not None]
    return np.sqrt(np.max([np.einsum("ij,jk,ik->i", contrasts, one, contrasts) for one in known], axis=0))
