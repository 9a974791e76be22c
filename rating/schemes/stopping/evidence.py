"""Evidence of the results in two-player environments: collected match by match, computed on demand for the conditions."""

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryOptions, Comparisons, Floats, Standings
from rating.stats.results import Duel, duels
from rating.stats.simultaneous import Pair, difference_errors
from rating.stats.trueskill import RunningRatings, TrueSkillOptions
from rating.store.outcome import Outcome


class MatchEvidence:
    """The results of the finished matches of an environment.

    Args:
        policies: policies under test; the ratings of earlier policies are final.
        trueskill: parameters of TrueSkill.
        growth: ratio of the number of results at the last look to their number at the first (``null_draws``).

    Attributes:
        under_test: policies under test that are not excluded.
    """

    def __init__(self, policies: Sequence[str], trueskill: TrueSkillOptions, growth: float) -> None:
        self.under_test = dict.fromkeys(policies)
        self._trueskill = trueskill
        self._growth = growth
        self._online = RunningRatings(trueskill)
        self._mus: dict[str, list[float]] = {}
        self._rated = 0
        self._met: set[str] = set()
        self._results: list[Duel] = []
        self._deals: list[int] = []
        self._left_out: set[str] = set()
        self._posterior: Posterior | None = None
        self._standings: Standings | None = None

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next matches."""
        self._posterior = self._standings = None
        seeds = {outcome.number: outcome.seed for outcome in outcomes}
        for duel in duels(outcomes):
            self._met.update((duel.first, duel.second))
            self._results.append(duel)
            self._deals.append(seeds[duel.number])

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
        return max(_change(self._mus[name], window) for name in self.under_test)

    def _in_match_order(self) -> RunningRatings:
        """Applies the new results and returns the ratings of TrueSkill in match order."""
        for duel in self._results[self._rated :]:
            self._online.add(duel)
            for name in (duel.first, duel.second):
                self._mus.setdefault(name, [self._trueskill.mu]).append(self._online.ratings[name].mu)
        self._rated = len(self._results)
        return self._online

    def posterior(self) -> "Posterior":
        """Returns the posterior of the ratings of all policies that are not excluded."""
        if self._posterior is None:
            self._posterior = Posterior(self._comparisons(), self._left_out, self.under_test)
        return self._posterior

    def half_width(self) -> float:
        """Returns the half-width of the widest 95 % interval on the leaderboard; infinite if an interval is unbounded."""
        return max(
            float("inf") if row.low is None or row.high is None else (row.high - row.low) / 2
            for row in self._shown().rows
            if row.policy in self.under_test
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
                    most = upper.rating - lower.rating + fitted.reach * error
                yield Neighbours(Pair(upper.policy, lower.policy) in established, most)

    def _shown(self) -> Standings:
        """Returns the ratings on the leaderboard."""
        if self._standings is None:
            self._standings = bradley_terry.standings(self._comparisons(), growth=self._growth)
        return self._standings

    def _comparisons(self) -> Comparisons:
        names = tuple(sorted(self._met))
        index_of = {name: index for index, name in enumerate(names)}
        return Comparisons(
            names,
            np.array([index_of[duel.first] for duel in self._results], dtype=np.int64),
            np.array([index_of[duel.second] for duel in self._results], dtype=np.int64),
            np.array([duel.score for duel in self._results], dtype=np.float64),
            np.array(self._deals, dtype=np.int64),
        )


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
        self._drawn: Floats | None = None

    def expected_spearman(self) -> float:
        """Returns the expected Spearman correlation of the estimated with the true ranking; 1 for a single policy.

        For two policies it is the probability of the correct order minus the probability of the wrong one: .95 for 97.5 %.
        """
        if len(self.policies) < 2:
            return 1.0
        return float(bradley_terry.expected_spearman(self.ratings, self.draws()))

    def top_known(self, count: int) -> float:
        """Returns the probability that the set of the best ``count`` policies is correct; 1 if there are no others."""
        if count >= len(self.policies):
            return 1.0
        return float(bradley_terry.set_is_known(self.ratings, self.draws(), count))

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
        return float(bradley_terry.share_alike(self.ratings, self.draws(), np.array([one[asked], other[asked]]), band))

    def draws(self) -> Floats:
        """Returns draws of the ratings, in Elo, shape (draws, n)."""
        if self._drawn is None:
            drawn = bradley_terry.drawn_ratings(self._fitted, self._comparisons)[:, self._kept]
            shift = float(self._fitted.ratings.mean())
            self._drawn = np.where(self._is_free, drawn + shift, self.ratings)
        return self._drawn


def _change(mus: Sequence[float], window: int) -> float:
    """Returns the absolute change of mu over the last ``window`` matches; ``mus`` begins with the initial mu."""
    return abs(mus[-1] - mus[-1 - window]) if len(mus) > window else float("inf")
