"""Leaderboard of imported pairwise results without matches, by Bradley-Terry.

It is made from the comparisons, not from outcomes, which cannot represent fractions of a win, weights or the deals of a log. A
log of a million results takes only a few arrays. It is not a scheme, since nothing is scheduled.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from rating.schemes import formatting
from rating.schemes.duels import ratings_of, seat_advantage
from rating.schemes.figures import Figure, pair_figure, rating_figure
from rating.schemes.leaderboard import RATING, TALLY, Effort, Leaderboard, LeaderboardColumn, LeaderboardRow, Ranks
from rating.schemes.true_scores import JudgedWork, with_true_scores
from rating.stats.bradley_terry import BradleyTerryOptions, Comparisons, mean_scores, standings, win_tie_loss_counts
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.estimates import Estimate, Rating, bounded_mean
from rating.stats.expected_scores import CommonPolicies, win_probabilities
from rating.stats.results import Battle, SeatConduct, WinDrawLoss
from rating.stats.transitivity import against_one_scale

SCHEME = "battles"


def battle_leaderboard(
    environment: str,
    battles: Iterable[Battle],
    *,
    seated: bool = False,
    options: BradleyTerryOptions | None = None,
    conduct: Sequence[SeatConduct] = (),
) -> Leaderboard:
    """Makes the leaderboard of pairwise results.

    Its rows have the value ``against_all``, the expected score by the ratings, averaged over all other policies with equal
    weight, which is the metric too. The facts have the ``seat_advantage`` of the first policy in Elo, and the ``deals``.

    If the log reports errors, the rows have ``rating_without_forfeits`` and the shares of games with ``errors``, ``forfeits`` and
    ``others_forfeits``; if it has truth, ``true_score``.

    Args:
        environment: name of the game.
        battles: in any order; at least one between two different policies.
        seated: whether the first policy of a battle had the first seat or position, which allows a position bias to be fitted.
        options: of the fit; by default the width of the prior is fitted to the pool.
        conduct: errors of all seats, if the log reports them.

    Raises:
        ValueError: if no two policies met.
    """
    battles = list(battles)
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
    clean = [battle for battle in battles if not battle.is_forfeited]
    if conduct:
        rows = _with_conduct(rows, conduct, ratings if len(clean) == len(battles) else _ratings(clean, seated, options))
    is_fitted, results = fitted.options.seat_term, len(comparisons.score)
    advantage = seat_advantage(fitted, results, deals) if is_fitted else None
    board = Leaderboard(
        environment=environment,
        scheme=SCHEME,
        ranked_by="rating",
        is_rated=True,
        rows=tuple(rows),
        established=found.established,
        matches=results,
        columns=(*_COLUMNS, *(_CONDUCT if conduct else ())),
        notes=(*_notes(deals, advantage), *(_CONDUCT_NOTES if conduct else ())),
        caveats=(*found.notes, *against_one_scale(comparisons), *_confounded(conduct, len(clean), len(battles))),
        facts={"seat_advantage": advantage, "deals": deals},
    )
    return with_true_scores(board, _works(battles), "the truth of the log")


def _works(battles: Sequence[Battle]) -> Iterator[JudgedWork]:
    """Yields both sides of every battle, if the log has truth."""
    if all(battle.truth is None for battle in battles):
        return
    for number, battle in enumerate(battles):
        deal, truth = battle.deal or f"battle {number}", battle.truth
        yield JudgedWork(battle.first, deal, battle.score, truth)
        yield JudgedWork(battle.second, deal, 1 - battle.score, None if truth is None else 1 - truth)


def _ratings(battles: Sequence[Battle], seated: bool, options: BradleyTerryOptions | None) -> dict[str, Rating]:
    comparisons = comparisons_of(battles, seated=seated)
    return ratings_of(standings(comparisons, options)) if comparisons.policies else {}


def _with_conduct(
    rows: Iterable[LeaderboardRow], conduct: Iterable[SeatConduct], clean: Mapping[str, Rating]
) -> list[LeaderboardRow]:
    """Adds the rating without forfeits and the shares of games with errors and forfeits."""
    own: dict[str, list[SeatConduct]] = defaultdict(list)
    for seat in conduct:
        own[seat.policy].append(seat)

    def share(policy: str, name: str) -> Estimate | None:
        seats = own[policy]
        return bounded_mean([float(getattr(seat, name)) for seat in seats], [seat.deal for seat in seats])

    return [
        replace(
            row,
            values={
                **row.values,
                "rating_without_forfeits": clean.get(row.policy),
                "errors": share(row.policy, "erred"),
                "forfeits": share(row.policy, "forfeited"),
                "others_forfeits": share(row.policy, "others_forfeited"),
            },
        )
        for row in rows
    ]


def _confounded(conduct: Sequence[SeatConduct], clean: int, results: int) -> tuple[str, ...]:
    if clean == results:
        return ()
    games = {seat.deal for seat in conduct}
    forfeited = {seat.deal for seat in conduct if seat.forfeited}
    return (
        f"{len(forfeited)} of {len(games)} games were decided by a forfeit: rating mixes skill, own errors and surviving those of"
        " others; compare it with no forfeits, whose games are selected by who errs",
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

_CONDUCT = (
    LeaderboardColumn("no forfeits", lambda row: formatting.rating(row.values["rating_without_forfeits"]), 8),
    LeaderboardColumn("ff, %", lambda row: formatting.score(row.values["forfeits"]), 7),
    LeaderboardColumn("others' ff, %", lambda row: formatting.score(row.values["others_forfeits"]), 6),
    LeaderboardColumn("errors, %", lambda row: formatting.score(row.values["errors"]), 5),
)

_CONDUCT_NOTES = (
    "no forfeits: rating fitted to the games without a forfeit of anyone: skill, apart from format",
    "ff: share of its games that a policy forfeited by an invalid move; others' ff: share that another one forfeited; errors:"
    " share with an invalid move of its own, also a corrected one",
)

_MOST_IN_A_MATRIX = 60


def battle_figures(board: Leaderboard, comparisons: Comparisons) -> list[Figure]:
    """Returns the ratings with their intervals, and the results of every pair of a small pool."""
    names = [row.policy for row in board.rows]
    pairs = pair_figure(names, comparisons) if len(names) <= _MOST_IN_A_MATRIX else []
    return [*rating_figure(board.rows), *pairs]
