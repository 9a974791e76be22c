"""The conditions of stop rules: each holds of the results so far or not, and describes them beside what it asks for."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rating.schemes.stopping.evidence import ORDERS, Evidence
from rating.schemes.stopping.values import compared
from rating.statistics.estimates import Z_95


class Condition(Protocol):
    """Something that a rule asks for; it is asked only when everybody under test has met somebody else."""

    def holds(self, evidence: Evidence) -> bool:
        """Says whether it does."""

    def reached(self, evidence: Evidence) -> str:
        """Returns the present values beside those asked for."""


@dataclass(frozen=True)
class TrueSkillInMatchOrder:
    """No mu has changed much over the last matches of any policy, or every sigma is small, in the order of the matches.

    It stops like a fixed number of matches: how close the policies are changes nothing, so it does not promise their order.

    Attributes:
        window: own matches ago with which a policy's mu is compared.
        eps: every mu must have changed by less.
        sigma: every sigma must be less.
    """

    window: int
    eps: float
    sigma: float

    def holds(self, evidence: Evidence) -> bool:
        """Says whether one of them is."""
        return bool(self.reason(evidence))

    def reason(self, evidence: Evidence) -> str:
        """Returns which of them is, ``mu_stable`` or ``sigma``, or an empty string."""
        if evidence.change(self.window) < self.eps:
            return "mu_stable"
        return "sigma" if evidence.sigma() < self.sigma else ""

    def reached(self, evidence: Evidence) -> str:
        """Returns the values, and the order that they do not promise."""
        values = _convergence(evidence.sigma(), self.sigma, evidence.change(self.window), self.eps, self.window)
        return (
            f"{values}, in match order; this rule does not promise the order of the policies: expected Spearman"
            f" {evidence.expected_spearman():.3f}"
        )


@dataclass(frozen=True)
class OrderFreeTrueSkill:
    """The same of ratings that are averaged over random orders of the matches; attributes as ``TrueSkillInMatchOrder``."""

    window: int
    eps: float
    sigma: float

    def holds(self, evidence: Evidence) -> bool:
        """Says whether one of them is."""
        return evidence.mean_sigma() < self.sigma or evidence.mean_change(self.window) < self.eps

    def reached(self, evidence: Evidence) -> str:
        """Returns the values."""
        values = _convergence(
            evidence.mean_sigma(), self.sigma, evidence.mean_change(self.window), self.eps, self.window
        )
        return f"{values}, means over {ORDERS} orders"


@dataclass(frozen=True)
class OrderKnown:
    """The order of the ratings is expected to be nearly the true one.

    Attributes:
        level: least expected Spearman correlation of both, by draws from the posterior of the ratings.
    """

    level: float

    def holds(self, evidence: Evidence) -> bool:
        """Says whether it is."""
        return evidence.expected_spearman() >= self.level

    def reached(self, evidence: Evidence) -> str:
        """Returns the expected correlation."""
        return f"expected Spearman {compared(evidence.expected_spearman(), self.level, 3)} (asked: {self.level:g})"


@dataclass(frozen=True)
class Separated:
    """Of every two neighbours in the order of the ratings it is known who is ahead, or that they hardly differ.

    The 95 % interval of the difference of both excludes 0, or lies within the margin; it is the interval of one look at one pair.

    Attributes:
        margin: difference in Elo that does not matter; 0 if every one does.
    """

    margin: float

    def holds(self, evidence: Evidence) -> bool:
        """Says whether that is so of all."""
        return all(low > 0 or high <= self.margin for low, high in _gaps(evidence))

    def reached(self, evidence: Evidence) -> str:
        """Returns how many pairs are separated."""
        gaps = list(_gaps(evidence))
        apart = sum(low > 0 for low, _ in gaps)
        close = sum(low <= 0 and high <= self.margin for low, high in gaps)
        margin = f", {close} within {self.margin:g} Elo" if self.margin else ""
        return f"of {len(gaps)} pairs of neighbours {apart} separated{margin} (asked: all)"


def _convergence(sigma: float, most: float, change: float, eps: float, window: int) -> str:
    """Returns the criterion of TrueSkill that holds, the sigma if both do; both criteria if none holds."""
    sigmas = f"largest sigma {compared(sigma, most, 2)} (asked: below {most:g})"
    known = compared(change, eps, 2) if math.isfinite(change) else "not known yet"
    changes = f"largest change of mu {known} over {window} matches (asked: below {eps:g})"
    if sigma < most:
        return f"TrueSkill: {sigmas}"
    return f"TrueSkill: {changes}" if change < eps else f"TrueSkill: {sigmas} or {changes}"


def _gaps(evidence: Evidence) -> Iterator[tuple[float, float]]:
    """Yields the interval of the distance of every two neighbours of which one is under test."""
    posterior = evidence.posterior()
    order = np.argsort(-posterior.ratings, kind="stable")
    for upper, lower in itertools.pairwise(order):
        if {posterior.policies[upper], posterior.policies[lower]}.isdisjoint(evidence.under_test):
            continue
        covariance = posterior.covariance
        distance = float(posterior.ratings[upper] - posterior.ratings[lower])
        variance = covariance[upper, upper] + covariance[lower, lower] - 2 * covariance[upper, lower]
        half = Z_95 * float(np.sqrt(max(variance, 0.0)))
        yield distance - half, distance + half


@dataclass(frozen=True)
class NarrowIntervals:
    """Every rating is known closely enough.

    Attributes:
        most: half of the widest 95 % interval that a leaderboard prints, in Elo.
    """

    most: float

    def holds(self, evidence: Evidence) -> bool:
        """Says whether it is."""
        return evidence.half_width() <= self.most

    def reached(self, evidence: Evidence) -> str:
        """Returns the widest interval."""
        half = evidence.half_width()
        known = f"every rating to ±{compared(half, self.most, 0)} Elo" if half < math.inf else "an interval without end"
        return f"{known} (asked: ±{self.most:g})"
