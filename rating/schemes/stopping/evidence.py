"""What the results so far say of policies that play duels: gathered match by match, computed where a condition asks for it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rating.records.outcome import Outcome
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryFit, BradleyTerryOptions, Comparisons
from rating.statistics.estimates import Z_95
from rating.statistics.results import Duel, duels
from rating.statistics.trueskill_rating import RunningRatings, Shuffled, TrueSkillOptions, shuffled

ORDERS = 20
"""Random orders of the matches over which TrueSkill is averaged."""

ORDER_DRAWS = 400
"""Draws from the posterior of the ratings."""

_ROUNDING = 1e-9
"""Share of the greatest variance below which one is 0."""

POSTERIOR = BradleyTerryOptions(prior_sd="fitted")
"""What is fitted."""


class Evidence:
    """The finished matches of an environment so far.

    Args:
        policies: those under test: the others, who were there before newcomers, are known as well as they will be.
        trueskill: parameters of TrueSkill.

    Attributes:
        under_test: those of the policies that are waited for.
    """

    def __init__(self, policies: Sequence[str], trueskill: TrueSkillOptions) -> None:
        self.under_test = dict.fromkeys(policies)
        self._trueskill = trueskill
        self._online = RunningRatings(trueskill)
        self._mus: dict[str, list[float]] = {}
        self._rated = 0
        self._matches: dict[str, list[int]] = {}
        self._results: list[Duel] = []
        self._deals: list[int] = []
        self._left_out: set[str] = set()
        self._posterior: BradleyTerryFit | None = None
        self._expected: float | None = None
        self._averaged: dict[int, Mapping[str, Shuffled]] = {}

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next matches."""
        self._forget()
        seeds = {outcome.number: outcome.seed for outcome in outcomes}
        for duel in duels(outcomes):
            for name in (duel.first, duel.second):
                self._matches.setdefault(name, []).append(len(self._results))
            self._results.append(duel)
            self._deals.append(seeds[duel.number])

    def leave_out(self, policy: str) -> None:
        """Waits no longer for a policy: its place in the order is not asked for."""
        self.under_test.pop(policy, None)
        self._left_out.add(policy)
        self._forget()

    def _forget(self) -> None:
        """Lets what was computed be computed anew."""
        self._posterior = self._expected = None
        self._averaged.clear()

    @property
    def results(self) -> int:
        """Number of results so far."""
        return len(self._results)

    @property
    def is_complete(self) -> bool:
        """Whether everybody under test has met somebody else."""
        return all(name in self._matches for name in self.under_test)

    def sigma(self) -> float:
        """Returns the largest sigma of TrueSkill in match order."""
        ratings = self._in_match_order().ratings
        return max(ratings[name].sigma for name in self.under_test)

    def change(self, window: int) -> float:
        """Returns the largest change of a mu of TrueSkill in match order over a policy's last matches."""
        self._in_match_order()
        return max(_change(self._mus[name], window) for name in self.under_test)

    def _in_match_order(self) -> RunningRatings:
        """Returns the ratings of TrueSkill in match order after all results, of which it takes those that are new."""
        for duel in self._results[self._rated :]:
            self._online.add(duel)
            for name in (duel.first, duel.second):
                self._mus.setdefault(name, [self._trueskill.mu]).append(self._online.ratings[name].mu)
        self._rated = len(self._results)
        return self._online

    def mean_sigma(self) -> float:
        """Returns the largest sigma of TrueSkill, each averaged over random orders."""
        rated = self._shuffled(len(self._results))
        return max(rated[name].sigma for name in self.under_test)

    def mean_change(self, window: int) -> float:
        """Returns the largest change of a mu of TrueSkill, averaged over random orders.

        It is compared with what it was when everybody had played at least ``window`` matches fewer; infinite while somebody has
        not played so many.
        """
        if any(len(self._matches[name]) < window for name in self.under_test):
            return float("inf")
        before = self._shuffled(min(self._matches[name][-window] for name in self.under_test))
        now, start = self._shuffled(len(self._results)), self._trueskill.mu
        return max(abs(now[name].mu - (before[name].mu if name in before else start)) for name in self.under_test)

    def _shuffled(self, matches: int) -> Mapping[str, Shuffled]:
        if matches not in self._averaged:
            self._averaged[matches] = shuffled(self._results[:matches], self._trueskill, permutations=ORDERS)
        return self._averaged[matches]

    def expected_spearman(self) -> float:
        """Returns the expected Spearman correlation of the order of the ratings with the true one.

        Of two policies it is the probability that the one ahead is the better one, less that it is not: .95 for 97.5 %. One
        alone is in order. Newcomers are placed among those who were there before, whose order they cannot improve.
        """
        if self._expected is None:
            posterior = self.posterior()
            is_alone = len(posterior.policies) < 2
            self._expected = 1.0 if is_alone else bradley_terry.expected_order(posterior, draws=ORDER_DRAWS)
        return self._expected

    def posterior(self) -> BradleyTerryFit:
        """Returns the ratings of all who are not left out, with the covariance of what is waited for.

        The prior is as wide as the pool, and the covariance is clustered by deal.
        """
        if self._posterior is None:
            comparisons = self._comparisons()
            fitted = bradley_terry.fit(comparisons, POSTERIOR)
            robust = bradley_terry.clustered(fitted, comparisons)
            if fitted.connected and robust.clusters > 1:
                fitted = replace(fitted, covariance=robust.covariance * (robust.reach / Z_95) ** 2)
            present = [name for name in fitted.policies if name not in self._left_out]
            self._posterior = _conditioned(fitted, present, self.under_test)
        return self._posterior

    def half_width(self) -> float:
        """Returns half the width of the widest 95 % interval that a leaderboard prints; infinite where one has no end."""
        return max(
            float("inf") if row.low is None or row.high is None else (row.high - row.low) / 2
            for row in bradley_terry.standings(self._comparisons()).rows
            if row.policy in self.under_test
        )

    def _comparisons(self) -> Comparisons:
        names = tuple(sorted(self._matches))
        index_of = {name: index for index, name in enumerate(names)}
        return Comparisons(
            names,
            np.array([index_of[duel.first] for duel in self._results], dtype=np.int64),
            np.array([index_of[duel.second] for duel in self._results], dtype=np.int64),
            np.array([duel.score for duel in self._results], dtype=np.float64),
            np.array(self._deals, dtype=np.int64),
        )


def _change(mus: Sequence[float], window: int) -> float:
    """Returns by how much mu has changed over the last matches; ``mus`` begins with the one before the first."""
    return abs(mus[-1] - mus[-1 - window]) if len(mus) > window else float("inf")


def _conditioned(fitted: BradleyTerryFit, names: Sequence[str], under_test: Collection[str]) -> BradleyTerryFit:
    """Returns the ratings of some policies, with the covariance of those under test while the others stay where they are."""
    kept = [fitted.policies.index(name) for name in names]
    covariance = fitted.covariance[np.ix_(kept, kept)]
    free = np.flatnonzero([name in under_test for name in names])
    if len(free) < len(names):
        covariance = covariance - covariance.mean(axis=0)
        covariance -= covariance.mean(axis=1, keepdims=True)
        # A common shift is not determined: its variance is 0 but for rounding, which must not pass for knowledge.
        precision = np.linalg.pinv(covariance, rcond=_ROUNDING, hermitian=True)[np.ix_(free, free)]
        covariance = np.zeros_like(covariance)
        covariance[np.ix_(free, free)] = np.linalg.inv(precision)
    return replace(fitted, policies=tuple(names), ratings=fitted.ratings[kept], covariance=covariance)
