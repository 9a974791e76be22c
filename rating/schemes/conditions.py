"""Syntax of the stopping rules of rated two-player environments.

A rule is one or more conditions joined by ``+``; it stops when all of them hold:

* ``order``: the same as ``spearman=0.95``;
* ``spearman=X``: the expected rank correlation with the true ranking is at least X, e.g. 0.99;
* ``top=K``: the set of the best K policies is known, with probability 0.95;
* ``separated``: the order of every two neighbours is established; ``separated=ELO``: or their difference is at most ELO;
* ``width=ELO``: every rating has an interval of at most ELO to either side.

``trueskill``, alone, is the rule of LLMArena (arXiv 2402.16499): TrueSkill in match order has converged. It does not ensure that
the order of the policies is correct.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from llmarena_envs.core.options import OptionError
from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryOptions, Comparisons, Floats, Standings
from rating.stats.results import PairResult, pair_results
from rating.stats.simultaneous import Pair, difference_errors
from rating.stats.trueskill import MU, RunningRatings
from rating.store.records import Outcome

_MOST_DIGITS = 17
"""Digits that distinguish any two different floats."""


def compared(value: float, limit: float, digits: int, kind: Literal["f", "g"] = "f") -> str:
    """Formats a value; rounding never moves it onto or across its limit.

    Args:
        value: e.g. 0.9996.
        limit: printed beside it.
        digits: after the point; more if rounding would move the value onto the limit.
        kind: ``g`` for significant digits.
    """
    for count in range(digits, _MOST_DIGITS):
        text = f"{value:.{count}{kind}}"
        if (float(text) > limit, float(text) < limit) == (value > limit, value < limit):
            return text
    return repr(value)


class MatchEvidence:
    """The results of the finished matches of an environment.

    Args:
        policies: policies under test; the ratings of earlier policies are final.
        growth: ratio of the number of results at the last look to their number at the first (``null_draws``).

    Attributes:
        under_test: policies under test that are not excluded.
    """

    def __init__(self, policies: Sequence[str], growth: float) -> None:
        self.under_test = dict.fromkeys(policies)
        self._growth = growth
        self._online = RunningRatings()
        self._mus: dict[str, list[float]] = {}
        self._rated = 0
        self._met: set[str] = set()
        self._outcomes: list[Outcome] = []
        self._results: list[PairResult] = []
        self._left_out: set[str] = set()
        self._posterior: Posterior | None = None
        self._standings: Standings | None = None

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next matches."""
        self._posterior = self._standings = None
        results = pair_results(outcomes)
        self._outcomes += outcomes
        self._results += results
        self._met.update(name for duel in results for name in (duel.first, duel.second))

    def leave_out(self, policy: str) -> None:
        """Excludes a policy: its rank is not required."""
        self.under_test.pop(policy, None)
        self._left_out.add(policy)
        self._posterior = None

    @property
    def results(self) -> int:
        """Number of results."""
        return len(self._results)

    @property
    def is_complete(self) -> bool:
        """Whether every policy under test has met another policy."""
        return self._met.issuperset(self.under_test)

    @property
    def is_tied(self) -> bool:
        """Whether every match was a tie."""
        return all(duel.score == 0.5 for duel in self._results)

    def sigma(self) -> float:
        """Returns the largest sigma of TrueSkill in match order."""
        ratings = self._in_match_order().ratings
        return max(ratings[name].sigma for name in self.under_test)

    def change(self, window: int) -> float:
        """Returns the largest change of a policy's mu over its last ``window`` matches, by TrueSkill in match order."""
        self._in_match_order()
        courses = [self._mus[name] for name in self.under_test]
        return max(abs(own[-1] - own[-1 - window]) if len(own) > window else math.inf for own in courses)

    def _in_match_order(self) -> RunningRatings:
        """Applies the new results and returns the ratings of TrueSkill in match order."""
        for duel in self._results[self._rated :]:
            self._online.add(duel)
            for name in (duel.first, duel.second):
                self._mus.setdefault(name, [MU]).append(self._online.ratings[name].mu)
        self._rated = len(self._results)
        return self._online

    def posterior(self) -> "Posterior":
        """Returns the posterior of the ratings of all policies that are not excluded."""
        if self._posterior is None:
            self._posterior = Posterior(bradley_terry.compare(self._outcomes), self._left_out, self.under_test)
        return self._posterior

    def half_width(self) -> float:
        """Returns the half-width of the widest 95 % interval on the leaderboard; infinite if an interval is unbounded."""
        return max(
            float("inf") if low is None or high is None else (high - low) / 2
            for low, high in (row.rating[1:3] for row in self._shown().rows if row.policy in self.under_test)
        )

    def neighbours(self) -> Iterator["Neighbours"]:
        """Yields every pair of neighbours in the ranking with at least one policy under test."""
        shown = self._shown()
        fitted, established = shown.fitted, set(shown.established)
        index_of = {name: index for index, name in enumerate(fitted.policies)}
        rows = [row for row in shown.rows if row.policy not in self._left_out]
        for upper, lower in itertools.pairwise(rows):
            if upper.policy in self.under_test or lower.policy in self.under_test:
                most = float("inf")
                if fitted.clusters > 1:
                    one, other = np.array([index_of[upper.policy]]), np.array([index_of[lower.policy]])
                    error = difference_errors(fitted.covariance, one, other).item()
                    most = upper.rating.value - lower.rating.value + fitted.reach * error
                yield Neighbours(Pair(upper.policy, lower.policy) in established, most)

    def _shown(self) -> Standings:
        """Returns the ratings on the leaderboard."""
        if self._standings is None:
            self._standings = bradley_terry.standings(bradley_terry.compare(self._outcomes), growth=self._growth)
        return self._standings


