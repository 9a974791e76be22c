"""Adaptive play: who meets whom next is chosen from the results so far, so that the order is known after the fewest games.

The unit is a table on one deal, with everybody on every seat in turn: two matches between two policies, with the seats swapped.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np

from rating.accounting.prices import Price
from rating.errors import RunError
from rating.records.match import Match
from rating.records.outcome import FINISHED, Outcome, SeatOutcome
from rating.schedules.batches import Contest, Planned, deal_seed
from rating.schedules.schedule import Stop
from rating.schedules.tables import Floats, best_table, ring
from rating.schedules.until import ENDED, SUSPENDED

CAP = "cap"
"""Why there are no more matches if everybody has been scheduled as often as allowed."""

LEAST_TABLES = 8
"""Pairs in a batch, or as many matches at larger tables, however few policies there are: so many that play has something to do
while the slowest match of the batch before ends."""

LEAST_COST = 0.05
"""Least cost of a match of a policy, as a share of the mean of all policies: the work around a match is not free."""


class PairDesign(Protocol):
    """What is known of the strengths, and what games would add (``rating.statistics.design``); policies are indices."""

    def add(self, wins: Floats, games: Floats) -> None:
        """Takes results: sums of scores, and games, of the row on the earlier seat against the column, shape (n, n)."""

    def enter(self, games: Floats) -> None:
        """Takes games under way, symmetric, shape (n, n); negative if they are so no longer."""

    def draw(self) -> Floats:
        """Returns what a game of each pair would add, by the criterion drawn for the next choice, shape (n, n)."""


class Adaptive:
    """Batches whose matches are chosen one table after the other; see ``rating.schedules.until.Source``.

    A choice depends on the outcomes that were added before its batch, on what is under way, and on the seed. The first tables
    link everybody with everybody. After that the table with the greatest gain for its cost is played. Who has not yet the least
    number of games comes first: tables of such policies alone as long as they fill one, with whoever could not catch up
    otherwise, so that nobody plays more than it must, and then tables with one of them. Newcomers are not kept among themselves.
    The cost of a match is the mean price of the tokens of each policy in its matches so far; a policy that asks no model is free.

    What was scheduled in earlier sessions is played as it was then: the matches that were void and have been played since, a
    policy that has left, or another price would lead to another choice, for which it is too late.

    Args:
        contest: two rated seats or more, and more policies than seats.
        design: of these policies; a pair that is chosen meets once for every seat.
        under_test: those of whom one sits at every table; the others are there to be compared with.
        least: finished matches that everybody under test gets first.
        most: scheduled matches of a policy, in this schedule, which nobody exceeds; one table fits in any case.
        prices: of the models that policies ask, by policy; without any, all matches cost the same.
        recorded: rated policies of the matches that were begun in earlier sessions, by number.
        is_over: whether nothing is played beyond those.

    Raises:
        OptionError: if the contest is another.
        RunError: if somebody else was recorded.
    """

    is_known = False

    def __init__(
        self,
        contest: Contest,
        design: PairDesign,
        *,
        under_test: Sequence[str],
        least: float,
        most: int,
        prices: Mapping[str, Price] = MappingProxyType({}),
        recorded: Sequence[Sequence[str]] = (),
        is_over: bool = False,
    ) -> None:
        contest.check("adaptive", policies=contest.seats + 1)
        size = len(contest.policies)
        self._contest = contest
        self._design = design
        self._index = {name: index for index, name in enumerate(contest.policies)}
        self._under_test = np.array([name in under_test for name in contest.policies])
        self._least = least
        self._most = max(most, contest.seats)
        self._prices = prices
        self._recorded = [self._check(names) for names in recorded[:: contest.seats]]
        self._is_over = is_over
        self._opening = ring(size, contest.seats) if self._under_test.all() else []
        self._batch = -(-2 * max(size, LEAST_TABLES) // contest.seats)
        self._is_present = np.ones(size, dtype=bool)
        self._finished, self._scheduled, self._waiting = np.zeros((3, size), dtype=np.int64)
        self._under_way: Counter[tuple[int, ...]] = Counter()
        self._spent, self._counted = np.zeros((2, size))
        self._tables = 0

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch; those with somebody who is not in the contest say nothing here."""
        size = len(self._index)
        wins, games, ended = np.zeros((3, size, size))
        for outcome in outcomes:
            seats = [seat for index, seat in enumerate(outcome.seats) if index not in self._contest.staff]
            if not all(seat.policy in self._index for seat in seats):
                continue
            table = [self._index[seat.policy] for seat in seats]
            key = tuple(sorted(table))
            if self._under_way[key]:
                self._under_way[key] -= 1
                self._waiting[table] -= 1
                ended[np.ix_(table, table)] -= 1
            if outcome.status != FINISHED:
                continue
            self._finished[table] += 1
            for (one, first), (other, second) in itertools.combinations(zip(table, seats, strict=True), 2):
                games[one, other] += 1
                wins[one, other] += 0.5 * (1 + (first.reward > second.reward) - (first.reward < second.reward))
            for index, seat in zip(table, seats, strict=True):
                if not seat.unknown_usage:
                    self._spent[index] += self._cost(seat)
                    self._counted[index] += 1
        np.fill_diagonal(ended, 0)
        self._design.enter(ended)
        self._design.add(wins, games)

    def leave_out(self, policy: str) -> None:
        """Chooses a policy no more."""
        if policy in self._index:
            self._is_present[self._index[policy]] = False

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch; a shorter one, and then none, where not enough policies are left that may be scheduled."""
        batch: list[Match] = []
        for _ in range(self._batch):
            table = self._choose()
            if table is None:
                break
            batch += self._enter(table)
        return batch or Stop(self._reason())

    def _check(self, names: Sequence[str]) -> tuple[str, ...]:
        if len(names) != self._contest.seats or len(set(names)) < len(names) or not self._index.keys() >= set(names):
            raise RunError(
                f"the record of a run is damaged: expected {self._contest.seats} different policies of {list(self._index)} in"
                f" every match of {self._contest.environment}, got {list(names)}"
            )
        return tuple(names)

    def _choose(self) -> tuple[str, ...] | None:
        """Returns the policies of the next table, in the order in which they sit in its first match."""
        contest, seats, number = self._contest, self._contest.seats, self._tables
        gains = self._design.draw()  # drawn in any case, so that a run that goes on draws the same
        if number < len(self._recorded):
            return self._recorded[number]
        if self._is_over:
            return None
        allowed = self._is_present & (self._scheduled + seats <= self._most)
        table = self._opening[number] if number < len(self._opening) else None
        if table is None or not allowed[list(table)].all():
            missing = np.where(
                self._under_test & allowed, np.ceil((self._least - self._finished - self._waiting) / seats), 0
            ).clip(0)
            behind, required = missing > 0, np.zeros_like(allowed)
            if self._under_test.all():
                required = behind & (missing >= np.ceil(missing.sum() / seats))
                allowed = behind if behind.sum() >= seats else allowed
            wanted = behind if behind.any() else self._under_test
            table = best_table(gains, self._costs(), seats, allowed=allowed, wanted=wanted, required=required)
        if table is None:
            return None
        order = np.random.default_rng(deal_seed(contest.seed, f"seats/{contest.environment}", number)).permutation(
            table
        )
        return tuple(contest.policies[index] for index in order)

    def _enter(self, names: tuple[str, ...]) -> list[Match]:
        contest, seats, deal = self._contest, self._contest.seats, self._tables
        table = [self._index[name] for name in names]
        games = np.zeros((len(self._index), len(self._index)))
        games[np.ix_(table, table)] = seats
        np.fill_diagonal(games, 0)
        self._design.enter(games)
        self._scheduled[table] += seats
        self._waiting[table] += seats
        self._under_way[tuple(sorted(table))] += seats
        self._tables += 1
        return [
            contest.match(deal * seats + turn, Planned(deal, (*names[turn:], *names[:turn])), deal)
            for turn in range(seats)
        ]

    def _costs(self) -> Floats:
        """Returns the cost of a match of each policy over the mean of all; 1 where it is unknown."""
        known = self._counted > 0
        means = self._spent[known] / self._counted[known]
        costs = np.ones(len(known))
        if len(means) and means.mean() > 0:
            costs[known] = np.maximum(means / means.mean(), LEAST_COST)
        return costs

    def _cost(self, seat: SeatOutcome) -> float:
        """Returns the price of the tokens of a seat; cached ones count in full, since outcomes do not tell them apart."""
        price = self._prices.get(seat.policy)
        return price.cost(seat.prompt_tokens, 0, seat.completion_tokens, seat.reasoning_tokens) if price else 0.0

    def _reason(self) -> str:
        if self._is_over:
            return ENDED
        may_play = self._is_present & self._under_test
        return CAP if may_play.any() and self._is_present.sum() >= self._contest.seats else SUSPENDED
