"""The conditions of stopping rules."""

import math
from dataclasses import dataclass
from typing import Protocol

from rating.schemes.stopping.evidence import MatchEvidence
from rating.schemes.stopping.values import compared

ALIKE_LEVEL = 0.9
"""Mean probability, over unresolved pairs, of a difference below the band."""

TOP_LEVEL = 0.95
"""Probability that the set of the best policies is known."""


class Condition(Protocol):
    """A condition of a rule; checked only after every policy under test has met another policy."""

    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether the condition holds."""

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns the probability that the unresolved policies differ by less than a band, in Elo; 0 if it is not used."""

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the current and required values."""


@dataclass(frozen=True)
class TrueSkillInMatchOrder:
    """No mu has changed much over the last matches of its policy, or every sigma is small, in match order.

    Like a fixed number of matches, it ignores how close the policies are. It does not ensure that their order is correct.

    Attributes:
        window: number of a policy's last matches over which its mu is compared.
        eps: every mu must have changed by less.
        sigma: every sigma must be less.
    """

    window: int
    eps: float
    sigma: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether one of the criteria holds."""
        return bool(self.reason(evidence))

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns 0: convergence does not depend on differences between policies."""
        return 0.0

    def reason(self, evidence: MatchEvidence) -> str:
        """Returns the criterion that holds, ``mu_stable`` or ``sigma``, or an empty string."""
        if evidence.change(self.window) < self.eps:
            return "mu_stable"
        return "sigma" if evidence.sigma() < self.sigma else ""

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the values and the expected accuracy of the ranking."""
        return (
            f"{self._convergence(evidence)}, in match order; this rule does not promise the order of the policies: expected"
            f" Spearman {evidence.posterior().expected_spearman():.3f}"
        )

    def _convergence(self, evidence: MatchEvidence) -> str:
        """Returns the criterion that holds, sigma if both do; both criteria if neither holds."""
        sigma, change = evidence.sigma(), evidence.change(self.window)
        sigmas = f"largest sigma {compared(sigma, self.sigma, 2)} (asked: below {self.sigma:g})"
        known = compared(change, self.eps, 2) if math.isfinite(change) else "not known yet"
        changes = f"largest change of mu {known} over {self.window} matches (asked: below {self.eps:g})"
        if sigma < self.sigma:
            return f"TrueSkill: {sigmas}"
        return f"TrueSkill: {changes}" if change < self.eps else f"TrueSkill: {sigmas} or {changes}"


@dataclass(frozen=True)
class OrderKnown:
    """The ranking is expected to be nearly correct.

    Attributes:
        level: minimum expected Spearman correlation with the true ranking, by draws from the posterior of the ratings.
    """

    level: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether the condition holds."""
        return evidence.posterior().expected_spearman() >= self.level

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns the probability over all pairs."""
        return evidence.posterior().alike(band)

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the expected correlation."""
        expected = evidence.posterior().expected_spearman()
        return f"expected Spearman {compared(expected, self.level, 3)} (asked: {self.level:g})"


@dataclass(frozen=True)
class TopKnown:
    """The set of the best policies is known, in any order.

    Attributes:
        count: number of best policies.
    """

    count: int

    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether the condition holds."""
        return evidence.posterior().top_known(self.count) >= TOP_LEVEL

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns the probability over pairs between the best policies and the others."""
        return evidence.posterior().alike(band, self.count)

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the probability."""
        known = evidence.posterior().top_known(self.count)
        return f"best {self.count} known with probability {compared(known, TOP_LEVEL, 3)} (asked: {TOP_LEVEL:g})"


@dataclass(frozen=True)
class Separated:
    """The order of every two neighbours in the ranking is established, or they hardly differ.

    An order is established if the leaderboard shows it, simultaneously for all pairs and looks. Two policies hardly differ if the
    95 % interval of their difference, for one pair and one look, lies within the margin.

    Attributes:
        margin: negligible difference in Elo; 0 for none.
    """

    margin: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether the condition holds for all neighbours."""
        return all(pair.is_established or pair.most <= self.margin for pair in evidence.neighbours())

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns 0: the condition has its own margin."""
        return 0.0

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the number of separated pairs."""
        pairs = list(evidence.neighbours())
        apart = sum(pair.is_established for pair in pairs)
        close = sum(pair.most <= self.margin and not pair.is_established for pair in pairs)
        margin = f", {close} within {self.margin:g} Elo" if self.margin else ""
        return f"of {len(pairs)} pairs of neighbours {apart} separated{margin} (asked: all)"


@dataclass(frozen=True)
class NarrowIntervals:
    """Every rating is precise enough.

    Attributes:
        most: maximum half-width of a 95 % interval on the leaderboard, in Elo.
    """

    most: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether the condition holds."""
        return evidence.half_width() <= self.most

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns 0: the condition concerns the ratings, not their order."""
        return 0.0

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the widest interval."""
        half = evidence.half_width()
        known = f"every rating to ±{compared(half, self.most, 0)} Elo" if half < math.inf else "an interval without end"
        return f"{known} (asked: ±{self.most:g})"
