"""Duels: two-player matches rated by Bradley-Terry, with and without ties and forfeits, and by TrueSkill.

Sources: Bradley and Terry 1952 for the ratings to quote; LLMArena (arXiv 2402.16499) for TrueSkill.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.schedules.batches import Contest
from rating.schedules.round_robin import round_robin
from rating.schemes import formatting
from rating.schemes.base import Repeating
from rating.schemes.conditions import TopKnown
from rating.schemes.figures import Figure, Trajectories, pair_figure, rating_figure
from rating.schemes.leaderboard import (
    RATING,
    REWARD,
    SCORE,
    TALLY,
    Leaderboard,
    LeaderboardColumn,
    LeaderboardRow,
    Ranks,
    by_policy,
    common_fields,
    ranked,
    row_fields,
)
from rating.schemes.setting import ADAPTIVE
from rating.schemes.stopping import StopRule
from rating.stats.bradley_terry import BradleyTerryFit, BradleyTerryOptions, Comparisons, Standings, compare, standings
from rating.stats.estimates import Estimate, Rating, rate_estimate
from rating.stats.expected_scores import met_scores
from rating.stats.results import PairResult, WinDrawLoss, finished, pair_results, records_by_seat
from rating.stats.transitivity import against_one_scale
from rating.stats.trueskill import OrderAverage, RunningRatings, average_over_orders, rate
from rating.store.records import Match, Outcome


class Duels(Repeating):
    """Pairs play both seat orders of every deal until the ranking is resolved; pairings adapt to the results."""

    name = "duels"
    can_adapt = True
    standard_schedule = ADAPTIVE
    rivals = True

    def check(self) -> None:
        """Checks that two seats are rated, that there is no fixed opponent, and the K of ``top=K`` in the current phase."""
        super().check()
        self._contest.check(
            f"{self.setting.environment.name}, whose players are compared by duels", policies=2, seats=2
        )
        pool, begun = self.setting.pool, self.setting.begun
        open_phase = len(begun.starts) + begun.has_ended
        playing = {*pool.founders, *itertools.chain(*pool.newcomers[:open_phase])} - pool.withdrawn
        for condition in self.setting.stopping.rule.conditions:
            if isinstance(condition, TopKnown) and condition.count >= len(playing):
                raise OptionError(
                    f"{self.setting.environment.name}: stop rule: expected top=K with K below the number of policies,"
                    f" {len(playing)} ({', '.join(sorted(playing))}); got top={condition.count}"
                )

    def least_policies(self, seats: int) -> int:
        """Returns 2: ratings need an opponent."""
        return 2

    def batches(self, contest: Contest) -> Iterator[list[Match]]:
        """Returns a round robin."""
        return round_robin(contest)

    def rule(self, contest: Contest) -> StopRule:
        """Returns the rule of the run."""
        return self.setting.stopping.rule

    def board(self, outcomes: Sequence[Outcome], stop_reason: str = "") -> Leaderboard:
        """Makes the leaderboard; its ranks account for repeated looks of the stopping rule."""
        return skill_leaderboard(outcomes, stop_reason=stop_reason, growth=self.setting.stopping.rule.growth)

    def figures(self, board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the ratings, their course and the results of every pair."""
        history = rate(outcomes).history
        course = [Trajectories(history, "TrueSkill mu ± sigma")] if history else []
        pairs = pair_figure([row.policy for row in board.rows], compare(outcomes))
        return [*rating_figure(board.rows), *course, *pairs]

    def comparisons(self, outcomes: Sequence[Outcome]) -> Comparisons:
        """Returns the results of all pairs."""
        return compare(outcomes)


