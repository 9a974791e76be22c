"""Effect of the judges' discussion on a ranking (Auto-Arena, arXiv 2405.20267v1, section 4.4).

One tournament gives both rankings. Every judge gives a verdict before the discussion, so the winner without discussion is known
for each battle; pairings and committees are from the tournament with discussion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarks.auto_arena.boards import BOTH_INTERVALS, OVER_BATTLES, SCALE_NOTE, agreement_cells, prior_note
from benchmarks.auto_arena.pool import DEBATE
from benchmarks.auto_arena.question_stage import EXAMINED
from benchmarks.auto_arena.ratings import Ratings, rate
from benchmarks.auto_arena.tournaments import (
    RUN,
    Scores,
    TournamentOptions,
    plan_tournament,
    precision,
    read_tournament,
    scores_to_compare,
)
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.row import Result, Row
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.seats import statistic
from benchmarks.experiments.tables import MEASURED, Cell, Column, Table, percent
from llmarena_envs.core.options import OptionError
from rating.config.run_file import RunConfig
from rating.errors import RunError
from rating.stats.estimates import Estimate, bounded_mean
from rating.stats.results import rated_seats
from rating.store.records import FINISHED, PLAYED, UNDECIDED, Outcome

OFF, ON = "winner_first", "winner"
TITLES = {OFF: "without discussion", ON: "with discussion"}
"""Titles of the statistics with the winner before and after the discussion."""

TIE, NOBODY = 2, -1


def plan(options: TournamentOptions) -> dict[str, RunConfig]:
    """Returns the tournament."""
    return {RUN: plan_tournament(options)}


def measure(runs: Mapping[str, PlayedRun], options: TournamentOptions) -> Result:
    """Returns the ratings before and after the discussion, and their rank agreement.

    Raises:
        OptionError: if the judges of the run had no discussion.
        RunError: if no player can be rated.
    """
    run = runs[RUN]
    if not run.config.options(DEBATE).get("discussion", True):
        raise OptionError(f"{run.directory}: {DEBATE}: expected a run with discussion = True, got False")
    played = read_tournament(run)
    found = {key: rate(decided_by(played.outcomes, key)) for key in TITLES}
    ratings = {key: own for key, own in found.items() if own}
    if len(ratings) < len(TITLES):
        raise RunError(f"{run.directory}: expected winners before and after the discussion, but there are none")
    scores = scores_to_compare(options, [row.policy for row in played.board.rows])
    figure = estimates(
        {
            f"{policy}, {TITLES[key]}": ratings[key].estimates().get(policy)
            for policy in ratings[ON].values()
            for key in TITLES
        },
        "rating, Elo, with its 95 % interval over battles",
    )
    return Result(
        [rating_table(ratings), agreement_table(ratings, scores), change_table(played.outcomes)],
        {"ratings": figure},
        played.notes,
    )


def decided_by(outcomes: Sequence[Outcome], key: str) -> list[Outcome]:
    """Returns the battles with the winner given by a statistic; battles without a winner are undecided."""
    made = []
    for outcome in outcomes:
        if outcome.status not in PLAYED:
            continue
        winner = int(statistic(rated_seats(outcome)[0], key))
        seats = tuple(
            replace(seat, reward=_reward(seat.statistics, winner)) if seat.rated else seat for seat in outcome.seats
        )
        made.append(replace(outcome, status=UNDECIDED if winner == NOBODY else FINISHED, seats=seats))
    return made


def _reward(statistics: Mapping[str, float], winner: int) -> float:
    if winner in (TIE, NOBODY):
        return 0.0
    return 1.0 if int(statistics["side"]) == winner else -1.0


def rating_table(ratings: Mapping[str, Ratings]) -> Table:
    """Returns both ratings of all players."""
    values = {key: own.estimates() for key, own in ratings.items()}
    places = {key: {policy: place for place, policy in enumerate(own, 1)} for key, own in values.items()}
    rows: list[list[Cell]] = []
    for policy, rating in values[ON].items():
        before = values[OFF].get(policy)
        rows.append(
            [
                policy,
                before,
                rating,
                None if before is None else rating.value - before.value,
                places[OFF].get(policy),
                places[ON][policy],
            ]
        )
    return Table(
        "ratings",
        "ratings without and with discussion, Elo, ties as halves",
        [
            Column("player"),
            *(Column(title, MEASURED, 0) for title in TITLES.values()),
            Column("change", MEASURED, 0),
            *(Column(f"place {title}", MEASURED) for title in TITLES.values()),
        ],
        rows,
        [SCALE_NOTE, OVER_BATTLES, *prior_note(ratings, TITLES)],
    )


def agreement_table(ratings: Mapping[str, Ratings], scores: Scores | None) -> Table:
    """Returns the rank agreement of both ratings with each other and with another ranking."""
    alike = ratings[OFF].correlation(ratings[ON].values())
    rows = [
        [
            "without and with discussion",
            *agreement_cells("", alike, ratings[OFF].spearman(ratings[ON].values()))[1:],
            alike.kendall,
        ]
    ]
    for key, own in ratings.items():
        if scores is None:
            break
        found = own.correlation(scores.values)
        rows.append(
            [
                f"{TITLES[key]} and {scores.title}",
                *agreement_cells("", found, own.spearman(scores.values))[1:],
                found.kendall,
            ]
        )
    return Table(
        "agreement",
        "how far the lists order the players alike",
        [
            Column("lists"),
            Column("Spearman's rho, %, over battles", MEASURED),
            Column("Spearman's rho, %, over players", MEASURED),
            Column("Pearson", MEASURED, 4),
            Column("pairs in the same order", MEASURED),
            Column("concordance, %", MEASURED),
            Column("Kendall's tau", MEASURED, 3),
        ],
        rows,
        [
            f"{BOTH_INTERVALS}; in the first line the battles of the first list only are drawn again",
            "the paper prints none",
        ],
    )


def change_table(outcomes: Sequence[Outcome]) -> Table:
    """Returns how often the discussion changed the winner."""
    winners = [
        tuple(int(statistic(rated_seats(outcome)[0], key)) for key in TITLES)
        for outcome in outcomes
        if outcome.status in PLAYED
    ]
    cases = range(len(winners))
    rates: dict[str, Estimate | None] = {
        "another winner, a tie counted as one": bounded_mean([before != after for before, after in winners], cases),
        "the other side instead of one": bounded_mean([{before, after} == {0, 1} for before, after in winners], cases),
        "a side instead of a tie": bounded_mean(
            [before == TIE and after in (0, 1) for before, after in winners], cases
        ),
        "a tie instead of a side": bounded_mean(
            [before in (0, 1) and after == TIE for before, after in winners], cases
        ),
    }
    return Table.of(
        "changes",
        "battles whose winner the discussion changed, %",
        [{Column("change"): name, Column("battles, %", MEASURED, 1): percent(rate)} for name, rate in rates.items()],
        ["(n): battles"],
    )


ROW = Row(
    title="what the judges' discussion changes in a ranking",
    source="Auto-Arena, section 4.4",
    options=TournamentOptions,
    plan=plan,
    measure=measure,
    precision=precision,
    preparation=EXAMINED,
    shows="It shows whether the ranking would have been another one had each judge kept its first verdict.",
    does_not_show=(
        "It does not show which ranking is right, unless one from elsewhere is named; and agreement after a discussion is no"
        " evidence of being right. Without discussion the tournament might have paired others."
    ),
    any_manner=True,
)