class Neighbours(NamedTuple):
    """Two adjacent policies in the ranking.

    Attributes:
        is_established: whether the leaderboard establishes their order.
        most: upper end of the 95 % interval of their difference, in Elo, for a single look.
    """

    is_established: bool
    most: float


class Posterior:
    """The posterior of the ratings, in Elo, as draws (``bradley_terry.drawn_ratings``).

    The ratings of earlier policies are fixed at their estimates, since matches of newcomers cannot resolve their order.

    Args:
        comparisons: all results.
        left_out: excluded policies.
        under_test: policies under test.

    Attributes:
        policies: all except the excluded ones.
        ratings: of them, shape (n,).
    """

    def __init__(self, comparisons: Comparisons, left_out: Collection[str], under_test: Collection[str]) -> None:
        self._comparisons, self._under_test = comparisons, under_test
        self._fitted = bradley_terry.fit(comparisons, BradleyTerryOptions(prior_sd="fitted"))
        self._kept = [index for index, name in enumerate(comparisons.policies) if name not in left_out]
        self.policies = tuple(comparisons.policies[index] for index in self._kept)
        self.ratings = self._fitted.ratings[self._kept]
        self._is_free = np.array([name in under_test for name in self.policies])

    def expected_spearman(self) -> float:
        """Returns the expected Spearman correlation of the estimated with the true ranking; 1 for a single policy.

        For two policies it is the probability of the correct order minus the probability of the wrong one: .95 for 97.5 %.
        """
        if len(self.policies) < 2:
            return 1.0
        return float(bradley_terry.expected_spearman(self.ratings, self.draws))

    def top_known(self, count: int) -> float:
        """Returns the probability that the set of the best ``count`` policies is correct; 1 if there are no others."""
        if count >= len(self.policies):
            return 1.0
        return float(bradley_terry.set_is_known(self.ratings, self.draws, count))

    def alike(self, band: float, top: int | None = None) -> float:
        """Returns the mean probability that two unresolved policies differ by less than a band; 0 without such pairs.

        Args:
            band: in Elo.
            top: use only pairs between the best ``top`` policies and the others.
        """
        one, other = np.triu_indices(len(self.policies), 1)
        asked = self._is_free[one] | self._is_free[other]
        if top is not None:
            inside = np.argsort(np.argsort(-self.ratings, kind="stable")) < top
            asked &= inside[one] != inside[other]
        if not asked.any():
            return 0.0
        return float(bradley_terry.share_alike(self.ratings, self.draws, np.array([one[asked], other[asked]]), band))

    @cached_property
    def draws(self) -> Floats:
        """Draws of the ratings, in Elo, shape (draws, n)."""
        drawn = bradley_terry.drawn_ratings(self._fitted, self._comparisons)[:, self._kept]
        free: Floats = np.where(self._is_free, drawn + float(self._fitted.ratings.mean()), self.ratings)
        return free


ALIKE_LEVEL = 0.9
"""Mean probability, over unresolved pairs, of a difference below the band."""