def skill_leaderboard(
    outcomes: Iterable[Outcome],
    *,
    stop_reason: str = "",
    model: BradleyTerryOptions | None = None,
    permutations: int = 20,
    seed: int = 0,
    growth: float = 1.0,
) -> Leaderboard:
    """Makes the leaderboard of a two-player environment.

    Its rows have these values: ``rating_without_ties`` and ``rating_without_forfeits`` (fitted to the other matches),
    ``forfeited`` (share of its matches that the policy forfeited) and ``ended_by_forfeit`` (that either policy did), ``mu`` and
    ``sigma`` (TrueSkill in match order), ``spread`` (the same over random match orders), ``first`` and ``second`` (the tally by
    seat). The metric is mu averaged over match orders.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        stop_reason: why play stopped.
        model: options of the Bradley-Terry fit; by default the width of the prior is fitted to the pool.
        permutations: number of random match orders for the spread of mu.
        seed: of those orders.
        growth: maximum ratio of the number of results to their number at the first look, with a stopping rule (``null_draws``).

    Raises:
        ValueError: if there are no outcomes, or a match does not have two rated seats.
    """
    outcomes = list(outcomes)
    common = common_fields(outcomes, "duels", stop_reason)
    model = model or BradleyTerryOptions(prior_sd="fitted")
    played = finished(outcomes)
    results = pair_results(played, with_itself=True)
    comparisons = compare(played)
    found = _standings(comparisons, model, growth)
    between = [result for result in results if result.first != result.second]
    spread = average_over_orders(between, permutations=permutations, seed=seed)
    rows = _rows(outcomes, played, between, comparisons, found, model, spread)
    facts = _facts(found, played, results)
    doubts = (*found.notes, *against_one_scale(comparisons)) if found else ()
    if facts["is_regularised"]:
        doubts = (*doubts, "the data alone determine no finite ratings: a prior was added")
    parts, part_notes = _parts(rows)
    return Leaderboard(
        **common,
        ranked_by="rating",
        is_rated=True,
        rows=ranked(rows, lambda row: row.rating and row.rating.value),
        established=found.established if found else (),
        columns=(RATING, SCORE, *parts, *TRUESKILL, *TALLIES),
        caveats=doubts,
        notes=(
            *([_rating_note(rows, facts)] if found else []),
            *([_seat_note(facts)] if played else []),
        ),
        wide_notes=(
            *part_notes,
            f"mu: TrueSkill in match order, as in the paper; shuffled: its mean over {permutations} random orders of the matches,"
            " used to combine environments; its ± is the order sensitivity of mu, not its uncertainty",
        ),
        facts={**facts, "orders": permutations},
    )


def _rows(
    outcomes: Sequence[Outcome],
    played: Sequence[Outcome],
    between: Sequence[PairResult],
    comparisons: Comparisons,
    found: Standings | None,
    model: BradleyTerryOptions,
    spread: Mapping[str, OrderAverage],
) -> list[LeaderboardRow]:
    online = RunningRatings()
    for result in between:
        online.add(result)
    fair = [match for match in played if not any(seat.forfeit for seat in match.seats)]
    ratings = ratings_of(found)
    without_ties = ratings_of(_standings(comparisons, replace(model, ties="drop")))
    without_forfeits = ratings if len(fair) == len(played) else ratings_of(_standings(compare(fair), model))
    ranks = {row.policy: Ranks(row.best_rank, row.worst_rank) for row in found.rows} if found else {}
    scores = met_scores(comparisons, found.fitted) if found else {}
    forfeits, by_seat = _forfeit_rates(played), records_by_seat(between)
    rows = []
    for policy, matches in by_policy(outcomes).items():
        first, second = by_seat.get(policy, (WinDrawLoss(), WinDrawLoss()))
        mu, sigma = online.ratings.get(policy, (None, None))
        own = spread.get(policy)
        rows.append(
            LeaderboardRow(
                **row_fields(matches, policy),
                metric=own.mu if own else None,
                rank=ranks.get(policy),
                rating=ratings.get(policy),
                score=scores.get(policy),
                tally=WinDrawLoss(*(a + b for a, b in zip(first, second, strict=True))),
                values={
                    "rating_without_ties": without_ties.get(policy),
                    "rating_without_forfeits": without_forfeits.get(policy),
                    **forfeits.get(policy, {"forfeited": None, "ended_by_forfeit": None}),
                    "first": first,
                    "second": second,
                    "mu": mu,
                    "sigma": sigma,
                    "spread": own,
                },
            )
        )
    return rows


def _standings(comparisons: Comparisons, model: BradleyTerryOptions, growth: float = 1.0) -> Standings | None:
    return standings(comparisons, model, growth=growth) if comparisons.policies else None


def ratings_of(found: Standings | None) -> dict[str, Rating]:
    """Returns the rating of each policy with a result."""
    rows = found.rows if found else ()
    return {row.policy: row.rating for row in rows if row.games}


def _facts(found: Standings | None, played: Sequence[Outcome], results: Sequence[PairResult]) -> dict[str, Any]:
    """Returns the advantage and the results of the first seat, and whether the results link all policies."""
    position = WinDrawLoss()
    for duel in results:
        position = position.add(duel.score)
    fitted, deals = (found.fitted if found else None), len({outcome.seed for outcome in played})
    advantage = seat_advantage(fitted, len(played), deals) if fitted and fitted.options.seat_term else None
    return {
        "seat_advantage": advantage,
        "first_seat": position,
        "first_seat_wins": rate_estimate(position.wins, position.wins + position.losses),
        "deals": deals,
        "is_connected": fitted.connected if fitted else False,
        "is_regularised": fitted.regularised if fitted else False,
    }


