"""Adaptive schedule: chooses the next pairings from the results, to resolve the ranking with the fewest games.

The unit is a table on one deal, rotated through all seats: two matches between two policies, with the seats swapped.
"""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rating.errors import RunError
from rating.prices import Price
from rating.schedules.batches import Contest, Planned, Stop, deal_seed
from rating.schedules.until import CAP, ENDED, SUSPENDED
from rating.store.records import FINISHED, Match, Outcome, SeatOutcome

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_ROUNDING = 1e-12


def ring(policies: int, seats: int) -> list[tuple[int, ...]]:
    """Returns tables that connect all policies: neighbours around a circle, with one policy shared by adjacent tables."""
    tables = -(-policies // (seats - 1)) if policies > seats else 1
    return [
        tuple((begin + seat) % policies for seat in range(seats)) for begin in range(0, tables * (seats - 1), seats - 1)
    ]


def best_table(
    gains: Floats, costs: Floats, seats: int, *, allowed: Booleans, wanted: Booleans, required: Booleans
) -> tuple[int, ...] | None:
    """Returns the table with the greatest ratio of gain to cost: the sum of its pair gains over the sum of its policy costs.

    For two seats the result is optimal. Larger tables start with the best pair and add policies greedily; then members are
    exchanged while this improves the ratio. The result is a local optimum.

    Args:
        gains: gain of each pair, symmetric, 0 or more, 0 on the diagonal, shape (n, n).
        costs: cost of a game of each policy, above 0, shape (n,).
        seats: table size, 2 or more.
        allowed: mask of eligible policies, shape (n,).
        wanted: mask of policies; at least one of them must be at the table, shape (n,).
        required: mask of policies that must all be at the table, allowed and wanted, at most ``seats`` of them, shape (n,).

    Returns:
        Indices, ascending; ``None`` if too few policies are eligible.
    """
    allowed_ones, wanted_ones = np.flatnonzero(allowed), np.flatnonzero(allowed & wanted)
    if len(allowed_ones) < seats or not len(wanted_ones):
        return None
    possible = np.outer(allowed, allowed) & (wanted[:, None] | wanted[None, :])
    np.fill_diagonal(possible, False)
    scores = np.where(possible, gains / (costs[:, None] + costs[None, :]), -1.0)
    table = np.flatnonzero(required).tolist()
    table = table or [int(index) for index in np.unravel_index(np.argmax(scores), scores.shape)]
    while len(table) < seats:
        joined = (_total(gains, table) + gains[table].sum(axis=0)) / (costs[table].sum() + costs)
        joined[table] = -1.0
        table.append(int(np.argmax(np.where(allowed, joined, -1.0))))
    for _ in range(len(gains) * seats if seats > 2 else 0):  # each exchange improves; the limit bounds the time
        with_each = gains[table].sum(axis=0)
        totals = _total(gains, table) - with_each[table, None] + with_each - gains[table]
        exchanged = totals / (costs[table].sum() - costs[table, None] + costs)
        exchanged[:, table] = -1.0
        exchanged[:, ~allowed] = -1.0
        exchanged[required[table]] = -1.0
        if wanted[table].sum() == 1:
            exchanged[np.ix_(wanted[table], ~wanted)] = -1.0
        place, index = np.unravel_index(np.argmax(exchanged), exchanged.shape)
        if exchanged[place, index] <= (1 + _ROUNDING) * _total(gains, table) / costs[table].sum():
            break
        table[place] = int(index)
    return tuple(sorted(table))


def _total(gains: Floats, table: list[int]) -> float:
    return float(gains[np.ix_(table, table)].sum()) / 2


LEAST_TABLES = 8
"""Minimum number of pairs in a batch, or the same number of matches at larger tables; keeps workers busy while the slowest
match of the batch before ends.
"""

LEAST_COST = 0.05
"""Minimum cost of a match of a policy, as a share of the mean cost over policies, since every match has overhead."""


class PairDesign(Protocol):
    """Estimated strengths and the information gain of further games (``rating.stats.design``); policies are indices."""

    def add(self, wins: Floats, games: Floats) -> None:
        """Adds results: score sums and game counts of the row on the earlier seat against the column, shape (n, n)."""

    def enter(self, games: Floats) -> None:
        """Adds in-flight games, symmetric, shape (n, n); negative counts remove them."""

    def draw(self) -> Floats:
        """Returns the gain of a game of each pair, by the criterion drawn for the next choice, shape (n, n)."""


class Adaptive:
    """A source of batches that chooses one table at a time; see ``rating.schedules.until.Source``.

    A choice depends on the outcomes added before its batch, on in-flight matches and on the seed. The first tables connect all
    policies. After that, the table with the greatest ratio of gain to cost is played. Policies below the minimum number of games
    have priority: first tables of such policies only, which include any policy that could not catch up otherwise, to avoid extra
    games; then tables with one of them. Newcomers may meet any policy. The cost of a match is the mean token price of each policy
    in its matches; a policy that asks no model is free.

    Matches of earlier sessions are scheduled as recorded, since repaired void matches, withdrawn policies or changed prices would
    lead to other choices.

    Args:
        contest: two rated seats or more, and more policies than seats.
        design: of these policies; a chosen pair meets once for every seat.
        under_test: policies to resolve; every table has at least one.
        least: minimum number of finished matches of each policy under test.
        most: maximum number of scheduled matches of a policy in this schedule; at least one table fits.
        prices: model prices by policy; if empty, all matches cost the same.
        recorded: rated policies of the matches begun in earlier sessions, by number.
        is_over: whether to stop after the recorded matches.

    Raises:
        OptionError: if the contest does not fit.
        RunError: if a recorded match has a policy that is not in the contest.
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
        """Adds the outcomes of the next complete batch; skips matches with a policy that is not in the contest."""
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
        """Excludes a policy from further choices."""
        if policy in self._index:
            self._is_present[self._index[policy]] = False

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch, shorter if too few policies may still be scheduled, or the reason to stop."""
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
        """Returns the policies of the next table, in the seat order of its first match."""
        contest, seats, number = self._contest, self._contest.seats, self._tables
        gains = self._design.draw()  # always drawn, to keep the draws of a resumed run the same
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
        """Returns the cost of a match of each policy relative to the mean; 1 if unknown."""
        known = self._counted > 0
        means = self._spent[known] / self._counted[known]
        costs = np.ones(len(known))
        if len(means) and means.mean() > 0:
            costs[known] = np.maximum(means / means.mean(), LEAST_COST)
        return costs

    def _cost(self, seat: SeatOutcome) -> float:
        """Returns the token price of a seat; cached tokens count in full, since outcomes do not record them separately."""
        price = self._prices.get(seat.policy)
        return price.cost(seat.prompt_tokens, 0, seat.completion_tokens, seat.reasoning_tokens) if price else 0.0

    def _reason(self) -> str:
        if self._is_over:
            return ENDED
        may_play = self._is_present & self._under_test
        return CAP if may_play.any() and self._is_present.sum() >= self._contest.seats else SUSPENDED
