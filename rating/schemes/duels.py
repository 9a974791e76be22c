"""Duels: matches between two players, rated by Bradley-Terry and TrueSkill.

Source: LLMArena (arXiv 2402.16499, section 3.1) for TrueSkill; see ``rating.statistics`` for the rating systems.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.round_robin import round_robin
from rating.schemes import cells
from rating.schemes.figures import Figure, Intervals, Pairs, Trajectories
from rating.schemes.leaderboard import REWARD, Column, Leaderboard, Row, by_policy, common_fields, ranked, row_fields
from rating.schemes.repeating import Repeating
from rating.schemes.stopping import StopRule
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryFit, BradleyTerryOptions, Comparisons
from rating.statistics.estimates import Z_95, Estimate, Tally, pair_table, position_bias, tallies
from rating.statistics.results import duels
from rating.statistics.trueskill_rating import Shuffled, TrueSkillOptions, rate, shuffled


@dataclass(frozen=True, kw_only=True)
class SkillRow(Row):
    """A policy of a two-player environment; the ratings are ``None`` if it has not finished a match with another policy.

    Attributes:
        rating: Bradley-Terry rating, in Elo.
        low: lower end of its 95 % interval.
        high: upper end.
        rating_without_ties: the rating if ties are left out.
        mu: TrueSkill mean, matches applied in match-number order.
        sigma: TrueSkill standard deviation.
        spread: mean and standard deviation of mu over random orders of the matches.
        tally: wins, draws and losses against other policies.
        first: those on the first seat.
        second: those on the second seat.
    """

    rating: float | None
    low: float | None
    high: float | None
    rating_without_ties: float | None
    mu: float | None
    sigma: float | None
    spread: Shuffled | None
    tally: Tally
    first: Tally
    second: Tally

    @property
    def metric(self) -> float | None:
        """TrueSkill's mu."""
        return self.mu


