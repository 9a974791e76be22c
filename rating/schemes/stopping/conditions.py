"""The conditions of stop rules: each holds of the results so far or not, and describes them beside what it asks for."""

import math
from dataclasses import dataclass
from typing import Protocol

from rating.schemes.stopping.evidence import MatchEvidence
from rating.schemes.stopping.values import compared

ALIKE_LEVEL = 0.9
"""Probability with which policies that are not told apart differ by less than the band, in the mean of such pairs."""

TOP_LEVEL = 0.95
"""Probability that the set of the best policies is known."""


class Condition(Protocol):
    """Something that a rule asks for; it is asked only when everybody under test has met somebody else."""

    def holds(self, evidence: MatchEvidence) -> bool:
        """Says whether it does."""

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns how probably the policies that keep it open differ by less than a band, in Elo; 0 if that cannot end it."""

    def reached(self, evidence: MatchEvidence) -> str:
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

    def holds(self, evidence: MatchEvidence) -> bool:
        """Says whether one of them is."""
        return bool(self.reason(evidence))

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns 0: it converges however close policies are."""
        return 0.0

    def reason(self, evidence: MatchEvidence) -> str:
        """Returns which of them is, ``mu_stable`` or ``sigma``, or an empty string."""
        if evidence.change(self.window) < self.eps:
            return "mu_stable"
        return "sigma" if evidence.sigma() < self.sigma else ""

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the values, and the order that they do not promise."""
        return (
            f"{self._convergence(evidence)}, in match order; this rule does not promise the order of the policies: expected"
            f" Spearman {evidence.posterior().expected_spearman():.3f}"
        )

    def _convergence(self, evidence: MatchEvidence) -> str:
        """Returns the criterion that holds, the sigma if both do; both criteria if none holds."""
        sigma, change = evidence.sigma(), evidence.change(self.window)
        sigmas = f"largest sigma {compared(sigma, self.sigma, 2)} (asked: below {self.sigma:g})"
        known = compared(change, self.eps, 2) if math.isfinite(change) else "not known yet"
        changes = f"largest change of mu {known} over {self.window} matches (asked: below {self.eps:g})"
        if sigma < self.sigma:
            return f"TrueSkill: {sigmas}"
        return f"TrueSkill: {changes}" if change < self.eps else f"TrueSkill: {sigmas} or {changes}"


@dataclass(frozen=True)
class OrderKnown:
    """The order of the ratings is expected to be nearly the true one.

    Attributes:
        level: least expected Spearman correlation of both, by draws from the posterior of the ratings.
    """

    level: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Says whether it is."""
        return evidence.posterior().expected_spearman() >= self.level

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns the probability for all pairs."""
        return evidence.posterior().alike(band)

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the expected correlation."""
        expected = evidence.posterior().expected_spearman()
        return f"expected Spearman {compared(expected, self.level, 3)} (asked: {self.level:g})"


@dataclass(frozen=True)
class TopKnown:
    """The best policies are known as a set, whatever their order.

    Attributes:
        count: how many.
    """

    count: int

    def holds(self, evidence: MatchEvidence) -> bool:
        """Says whether they are."""
        return evidence.posterior().top_known(self.count) >= TOP_LEVEL

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns the probability for pairs of one of the best and one of the others."""
        return evidence.posterior().alike(band, self.count)

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the probability."""
        known = evidence.posterior().top_known(self.count)
        return f"best {self.count} known with probability {compared(known, TOP_LEVEL, 3)} (asked: {TOP_LEVEL:g})"


@dataclass(frozen=True)
class Separated:
    """Of every two neighbours in the order of the ratings it is established who is ahead, or they hardly differ.

    Established is what the leaderboard says, of all pairs together at every look. They hardly differ where the 95 % interval of
    their distance, of one look at one pair, lies within the margin.

    Attributes:
        margin: difference in Elo that does not matter; 0 if every one does.
    """

    margin: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Says whether that is so of all."""
        return all(pair.is_established or pair.most <= self.margin for pair in evidence.neighbours())

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns 0: it has a margin of its own."""
        return 0.0

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns how many pairs are separated."""
        pairs = list(evidence.neighbours())
        apart = sum(pair.is_established for pair in pairs)
        close = sum(pair.most <= self.margin and not pair.is_established for pair in pairs)
        margin = f", {close} within {self.margin:g} Elo" if self.margin else ""
        return f"of {len(pairs)} pairs of neighbours {apart} separated{margin} (asked: all)"


@dataclass(frozen=True)
class NarrowIntervals:
    """Every rating is known closely enough.

    Attributes:
        most: half of the widest 95 % interval that a leaderboard prints, in Elo.
    """

    most: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Says whether it is."""
        return evidence.half_width() <= self.most

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns 0: it asks for the scale, not for the order."""
        return 0.0

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the widest interval."""
        half = evidence.half_width()
        known = f"every rating to ±{compared(half, self.most, 0)} Elo" if half < math.inf else "an interval without end"
        return f"{known} (asked: ±{self.most:g})"
