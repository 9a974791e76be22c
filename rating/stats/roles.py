"""Contributions in team and asymmetric games: skill by role, and plus-minus.

Skill by role is for games with asymmetric sides. The first side wins with probability ``1 / (1 + exp(-(b + s - o)))``: ``s`` and
``o`` are the mean skills of its players and of the other players, each in its role, and ``b`` is the advantage of the first side.
A policy has one skill per role. The skills of a policy have a correlated Gaussian prior, so results in one role inform the
others. The fit averages over prior widths and correlations, weighted by the marginal likelihood of the results (Laplace
approximation). Skills are on the Elo scale, with mean 1000 in each role. A win rate in a role depends on the other players of
each match; a skill is corrected for them, within its error.

Plus-minus is for teams with a common result, by least squares: the result of a match is the sum of an effect of its deal and an
effect of each team member. Unlike a mean over matches, this corrects for better partners and easier deals.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from rating.stats.bradley_terry import ELO_PER_NAT, MEAN_RATING
from rating.stats.estimates import Z_95, Estimate, Floats, with_interval

_WIDTHS = (0.6, 1.0, 1.7, 3.0)
"""Standard deviations of the prior, in nats; the smallest is 100 Elo."""

_CORRELATIONS = (0.4, 0.0, 0.7, 0.9)

_HOPELESS = 15.0
"""Deficit in log evidence, in nats, beyond which a prior width is not fitted with further correlations."""

_NOTHING = 1e-9

_CLOSE = 1e-5
"""Convergence threshold for the change of a logit, in nats; the error squares with every Newton step."""

_SIDE_WIDTH = 2.5
"""Standard deviation of the prior of the first side's advantage, in nats."""

_ROUNDING = 1e-9


class RoleMatch(NamedTuple):
    """A match between two sides.

    Attributes:
        first: policy and role of each player of the first side.
        others: policy and role of each other player.
        score: 1 if the first side won, 0 if the others won, 0.5 for neither.
        deal: number of the deal; matches of one deal are not independent.
    """

    first: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...]
    score: float
    deal: int


@dataclass(frozen=True)
class RoleSkills:
    """Fitted skills.

    Attributes:
        skills: in Elo, by policy and role, for every role played by the policy and at least one other.
        overall: mean over all roles, for policies with a skill in each.
        advantage: advantage of the first side between average players, in Elo.
        prior_sd: fitted width of the prior, in Elo.
        correlation: fitted correlation between the skills of a policy.
    """

    skills: dict[str, dict[str, Estimate]]
    overall: dict[str, Estimate]
    advantage: Estimate
    prior_sd: float
    correlation: float


