"""Leaderboard of a tournament: Bradley-Terry with and without ties, online Elo, and the rating history.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.1): Elo ratings by Bradley-Terry after every pairing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rating.schedules.swiss import START, SwissPlan, rounds_for
from rating.schemes import cells
from rating.schemes.figures import Figure, Grid, Trajectories, rating_figure
from rating.schemes.leaderboard import Leaderboard, LeaderboardColumn, LeaderboardRow, ranked, ranks_of
from rating.schemes.skill_board import head_to_head, skill_leaderboard
from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryOptions
from rating.stats.results import rated_seats
from rating.stats.trueskill import elo
from rating.store.outcome import VOID, Outcome


class Stage(NamedTuple):
    """The state of a tournament after a pairing.

    Attributes:
        matches: number of matches played until then.
        pair: the two players.
        ratings: by policy, for the policies present at that time.
    """

    matches: int
    pair: tuple[str, str]
    ratings: dict[str, float]


def paths(stages: Sequence[Stage], title: str, policies: Sequence[str]) -> Grid:
    """Returns a table of ratings: one row per pairing, one column per policy."""
    rows = [
        [" - ".join(stage.pair), str(stage.matches), *(cells.number(stage.ratings.get(name), 0) for name in policies)]
        for stage in stages
    ]
    return Grid(title, ["pairing", "matches", *policies], rows)


def tournament_leaderboard(
    outcomes: Iterable[Outcome], plan: SwissPlan, *, ties: str = "half", stop_reason: str = ""
) -> Leaderboard:
    """Makes the leaderboard of a tournament.

    Besides those of ``skill_leaderboard``, its rows have the values ``elo`` (online, K = 4), ``byes`` (rounds without a match)
    and ``rematches`` (pairings with a policy that it had met before); its facts have ``rounds``,
    ``newcomers`` and ``path`` (see ``rating_path``). The metric is the rating.

    Args:
        outcomes: all its outcomes, including void ones, in any order; at least one.
        plan: plan of the tournament.
        ties: treatment of ties in the ranks, as in ``TournamentRules``.
        stop_reason: why play stopped.

    Raises:
        ValueError: if there are no outcomes, or a match does not have two rated seats.
    """
    outcomes = list(outcomes)
    skill = skill_leaderboard(outcomes, model=model("half"), stop_reason=stop_reason)
    path = rating_path(outcomes, plan, ties)
    online, byes = elo(outcomes), _byes(path, plan)
    again = Counter(name for stage in _rematches(path) for name in stage.pair)
    rows = [
        replace(
            row,
            metric=row.rating.value if row.rating else None,
            values={
                **row.values,
                "elo": online.get(row.policy),
                "byes": byes[row.policy],
                "rematches": again[row.policy],
            },
        )
        for row in skill.rows
    ]
    pairs = skill.established
    if ties == "drop" and skill.matches:
        pairs = bradley_terry.standings(bradley_terry.compare(outcomes), model(ties)).established
        ranks = ranks_of([row.policy for row in rows if row.rank], pairs)
        rows = [replace(row, rank=ranks.get(row.policy)) for row in rows]
    return replace(
        skill,
        scheme="tournament",
        ranked_by="rating" if ties == "half" else "rating without ties",
        rows=ranked(rows, _rating if ties == "half" else _rating_without_ties),
        established=pairs,
        columns=(*skill.columns, *_COLUMNS),
        notes=(*_notes(path, plan, ties), *skill.notes),
        wide_notes=(*skill.wide_notes, "Elo: online, K = 4, in match order"),
        facts={**skill.facts, "rounds": rounds_for(len(plan.field)), "newcomers": plan.newcomers, "path": path},
    )


def _rating(row: LeaderboardRow) -> float | None:
    return row.rating.value if row.rating else None


def _rating_without_ties(row: LeaderboardRow) -> float | None:
    rating = row.values["rating_without_ties"]
    return rating.value if rating else None


def _notes(path: Sequence[Stage], plan: SwissPlan, ties: str) -> list[str]:
    """Returns the lines on the schedule."""
    rounds = rounds_for(len(plan.field))
    pairings = f"{len(path)} pairing{'' if len(path) == 1 else 's'}"
    played = f"{rounds} Swiss round{'' if rounds == 1 else 's'}, {pairings} complete"
    if plan.newcomers:
        played += f"; placed afterwards: {', '.join(plan.newcomers)}"
    counted = {"half": "counts as half a win of each", "drop": "is left out"}[ties]
    again = [" and ".join(stage.pair) for stage in _rematches(path)]
    return [
        played,
        f"pairings, judges and ranks were chosen by ratings for which a tie {counted}",
        *([f"met again: {', '.join(again)}"] if again else []),
    ]


_COLUMNS = (
    LeaderboardColumn("Elo", lambda row: cells.number(row.values["elo"], 0), 8, wide=True),
    LeaderboardColumn("byes", lambda row: str(row.values["byes"]), 5, wide=True),
    LeaderboardColumn("rematches", lambda row: str(row.values["rematches"]), 5, wide=True),
)


def tournament_figures(board: Leaderboard, outcomes: Sequence[Outcome]) -> list[Figure]:
    """Returns the ratings with their intervals, their course, and the results of every pair."""
    return [*rating_figure(board.rows), *_course(board), *head_to_head(board, outcomes)]


def _course(board: Leaderboard) -> list[Figure]:
    path: tuple[Stage, ...] = board.facts["path"]
    if not path:
        return []
    history: dict[str, list[tuple[int, float, float]]] = {}
    before = 0
    for stage in path:
        for name, rating in stage.ratings.items():
            history.setdefault(name, [(before, START, 0.0)]).append((stage.matches, rating, 0.0))
        before = stage.matches
    names = [row.policy for row in board.rows]
    ordered = {name: history[name] for name in names if name in history}
    return [
        Trajectories(ordered, "Bradley-Terry rating in Elo"),
        paths(path, "Ratings after every pairing", names),
    ]


def current_ratings(outcomes: Iterable[Outcome], ties: str) -> dict[str, float]:
    """Returns the Bradley-Terry ratings of policies with a finished match, mean 1000.

    They are maximum likelihood estimates, or use a prior if these do not exist (see ``rating.stats.bradley_terry``).
    """
    comparisons = bradley_terry.compare(outcomes)
    if not comparisons.policies:
        return {}
    fitted = bradley_terry.fit(comparisons, model(ties))
    return dict(zip(fitted.policies, map(float, fitted.ratings), strict=True))


def rating_path(outcomes: Iterable[Outcome], plan: SwissPlan, ties: str) -> tuple[Stage, ...]:
    """Returns the completed prefix of pairings, each with the ratings after it.

    Args:
        outcomes: of the tournament, in any order.
        plan: plan of the tournament.
        ties: as in ``TournamentRules``.
    """
    by_pairing: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.status != VOID:
            by_pairing.setdefault(outcome.number // plan.matches, []).append(outcome)
    present, played, stages = set(plan.field), list[Outcome](), list[Stage]()
    while len(own := by_pairing.get(len(stages), [])) == plan.matches:
        played += own
        first, second = (seat.policy for seat in rated_seats(min(own, key=lambda outcome: outcome.number)))
        present |= {first, second}
        known = current_ratings(played, ties)
        stages.append(Stage(len(played), (first, second), {name: known.get(name, START) for name in sorted(present)}))
    return tuple(stages)


def model(ties: str) -> BradleyTerryOptions:
    """Returns the Bradley-Terry options: no prior, and no seat advantage, since both policies have each seat equally often."""
    return BradleyTerryOptions(prior_sd=None, seat_term=False, ties=ties)


def _rematches(path: Sequence[Stage]) -> list[Stage]:
    met, again = set[frozenset[str]](), []
    for stage in path:
        if frozenset(stage.pair) in met:
            again.append(stage)
        met.add(frozenset(stage.pair))
    return again


def _byes(path: Sequence[Stage], plan: SwissPlan) -> Mapping[str, int]:
    """Returns the number of completed rounds that each policy of the field did not play."""
    size = len(plan.field) // 2
    byes: Counter[str] = Counter()
    for number in range(min(rounds_for(len(plan.field)), len(path) // size)):
        playing = {name for stage in path[number * size : (number + 1) * size] for name in stage.pair}
        byes.update(set(plan.field) - playing)
    return byes
