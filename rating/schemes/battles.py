"""Leaderboard of imported pairwise results without matches, by Bradley-Terry.

It is made from the comparisons, not from outcomes, which cannot represent fractions of a win, weights or the deals of a log. A
log of a million results takes only a few arrays. It is not a scheme, since nothing is scheduled.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from rating.schemes import cells
from rating.schemes.figures import Figure, HeadToHead, Intervals
from rating.schemes.leaderboard import RANKS_OF_RATINGS, Effort, Leaderboard, LeaderboardColumn, LeaderboardRow, Ranks
from rating.schemes.skill_board import RATING
from rating.statistics.across import CommonPolicies, win_probabilities
from rating.statistics.battles import Battle, comparisons_of
from rating.statistics.bradley_terry import Standing, mean_scores, standings, tallies
from rating.statistics.estimates import WinDrawLoss
from rating.statistics.transitivity import against_one_scale

SCHEME = "battles"


@dataclass(frozen=True, kw_only=True)
class BattleLeaderboardRow(LeaderboardRow):
    """A policy.

    Attributes:
        rating: Bradley-Terry rating, in Elo.
        low: lower end of its 95 % interval; ``None`` if it is unbounded.
        high: upper end; ``None`` if it is unbounded.
        score: weighted mean score, 0 to 1.
        tally: results above, at and below one half.
        against_all: expected score from the ratings, averaged over all other policies with equal weight.
    """

    rating: float
    low: float | None
    high: float | None
    score: float
    tally: WinDrawLoss
    against_all: float

    @property
    def metric(self) -> float | None:
        """The expected score, averaged over all other policies with equal weight."""
        return self.against_all


@dataclass(frozen=True)
class PairTally:
    """The results of a pair of policies.

    Attributes:
        first: first policy.
        second: second policy.
        tally: results of the first above, at and below one half.
    """

    first: str
    second: str
    tally: WinDrawLoss


@dataclass(frozen=True, kw_only=True)
class BattleLeaderboard(Leaderboard):
    """The leaderboard of pairwise results.

    Attributes:
        seated: whether the first policy of a result had the first seat or position.
        seat_advantage: of the first policy, in Elo; ``None`` if it is not fitted.
        seat_error: its standard error.
        deals: number of deals, e.g. questions; results on one deal are not independent.
        doubts: caveats.
        pairs: tallies of all pairs that met.
    """

    rows: Sequence[BattleLeaderboardRow]
    seated: bool
    seat_advantage: float | None
    seat_error: float | None
    deals: int
    doubts: tuple[str, ...]
    pairs: tuple[PairTally, ...]

    def columns(self) -> list[LeaderboardColumn]:
        """Returns ranks, ratings and tallies."""
        return [
            RATING,
            LeaderboardColumn("score, %", lambda row: cells.number(100 * row.score, 1), 9),
            LeaderboardColumn("against all, %", lambda row: cells.number(100 * row.against_all, 1), 3),
            LeaderboardColumn("W/D/L", lambda row: cells.tally(row.tally), wide=True),
        ]

    def ranked_by(self) -> str:
        """Names the rating."""
        return "rating"

    def rank_note(self) -> str:
        """Returns the definition of the ranks."""
        return RANKS_OF_RATINGS

    def notes(self) -> list[str]:
        """Returns notes on the ratings and caveats."""
        advantage = "seats are not known: no advantage of the first is fitted"
        if self.seat_advantage is not None and self.seat_error is not None:
            advantage = f"advantage of the first: {self.seat_advantage:.0f} Elo, standard error {self.seat_error:.0f}"
        return [
            "rating: Bradley-Terry in Elo, mean 1000, with its 95 % interval; score: mean with a tie as a half",
            "against all: mean score expected against each other policy alike, by the ratings",
            f"{self.deals} deals or questions, within which results are not taken for independent; {advantage}",
            *self.doubts,
        ]

    def figures(self, outcomes: Sequence[object]) -> list[Figure]:
        """Returns the ratings with their intervals, and the results of every pair."""
        names = [row.policy for row in self.rows]
        table: dict[str, dict[str, WinDrawLoss | None]] = {name: dict.fromkeys(names) for name in names}
        for pair in self.pairs:
            table[pair.first][pair.second] = pair.tally
            table[pair.second][pair.first] = WinDrawLoss(*reversed(pair.tally))
        ratings = [(row.policy, row.rating, row.low, row.high) for row in self.rows]
        matrix = [HeadToHead(table)] if len(names) <= _MOST_IN_A_MATRIX else []
        return [Intervals(ratings, "Bradley-Terry rating in Elo with its 95 % interval"), *matrix]


_MOST_IN_A_MATRIX = 60


def battle_leaderboard(environment: str, battles: Iterable[Battle], *, seated: bool = False) -> BattleLeaderboard:
    """Makes the leaderboard of pairwise results.

    Args:
        environment: name of the game.
        battles: in any order; at least one between two different policies.
        seated: whether the first policy of a battle had the first seat or position, which allows a position bias to be fitted.

    Raises:
        ValueError: if no two policies met.
    """
    comparisons = comparisons_of(battles, seated=seated)
    if not comparisons.policies:
        raise ValueError(f"{environment}: expected results of two policies, got none")
    found = standings(comparisons)
    fitted, place = found.fitted, {name: index for index, name in enumerate(comparisons.policies)}
    table = tallies(comparisons)
    against_all = win_probabilities({environment: fitted}, CommonPolicies((environment,), comparisons.policies))
    scores = mean_scores(comparisons)
    rows = []
    for row in found.rows:
        index = place[row.policy]
        tally = WinDrawLoss(*(int(count) for count in table[index].sum(axis=0)))
        rows.append(_row(row, float(scores[index]), tally, against_all[row.policy].value))
    is_fitted = fitted.options.seat_term
    return BattleLeaderboard(
        environment=environment,
        scheme=SCHEME,
        rows=tuple(rows),
        matches=len(comparisons.score),
        void_matches=0,
        bug_matches=0,
        undecided_matches=0,
        stop_reason="",
        seated=seated,
        seat_advantage=fitted.seat_advantage if is_fitted else None,
        seat_error=fitted.seat_error if is_fitted and fitted.clusters > 1 else None,
        deals=len(np.unique(comparisons.cluster)),
        doubts=(*found.notes, *against_one_scale(comparisons)),
        pairs=tuple(
            PairTally(comparisons.policies[one], comparisons.policies[other], WinDrawLoss(*map(int, table[one, other])))
            for one, other in np.argwhere(np.triu(table.sum(axis=2)))
        ),
    )


def _row(row: Standing, score: float, tally: WinDrawLoss, against_all: float) -> BattleLeaderboardRow:
    return BattleLeaderboardRow(
        policy=row.policy,
        reward=None,
        effort=Effort(row.games, 0, {}, {}, 0, 0, 0, 0, 0, 0, 0, 0),
        rating=row.rating,
        low=row.low,
        high=row.high,
        rank=Ranks(row.best_rank, row.worst_rank),
        score=score,
        tally=tally,
        against_all=against_all,
    )