def role_skills(matches: Iterable[RoleMatch]) -> RoleSkills | None:
    """Fits the skills of all policies in all roles.

    The error of a skill is the larger of the model's and one clustered by deal.

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
    played &= played.sum(axis=0) > 1  # a skill is relative to other policies
    contrasts = _contrasts(played)
    values = contrasts @ skills * ELO_PER_NAT
    errors = _errors(contrasts, model, data.clustered(skills, model, deals)) * ELO_PER_NAT
    found: dict[str, dict[str, Estimate]] = {}
    overall: dict[str, Estimate] = {}
    for index, policy in enumerate(policies):
        at = [index * len(roles) + place for place in range(len(roles))]
        found[policy] = {
            role: _estimate(MEAN_RATING, values[place], errors[place], int(matches_in[place]))
            for role, place in zip(roles, at, strict=True)
            if played.ravel()[place]
        }
        if played[index].all():
            overall[policy] = _estimate(
                MEAN_RATING, values[size + index], errors[size + index], int(matches_in[at].sum())
            )
    return RoleSkills(
        found,
        overall,
        _estimate(0.0, values[-1], errors[-1], len(ordered)),
        width * ELO_PER_NAT,
        correlation,
    )


def _estimate(origin: float, value: float, error: float, matches: int) -> Estimate:
    """Returns a value in Elo, measured from an origin, with its 95 % interval."""
    centre, half = origin + float(value), Z_95 * float(error)
    return Estimate(centre, centre - half, centre + half, matches, matches)


@dataclass(frozen=True, eq=False)
class _Data:
    """Results of m matches. The k parameters are the skills by policy, then role, and the advantage of the first side.

    Attributes:
        design: coefficient of each parameter, shape (m, k).
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
        """Returns the negative Hessian of the log posterior."""
        p = self.chance(skills)
        return (self.design * (p * (1 - p))[:, None]).T @ self.design + precision

    def fit(self, width: float, correlation: float, start: Floats) -> "_Fit":
        """Returns the posterior mode under a prior; damped as the fit of ``rating.stats.bradley_terry``."""
        skills, precision = start.copy(), self.precision(width, correlation)
        for _ in range(200):
            gradient = self.design.T @ (self.score - self.chance(skills)) - precision @ skills
            step = np.linalg.solve(self.hessian(skills, precision), gradient)
            change = np.abs(self.design @ step).max()
            skills += step * (math.log1p(change) / change if change > _CLOSE else 1.0)
            if change <= _CLOSE:
                break
        else:
            raise ArithmeticError(
                f"the fit of role skills did not converge: a change of {change:g} is left after 200 steps"
            )
        hessian = self.hessian(skills, precision)
        lead = self.design @ skills
        likelihood = float(np.sum(self.score * lead - np.logaddexp(0, lead)) - skills @ precision @ skills / 2)
        determinants = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(hessian)[1]
        return _Fit(width, correlation, skills, hessian, likelihood + float(determinants) / 2)

    def clustered(self, skills: Floats, inverse: Floats, deals: NDArray[np.intp]) -> Floats | None:
        """Returns the sandwich covariance; ``None`` unless there are more deals than parameters."""
        count, size = int(deals.max()) + 1, self.design.shape[1]
        if count <= size:
            return None
        gradients = np.zeros((count, size))
        np.add.at(gradients, deals, self.design * (self.score - self.chance(skills))[:, None])
        return inverse @ (gradients.T @ gradients) @ inverse * (count / (count - size))


class _Fit(NamedTuple):
    """The fit under one prior: skills, negative Hessian of the log posterior, and log marginal likelihood."""

    width: float
    correlation: float
    skills: Floats
    hessian: Floats
    evidence: float


class _Posterior(NamedTuple):
    """Posterior averaged over priors: mean, covariance, prior width and correlation."""

    mean: Floats
    covariance: Floats
    width: float
    correlation: float


def _posterior(data: _Data) -> _Posterior:
    """Returns the posterior averaged over priors, weighted by their marginal likelihood."""
    fits: list[_Fit] = []
    skills = np.zeros(data.design.shape[1])
    for correlation in _CORRELATIONS:
        best = max((fit.evidence for fit in fits), default=0.0)
        for width in _WIDTHS:
            known = next((fit for fit in fits if fit.width == width), None)
            if known is None or known.evidence > best - _HOPELESS:
                fits.append(data.fit(width, correlation, skills if known is None else known.skills))
                skills = fits[-1].skills
    evidence = np.array([fit.evidence for fit in fits])
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    means = np.array([fit.skills for fit in fits])
    mean = weights @ means
    apart = means - mean
    covariance = (apart * weights[:, None]).T @ apart
    for weight, fit in zip(weights, fits, strict=True):
        if weight > _NOTHING:
            covariance += weight * np.linalg.inv(fit.hessian)
    width = float(weights @ np.array([fit.width for fit in fits]))
    return _Posterior(mean, covariance, width, float(weights @ np.array([fit.correlation for fit in fits])))