TOP_LEVEL = 0.95
"""Probability that the set of the best policies is known."""


class Condition(ABC):
    """A condition of a rule; checked only after every policy under test has met another policy."""

    @abstractmethod
    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether the condition holds."""

    @abstractmethod
    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the current and required values."""

    def alike(self, evidence: MatchEvidence, band: float) -> float:
        """Returns the probability that the unresolved policies differ by less than a band, in Elo; 0 if it is not used."""
        return 0.0


@dataclass(frozen=True)
class TrueSkillInMatchOrder(Condition):
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
class OrderKnown(Condition):
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
class TopKnown(Condition):
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
class Separated(Condition):
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

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the number of separated pairs."""
        pairs = list(evidence.neighbours())
        apart = sum(pair.is_established for pair in pairs)
        close = sum(pair.most <= self.margin and not pair.is_established for pair in pairs)
        margin = f", {close} within {self.margin:g} Elo" if self.margin else ""
        return f"of {len(pairs)} pairs of neighbours {apart} separated{margin} (asked: all)"


@dataclass(frozen=True)
class NarrowIntervals(Condition):
    """Every rating is precise enough.

    Attributes:
        most: maximum half-width of a 95 % interval on the leaderboard, in Elo.
    """

    most: float

    def holds(self, evidence: MatchEvidence) -> bool:
        """Returns whether the condition holds."""
        return evidence.half_width() <= self.most

    def reached(self, evidence: MatchEvidence) -> str:
        """Returns the widest interval."""
        half = evidence.half_width()
        known = f"every rating to ±{compared(half, self.most, 0)} Elo" if half < math.inf else "an interval without end"
        return f"{known} (asked: ±{self.most:g})"


DEFAULT_RULE = "order"
ORDER_LEVEL = 0.95
"""Expected rank correlation required by ``order``."""

TRUESKILL = "trueskill"
"""The paper's rule, which cannot be combined with others."""

_FORMS = "order, spearman=0.99, top=3, separated, separated=60, width=60"
_TAKES_VALUE = {"spearman": (True,), "separated": (True, False), "width": (True,), "top": (True,)}
_MOST_ELO = 10_000.0
_MOST_POLICIES = 10_000


def read_conditions(rule: str, *, window: int, eps: float, sigma: float) -> tuple[Condition, ...]:
    """Parses a rule.

    Args:
        rule: its text.
        window: for ``trueskill``: number of a policy's last matches over which its mu is compared.
        eps: every mu must have changed by less.
        sigma: every sigma must be less.

    Returns:
        The conditions, the most expensive to check last.

    Raises:
        OptionError: if the rule is invalid; the message names the allowed conditions.
    """
    parts = [part.strip() for part in rule.split("+")]
    if parts == [TRUESKILL]:
        return (TrueSkillInMatchOrder(window, eps, sigma),)
    readers: dict[str, Callable[[str], Condition]] = {
        "spearman": lambda text: OrderKnown(_number(rule, text, 1.0)),
        "top": lambda text: TopKnown(_count(rule, text)),
        "separated": lambda text: Separated(_number(rule, text, _MOST_ELO) if text else 0.0),
        "width": lambda text: NarrowIntervals(_number(rule, text, _MOST_ELO)),
    }
    values: dict[str, str] = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if (name, equals) == ("order", ""):
            name, equals, value = "spearman", "=", str(ORDER_LEVEL)
        if bool(equals) not in _TAKES_VALUE.get(name, ()) or (equals and not value):
            raise _refusal(rule, f"got {part[:40]!r}")
        if name in values:
            raise _refusal(rule, f"got {name!r} twice")
        values[name] = value
    return tuple(read(values[name]) for name, read in readers.items() if name in values)


def _number(rule: str, text: str, below: float) -> float:
    """Parses a number between 0 and a limit, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < below:
        raise _refusal(rule, f"got {text[:40]!r} where a number above 0 and below {below:g} was expected")
    return value


def _count(rule: str, text: str) -> int:
    """Parses a number of policies."""
    if not text.isdecimal() or not 1 <= int(text[:6]) <= _MOST_POLICIES:
        raise _refusal(rule, f"got {text[:40]!r} where a number of policies from 1 was expected")
    return int(text)


def _refusal(rule: str, got: str) -> OptionError:
    return OptionError(
        f"stop rule: expected trueskill, or one or several of these joined by '+': {_FORMS}; {got} in {rule[:80]!r}"
    )
