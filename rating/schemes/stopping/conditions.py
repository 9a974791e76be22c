"""The conditions of stop rules: each holds of the results so far or not, and says in words what has been reached."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rating.schemes.stopping.evidence import ORDERS, Evidence
from rating.statistics.estimates import Z_95


class Condition(Protocol):
    """Something that a rule asks for; it is asked only when everybody under test has met somebody else."""

    def holds(self, evidence: Evidence) -> bool:
        """Says whether it does."""

    def reached(self, evidence: Evidence) -> str:
        """Says what has been reached, beside what is asked for."""


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
        """Says which, and what is not promised."""
        return (
            f"TrueSkill: largest change of mu {_change(evidence.change(self.window))} over {self.window} matches (asked:"
            f" below {self.eps:g}) or largest sigma {evidence.sigma():.2f} (asked: below {self.sigma:g}), in match order; this"
            f" rule does not promise the order of the policies: expected Spearman {evidence.expected_spearman():.3f}"
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
        """Says how far it has converged, in that of the two ways in which it has."""
        sigma = evidence.mean_sigma()
        said = f"TrueSkill: largest sigma {sigma:.2f} (asked: below {self.sigma:g})"
        if sigma >= self.sigma:
            said += (
                f" or largest change of mu {_change(evidence.mean_change(self.window))} over {self.window} matches (asked:"
                f" below {self.eps:g})"
            )
        return f"{said}, means over {ORDERS} orders"


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
        """Says what is expected."""
        return f"expected Spearman {evidence.expected_spearman():.3f} (asked: {self.level:g})"


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
        """Says of how many."""
        gaps = list(_gaps(evidence))
        apart = sum(low > 0 for low, _ in gaps)
        close = sum(low <= 0 and high <= self.margin for low, high in gaps)
        margin = f", {close} within {self.margin:g} Elo" if self.margin else ""
        return f"of {len(gaps)} pairs of neighbours {apart} separated{margin} (asked: all)"


def _change(change: float) -> str:
    """Writes the largest change of a rating, which is infinite while somebody has not played long enough for one."""
    return f"{change:.2f}" if math.isfinite(change) else "not known yet"


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
        """Says how closely."""
        half = evidence.half_width()
        known = f"every rating to ±{half:.0f} Elo" if half < float("inf") else "an interval without end"
        return f"{known} (asked: ±{self.most:g})"
