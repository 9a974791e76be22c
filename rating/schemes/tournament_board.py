"""Leaderboard of a tournament: Bradley-Terry with and without ties, online Elo, and the rating history.

Source: Auto-Arena (arXiv 2405.20267v1, section 4.1): Elo ratings by Bradley-Terry after every pairing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rating.records.outcome import VOID, Outcome
from rating.schedules.swiss import START, SwissPlan, rounds_for
from rating.schemes import cells
from rating.schemes.figures import Figure, Grid, Trajectories
from rating.schemes.leaderboard import LeaderboardColumn, ranked, ranks_of
from rating.schemes.skill_board import RATING, SCORE, TALLIES, SkillLeaderboard, SkillRow, skill_leaderboard
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryOptions
from rating.statistics.elo import elo
from rating.statistics.results import rated_seats


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


@dataclass(frozen=True, kw_only=True)
class TournamentRow(SkillRow):
    """A policy of a tournament.

    Attributes:
        elo: online Elo rating, K = 4.
        byes: number of rounds that it did not play.
        rematches: number of pairings with a policy that it had met before.
    """

    elo: float | None
    byes: int
    rematches: int

    @property
    def metric(self) -> float | None:
        """The Bradley-Terry rating."""
        return self.rating


@dataclass(frozen=True, kw_only=True)
class TournamentLeaderboard(SkillLeaderboard):
    """The leaderboard of a tournament.

    Attributes:
        rounds: number of Swiss rounds.
        newcomers: policies placed after the rounds, in order.
        ties: treatment of ties in the ratings for ranks, pairings and committees: ``half`` or ``drop``.
        path: ratings after every complete pairing.
    """

    rows: Sequence[TournamentRow]
    rounds: int
    newcomers: tuple[str, ...]
    ties: str
    path: tuple[Stage, ...]

    def columns(self) -> list[LeaderboardColumn]:
        """Returns ratings, results, byes and rematches."""
        return [
            RATING,
            SCORE,
            *self.rating_columns(),
            LeaderboardColumn("Elo", lambda row: cells.number(row.elo, 0), 8, wide=True),
            LeaderboardColumn("byes", lambda row: str(row.byes), 5, wide=True),
            LeaderboardColumn("rematches", lambda row: str(row.rematches), 5, wide=True),
            *TALLIES,
        ]

    def ranked_by(self) -> str:
        """Returns the name of the rating, with or without ties."""
        return "rating" if self.ties == "half" else "rating without ties"

    def notes(self) -> list[str]:
        """Returns notes on the schedule and the ratings, and caveats."""
        pairings = f"{len(self.path)} pairing{'' if len(self.path) == 1 else 's'}"
        played = f"{self.rounds} Swiss round{'' if self.rounds == 1 else 's'}, {pairings} complete"
        if self.newcomers:
            played += f"; placed afterwards: {', '.join(self.newcomers)}"
        ties = {"half": "counts as half a win of each", "drop": "is left out"}[self.ties]
        notes = [
            played,
            self.rating_note(),
            f"pairings, judges and ranks were chosen by ratings for which a tie {ties}",
            self.seat_note(),
        ]
        if again := [stage.pair for stage in _rematches(self.path)]:
            notes.append(f"met again: {', '.join(' and '.join(pair) for pair in again)}")
        return [*notes, *self.doubts()]

    def wide_notes(self) -> list[str]:
        """Returns notes on the other ratings."""
        return [*self.parts_notes(), "Elo: online, K = 4, in match order"]

    def course(self, outcomes: Sequence[Outcome]) -> list[Figure]:
        """Returns the history of the ratings."""
        if not self.path:
            return []
        history: dict[str, list[tuple[int, float, float]]] = {}
        before = 0
        for stage in self.path:
            for name, rating in stage.ratings.items():
                history.setdefault(name, [(before, START, 0.0)]).append((stage.matches, rating, 0.0))
            before = stage.matches
        ordered = {row.policy: history[row.policy] for row in self.rows if row.policy in history}
        return [
            Trajectories(ordered, "Bradley-Terry rating in Elo"),
            paths(self.path, "Ratings after every pairing", [row.policy for row in self.rows]),
        ]


def paths(stages: Sequence[Stage], title: str, policies: Sequence[str]) -> Grid:
    """Returns a table of ratings: one row per pairing, one column per policy."""
    rows = [
        [" - ".join(stage.pair), str(stage.matches), *(cells.number(stage.ratings.get(name), 0) for name in policies)]
        for stage in stages
    ]
    return Grid(title, ["pairing", "matches", *policies], rows)


def tournament_leaderboard(
    outcomes: Iterable[Outcome], plan: SwissPlan, *, ties: str = "half", stop_reason: str = ""
) -> TournamentLeaderboard:
    """Makes the leaderboard of a tournament.

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
        TournamentRow(**vars(row), elo=online.get(row.policy), byes=byes[row.policy], rematches=again[row.policy])
        for row in skill.rows
    ]
    pairs = skill.established
    if ties == "drop" and skill.matches:
        pairs = bradley_terry.standings(bradley_terry.compare(outcomes), model(ties)).established
        ranks = ranks_of([row.policy for row in rows if row.rank], pairs)
        rows = [replace(row, rank=ranks.get(row.policy)) for row in rows]
    return TournamentLeaderboard(
        **{
            **vars(skill),
            "scheme": "tournament",
            "rows": ranked(rows, lambda row: row.rating if ties == "half" else row.rating_without_ties),
            "established": pairs,
        },
        rounds=rounds_for(len(plan.field)),
        newcomers=tuple(plan.newcomers),
        ties=ties,
        path=path,
    )


def current_ratings(outcomes: Iterable[Outcome], ties: str) -> dict[str, float]:
    """Returns the Bradley-Terry ratings of policies with a finished match, mean 1000.

    They are maximum likelihood estimates, or use a prior if these do not exist (see ``rating.statistics.bradley_terry``).
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