@dataclass(frozen=True, kw_only=True)
class SkillLeaderboard(Leaderboard):
    """The leaderboard of a two-player environment.

    Attributes:
        connected: whether every policy has beaten or tied every other through a chain of others; if not, the prior
            determines how far groups are apart.
        regularised: whether a prior was used although none was asked for.
        interval: what the intervals are: ``model`` (inverse Hessian) or ``wider`` (the wider one of that and of the robust
            interval clustered by deal).
        clusters: number of deals behind the robust interval; 0 if there is none.
        seat_advantage: of the first seat, in Elo; ``None`` without a match, or if none is fitted.
        seat_low: lower end of its 95 % interval.
        seat_high: upper end.
        position: matches the first seat won, tied and lost, those of a policy with itself included.
        first_share: share of the first seat in the decided ones.
        permutations: number of random orders behind the spread.
    """

    rows: Sequence[SkillRow]
    connected: bool
    regularised: bool
    interval: str
    clusters: int
    seat_advantage: float | None
    seat_low: float | None
    seat_high: float | None
    position: Tally
    first_share: Estimate | None
    permutations: int

    def columns(self) -> list[Column]:
        """Returns ratings and tallies."""
        return [
            Column("rating", rating_cell),
            Column("no ties", lambda row: cells.number(row.rating_without_ties, 0), 2),
            Column("mu", _skill_cell, 8),
            Column("shuffled", _shuffled_cell, 1),
            Column("W/D/L", lambda row: cells.tally(row.tally)),
            Column("first", lambda row: cells.tally(row.first), 7),
            Column("second", lambda row: cells.tally(row.second), 6),
            REWARD,
        ]

    def notes(self) -> list[str]:
        """Says what the ratings are, and what does not hold of them."""
        mu = (
            f"mu: TrueSkill in match order; shuffled: mean and sd over {self.permutations} random orders of the matches"
        )
        return [self.rating_note(), mu, self.seat_note(), *self.doubts()]

    def rating_note(self) -> str:
        """Says what the ratings are."""
        source = {
            "model": "of the model",
            "wider": f"the wider one of the model's and the one clustered by deal ({self.clusters} deals)",
        }[self.interval]
        return (
            f"rating: Bradley-Terry in Elo, mean 1000, with its 95 % interval, {source}; no ties: fitted without them"
        )

    def seat_note(self) -> str:
        """Says how the first seat did."""
        note = f"first seat won {self.position.wins}, tied {self.position.draws}, lost {self.position.losses}"
        if self.seat_advantage is None:
            return note
        interval = f"[{cells.number(self.seat_low, 0)}, {cells.number(self.seat_high, 0)}]"
        return f"{note}; its advantage: {cells.number(self.seat_advantage, 0)} Elo {interval}"

    def doubts(self) -> list[str]:
        """Says what does not hold of the ratings."""
        notes = []
        if not self.connected:
            notes.append(
                "not every policy has beaten or tied every other through a chain: distances depend on the prior"
            )
        if self.regularised:
            notes.append("the data alone determine no finite ratings: a prior was added")
        return notes

    def figures(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns ratings with their intervals, their course, and the results of every pair."""
        rated = [
            (row.policy, row.rating, row.low, row.high)
            for row in self.rows
            if row.rating is not None and row.low is not None and row.high is not None
        ]
        if not rated:
            return []
        return [
            Intervals(rated, "Bradley-Terry rating in Elo with its 95 % interval"),
            *self.course(outcomes),
            Pairs(pair_table(duels(outcomes, with_itself=True))),
        ]

    def course(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns TrueSkill after every match."""
        return [Trajectories(rate(outcomes).history, "TrueSkill mu ± sigma")]


class Duels(Repeating):
    """Every pair plays both seats of every deal, until the ratings stand still."""

    name = "duels"
    rivals = True

    def check(self) -> None:
        """Checks that two seats are rated, and that nobody is a fixed opponent."""
        super().check()
        self._contest.check(f"{self.setting.environment}, whose players are compared by duels", policies=2, seats=2)

    def least_policies(self, seats: int) -> int:
        """Returns 2: a policy is rated by playing others."""
        return 2

    def batches(self) -> Iterator[list[Match]]:
        """Returns a round robin."""
        return round_robin(self._contest)

    def rule(self) -> StopRule:
        """Returns the rule of the run."""
        return self.setting.stop

    def board(self, outcomes: Sequence[Outcome], stop_reason: str) -> SkillLeaderboard:
        """Makes the leaderboard."""
        return skill_leaderboard(outcomes, stop_reason=stop_reason)


def skill_leaderboard(
    outcomes: Iterable[Outcome],
    *,
    stop_reason: str = "",
    trueskill: TrueSkillOptions | None = None,
    model: BradleyTerryOptions | None = None,
    permutations: int = 20,
    seed: int = 0,
) -> SkillLeaderboard:
    """Makes the leaderboard of a two-player environment.

    Args:
        outcomes: all its outcomes, void ones included, in any order; at least one.
        stop_reason: why no more matches were played.
        trueskill: parameters of TrueSkill.
        model: what Bradley-Terry fits.
        permutations: number of random orders of the matches for the spread of mu.
        seed: of those orders.

    Raises:
        ValueError: if there are no outcomes, or a match had not two rated seats.
    """
    outcomes = list(outcomes)
    common = common_fields(outcomes, Duels.name, stop_reason)
    model = model or BradleyTerryOptions()
    results = duels(outcomes)
    by_seat = tallies(results)
    comparisons = bradley_terry.compare(outcomes)
    fitted, clusters = _fit(comparisons, model) if results else (None, 0)
    without_ties = bradley_terry.fit(comparisons, replace(model, ties="drop")) if results else None
    online = rate(outcomes, trueskill).ratings
    spread = shuffled(outcomes, trueskill, permutations=permutations, seed=seed)
    rows = []
    for policy, matches in by_policy(outcomes).items():
        first, second = by_seat.get(policy, (Tally(), Tally()))
        rated = fitted if policy in by_seat else None
        low, high = rated.interval(policy) if rated else (None, None)
        mu, sigma = online.get(policy, (None, None))
        rows.append(
            SkillRow(
                **row_fields(matches, policy),
                rating=_rating(rated, policy),
                low=low,
                high=high,
                rating_without_ties=_rating(without_ties if rated else None, policy),
                mu=mu,
                sigma=sigma,
                spread=spread.get(policy),
                tally=Tally(*(a + b for a, b in zip(first, second, strict=True))),
                first=first,
                second=second,
            )
        )
    bias = position_bias(outcomes)
    seat = (fitted.seat_advantage, Z_95 * fitted.seat_error) if fitted and model.seat_term else None
    return SkillLeaderboard(
        **common,
        rows=ranked(rows, lambda row: row.rating),
        connected=fitted.connected if fitted else False,
        regularised=fitted.regularised if fitted else False,
        interval="wider" if clusters else "model",
        clusters=clusters,
        seat_advantage=seat[0] if seat else None,
        seat_low=seat[0] - seat[1] if seat else None,
        seat_high=seat[0] + seat[1] if seat else None,
        position=Tally(bias.first, bias.ties, bias.second),
        first_share=bias.first_share,
        permutations=permutations,
    )


def _fit(comparisons: Comparisons, model: BradleyTerryOptions) -> tuple[BradleyTerryFit, int]:
    """Returns the fit with the wider one of both standard errors, and the number of clusters if there are both.

    The robust error is too small for few deals, the one of the model where matches of a deal are alike.
    """
    fitted = bradley_terry.fit(comparisons, model)
    robust = bradley_terry.clustered(fitted, comparisons) if fitted.connected else None
    if robust is None:
        return fitted, 0
    wider = np.maximum(fitted.errors, robust.errors)
    return (
        replace(fitted, covariance=np.diag(wider**2), seat_error=max(fitted.seat_error, robust.seat_error)),
        robust.clusters,
    )


def _rating(fitted: BradleyTerryFit | None, policy: str) -> float | None:
    return float(fitted.ratings[fitted.policies.index(policy)]) if fitted else None


def rating_cell(row: SkillRow) -> str:
    """Writes a rating with its interval."""
    return "" if row.rating is None else f"{row.rating:.0f} [{cells.number(row.low, 0)}, {cells.number(row.high, 0)}]"


def _skill_cell(row: SkillRow) -> str:
    return "" if row.mu is None else f"{row.mu:.2f} ± {cells.number(row.sigma, 2)}"


def _shuffled_cell(row: SkillRow) -> str:
    return "" if row.spread is None else f"{row.spread.mu:.2f} ± {row.spread.sd:.2f}"