def seat_advantage(fitted: BradleyTerryFit, results: int, deals: int) -> Estimate:
    """Returns the advantage of the first seat, in Elo, without an interval for a single deal."""
    value, reach = fitted.seat_advantage, fitted.reach * fitted.seat_error
    low, high = (value - reach, value + reach) if fitted.clusters > 1 else (None, None)
    return Estimate(value, low, high, results, deals)


def _forfeit_rates(played: Iterable[Outcome]) -> dict[str, dict[str, float]]:
    """Returns, by policy, the shares of its matches that it forfeited and that either policy forfeited."""
    matches, own, ended = Counter[str](), Counter[str](), Counter[str]()
    for match in played:
        policies = {seat.policy for seat in match.seats}
        matches.update(policies)
        losers = {seat.policy for seat in match.seats if seat.forfeit}
        if losers:
            own.update(losers)
            ended.update(policies)
    return {
        policy: {"forfeited": own[policy] / count, "ended_by_forfeit": ended[policy] / count}
        for policy, count in matches.items()
    }


def _has_ties(rows: Iterable[LeaderboardRow]) -> bool:
    return any(row.tally and row.tally.draws for row in rows)


def _rating_note(rows: Iterable[LeaderboardRow], facts: Mapping[str, Any]) -> str:
    """Returns the definition of the ratings."""
    deals = f"{facts['deals']} deal{'' if facts['deals'] == 1 else 's'}"
    note = (
        f"rating: Bradley-Terry in Elo, mean 1000, with its 95 % interval ({deals}); score: mean with a tie as a half, in %"
        " with its 95 % interval"
    )
    if _has_ties(rows):
        note += "; since there are ties, differences of ratings tell expected scores, not chances to win"
    return note


def _seat_note(facts: Mapping[str, Any]) -> str:
    """Returns the results of the first seat."""
    position, advantage = facts["first_seat"], facts["seat_advantage"]
    note = f"first seat won {position.wins}, tied {position.draws}, lost {position.losses}"
    if advantage is None or advantage.low is None:
        return note
    return f"{note}; its advantage: {formatting.elo(advantage)}"


def _parts(rows: Sequence[LeaderboardRow]) -> tuple[list[LeaderboardColumn], list[str]]:
    """Returns the columns of the ratings fitted to a part of the matches, and their definitions."""
    columns, notes = [], []
    if _has_ties(rows):
        columns.append(_rating_column("no ties", "rating_without_ties", 2))
        notes.append(f"no ties: fitted without them{_apart(rows, 'rating_without_ties')}")
    if any(row.values["ended_by_forfeit"] for row in rows):
        columns += [_rating_column("no forfeits", "rating_without_forfeits", 9), _FORFEITED]
        notes.append(
            f"no forfeits: fitted to the matches without a forfeit{_apart(rows, 'rating_without_forfeits')}; forfeited:"
            " share of its matches that the policy forfeited / that either policy forfeited"
        )
    return columns, notes


def _rating_column(title: str, name: str, importance: int) -> LeaderboardColumn:
    return LeaderboardColumn(title, lambda row: formatting.rating(row.values[name]), importance, wide=True)


def _apart(rows: Sequence[LeaderboardRow], name: str) -> str:
    """Returns a note on the policies that are not linked to the others; the prior determines their distance."""
    apart = [row.policy for row in rows if row.values[name] and not row.values[name].is_linked]
    return f" (not linked to the others by results: {', '.join(apart)})" if apart else ""


def _skill_cell(row: LeaderboardRow) -> str:
    mu = row.values["mu"]
    return "" if mu is None else f"{mu:.2f} ± {formatting.number(row.values['sigma'], 2)}"


def _shuffled_cell(row: LeaderboardRow) -> str:
    spread = row.values["spread"]
    return "" if spread is None else f"{spread.mu:.2f} ± {spread.sd:.2f}"


def _forfeit_cell(row: LeaderboardRow) -> str:
    shares = (row.values["forfeited"], row.values["ended_by_forfeit"])
    return " / ".join("" if share is None else f"{share:.0%}" for share in shares)


_FORFEITED = LeaderboardColumn("forfeited", _forfeit_cell, 9, wide=True)
TRUESKILL = (
    LeaderboardColumn("mu", _skill_cell, 8, wide=True),
    LeaderboardColumn("shuffled", _shuffled_cell, 1, wide=True),
)
TALLIES = (
    TALLY,
    LeaderboardColumn("first", lambda row: formatting.tally(row.values["first"]), 7, wide=True),
    LeaderboardColumn("second", lambda row: formatting.tally(row.values["second"]), 6, wide=True),
    REWARD._replace(wide=True),
)