def _contrasts(played: NDArray[np.bool_]) -> Floats:
    """Returns rows of contrasts: each skill minus the mean of its role, the means over roles, the advantage.

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
    """Returns the largest standard error of each contrast over the covariances."""
    known: Sequence[Floats] = [one for one in covariances if one is not None]
    return np.sqrt(np.max([np.einsum("ij,jk,ik->i", contrasts, one, contrasts) for one in known], axis=0))


class TeamResult(NamedTuple):
    """The common result of a team.

    Attributes:
        members: policy on each seat.
        value: their common result.
        deal: number of the deal; results of one deal have an effect in common.
    """

    members: tuple[str, ...]
    value: float
    deal: int


def plus_minus(results: Iterable[TeamResult]) -> dict[str, Estimate]:
    """Returns the effect of each policy on a seat, relative to the average policy.

    The variance is the jackknife over deals, with Student's quantile for their number: exact if every deal was played by the
    same teams, slightly conservative otherwise.

    Args:
        results: results of matches, in any order. Matches of a policy with itself count like others; leave them out to measure
            its effect on other policies.

    Returns:
        By policy, sorted, with its number of results as ``n``. A policy is missing if its effect is not identified, e.g. for
        two policies that only played with each other. The interval is left out for few deals (``with_interval``) or without
        variation.
    """
    ordered = sorted(results, key=lambda result: (result.deal, result.members, result.value))
    names = sorted({name for result in ordered for name in result.members})
    if not names:
        return {}
    deals, deal = np.unique([result.deal for result in ordered], return_inverse=True)
    index_of = {name: index for index, name in enumerate(names)}
    seats = np.zeros((len(ordered), len(names)))
    for row, result in enumerate(ordered):
        for name in result.members:
            seats[row, index_of[name]] += 1
    games = np.count_nonzero(seats, axis=0)
    seats, values = _less_deal_means(seats, deal), _less_deal_means(np.array([[r.value] for r in ordered]), deal)[:, 0]
    products = seats.T @ seats
    inverse = _inverse(products)
    effects = inverse @ (seats.T @ values)
    centre = np.eye(len(names)) - 1 / len(names)
    unknown = np.abs(centre - centre @ inverse @ products).max(axis=1) > 1e-6
    shifts = _jackknife(seats, values - seats @ effects, deal, products) @ centre.T
    telling = len(shifts)
    errors = np.sqrt((telling - 1) / telling * (shifts**2).sum(axis=0)) if telling > 1 else np.zeros(len(names))
    scale = np.abs(values).max(initial=0.0)
    found = {}
    for index, name in enumerate(names):
        if unknown[index]:
            continue
        value, half = float((centre @ effects)[index]), 0.0
        if errors[index] > _ROUNDING * scale:
            half = float(stdtrit(telling - 1, 0.975) * errors[index])
        n = int(games[index])
        found[name] = (
            with_interval(value, value - half, value + half, n, len(deals))
            if half
            else Estimate(value, None, None, n, len(deals))
        )
    return found


def _less_deal_means(columns: Floats, deal: NDArray[np.intp]) -> Floats:
    """Returns the columns minus their mean of each deal, which removes the effects of deals from a regression."""
    sums = np.zeros((deal.max() + 1, columns.shape[1]))
    np.add.at(sums, deal, columns)
    return columns - (sums / np.bincount(deal)[:, None])[deal]


def _inverse(products: Floats) -> Floats:
    """Returns the pseudo-inverse of a matrix of sums of products."""
    return np.linalg.pinv(products, rtol=_ROUNDING, hermitian=True).astype(np.float64)


def _jackknife(seats: Floats, residuals: Floats, deal: NDArray[np.intp], products: Floats) -> Floats:
    """Returns the change of the effects when each informative deal is left out, shape (deals, policies)."""
    shifts: list[Floats] = []
    for rows in np.split(np.arange(len(deal)), np.flatnonzero(np.diff(deal)) + 1):
        own = seats[rows]
        if np.abs(own).max() > _ROUNDING:
            shifts.append(_inverse(products - own.T @ own) @ (own.T @ residuals[rows]))
    return np.array(shifts).reshape(-1, seats.shape[1])
