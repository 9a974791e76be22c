"""Leaderboard of imported pairwise results without matches, by Bradley-Terry.

It is made from the comparisons, not from outcomes, which cannot represent fractions of a win, weights or the deals of a log. A
log of a million results takes only a few arrays. It is not a scheme, since nothing is scheduled.
"""

from collections.abc import Iterable

import numpy as np

from rating.schemes import formatting
from rating.schemes.duels import ratings_of, seat_advantage
from rating.schemes.figures import Figure, pair_figure, rating_figure
from rating.schemes.leaderboard import RATING, TALLY, Effort, Leaderboard, LeaderboardColumn, LeaderboardRow, Ranks
from rating.stats.bradley_terry import BradleyTerryOptions, Comparisons, mean_scores, standings, win_tie_loss_counts
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.estimates import Estimate
from rating.stats.expected_scores import CommonPolicies, win_probabilities
from rating.stats.results import Battle, WinDrawLoss
from rating.stats.transitivity import against_one_scale

SCHEME = "battles"


def battle_leaderboard(
    environment: str,
    battles: Iterable[Battle],
    *,
    seated: bool = False,
    options: BradleyTerryOptions | None = None,
) -> Leaderboard:
    """Makes the leaderboard of pairwise results.

    Its rows have the value ``against_all``, the expected score by the ratings, averaged over all other policies with equal
    weight, which is the metric too. The facts have the ``seat_advantage`` of the first policy in Elo, and the ``deals``.

    Args:
        environment: name of the game.
        battles: in any order; at least one between two different policies.
        seated: whether the first policy of a battle had the first seat or position, which allows a position bias to be fitted.
        options: of the fit; by default the width of the prior is fitted to the pool.

    Raises:
        ValueError: if no two policies met.
    """
    comparisons = comparisons_of(battles, seated=seated)
    if not comparisons.policies:
        raise ValueError(f"{environment}: expected results of two policies, got none")
    found = standings(comparisons, options)
    fitted, names = found.fitted, comparisons.policies
    table = win_tie_loss_counts(comparisons).sum(axis=1)
    against_all = win_probabilities({environment: fitted}, CommonPolicies((environment,), names))
    ratings, scores = ratings_of(found), mean_scores(comparisons)
    deals = len(np.unique(comparisons.cluster))
    rows = []
    for row in found.rows:
        index, metric = names.index(row.policy), against_all[row.policy].value
        rows.append(
            LeaderboardRow(
                policy=row.policy,
                metric=metric,
                rating=ratings[row.policy],
                score=Estimate(float(scores[index]), None, None, row.games, deals),
                tally=WinDrawLoss(*map(int, table[index])),
                values={"against_all": metric},
                effort=Effort(matches=row.games),
                rank=Ranks(row.best_rank, row.worst_rank),
            )
        )
    is_fitted, results = fitted.options.seat_term, len(comparisons.score)
    advantage = seat_advantage(fitted, results, deals) if is_fitted else None
    return Leaderboard(
        environment=environment,
        scheme=SCHEME,
        ranked_by="rating",
        is_rated=True,
        rows=tuple(rows),
        established=found.established,
        matches=results,
        columns=_COLUMNS,
        notes=_notes(deals, advantage),
        caveats=(*found.notes, *against_one_scale(comparisons)),
        facts={"seat_advantage": advantage, "deals": deals},
    )


def _notes(deals: int, advantage: Estimate | None) -> tuple[str, ...]:
    seats = "seats are not known: no advantage of the first is fitted"
    if advantage is not None:
        seats = f"advantage of the first: {formatting.elo(advantage)}"
    return (
        "rating: Bradley-Terry in Elo, mean 1000, with its 95 % interval; score: mean with a tie as a half",
        "against all: mean score expected against each other policy alike, by the ratings",
        f"{deals} deals or questions, within which results are not taken for independent; {seats}",
    )


_COLUMNS = (
    RATING,
    LeaderboardColumn("score, %", lambda row: formatting.score(row.score, 1), 9),
    LeaderboardColumn("against all, %", lambda row: formatting.number(100 * row.values["against_all"], 1), 3),
    TALLY,
)

_MOST_IN_A_MATRIX = 60


def battle_figures(board: Leaderboard, comparisons: Comparisons) -> list[Figure]:
    """Returns the ratings with their intervals, and the results of every pair of a small pool."""
    names = [row.policy for row in board.rows]
    pairs = pair_figure(names, comparisons) if len(names) <= _MOST_IN_A_MATRIX else []
    return [*rating_figure(board.rows), *pairs]
