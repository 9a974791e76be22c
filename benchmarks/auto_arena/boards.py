"""Tables and figures of a tournament: ratings, pairings, rating paths, and agreement with other scores."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarks.auto_arena.correlation import Correlation, correlate
from benchmarks.auto_arena.pairings import Pairing
from benchmarks.auto_arena.ratings import DRAWS, Ratings
from benchmarks.experiments.pictures import axes, estimates, legend_columns, line_style, plain
from benchmarks.experiments.tables import MEASURED, Cell, Cells, Column, Table, percent
from rating.schedules.swiss import START
from rating.schemes import formatting
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.tournament import Stage
from rating.stats.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIES = {"half": "ties as halves", "drop": "ties left out"}
OVER_BATTLES = f"95 % intervals of ratings are over battles drawn again ({DRAWS:,} times); (n): battles"
TIES_NOTE = (
    "the tournament counts a tie as half a win of each, the paper's printed ratings leave ties out: both are shown"
)
SCALE_NOTE = (
    "Bradley-Terry by maximum likelihood on the Elo scale: base 10, scale 400, mean 1000, no advantage of a side"
)
BOTH_INTERVALS = (
    "over battles: how far the value depends on luck in the battles that were played; over players: how far on who took part,"
    " if others were drawn like them (none for fewer than five)"
)


def rating_table(
    board: Leaderboard,
    ratings: Mapping[str, Ratings],
    scores: Mapping[str, float | None],
    name: str = "ratings",
    judged: str = "",
) -> Table:
    """Returns the ratings of all players, the best first.

    Args:
        board: of the tournament.
        ratings: by treatment of ties.
        scores: scores for comparison.
        name: of the table.
        judged: the judged texts, to distinguish several tournaments.
    """
    found = {ties: own.estimates() for ties, own in ratings.items()}
    return Table.of(
        name,
        f"ratings of the tournament{f' of {judged}' if judged else ''}, Elo",
        [
            {
                Column("player"): row.policy,
                **{Column(TIES[ties], MEASURED, 0): own.get(row.policy) for ties, own in found.items()},
                Column("online Elo, K = 4", MEASURED, 0): row.values["elo"],
                Column("won/tied/lost", MEASURED): formatting.tally(row.tally),
                Column("byes", MEASURED): row.values["byes"],
                Column("rematches", MEASURED): row.values["rematches"],
                Column("forfeits", MEASURED): sum(row.effort.forfeits.values()),
                **({Column("score to compare with"): scores.get(row.policy)} if scores else {}),
            }
            for row in board.rows
        ],
        [SCALE_NOTE, OVER_BATTLES, TIES_NOTE, *prior_note(ratings)],
    )


def prior_note(ratings: Mapping[str, Ratings], titles: Mapping[str, str] = TIES) -> list[str]:
    """Returns notes on the ratings that the battles alone do not determine, by title."""
    return [
        f"{titles[key]}: not everybody has beaten or tied everybody else through a chain of others, so the battles alone"
        " determine no finite ratings; a prior was added (Gaussian, sd 418 Elo), and intervals are those of the model"
        for key, own in ratings.items()
        if own.fitted.regularised
    ]


def agreement_table(
    ratings: Mapping[str, Ratings],
    others: Mapping[str, Mapping[str, float]],
    scores: Mapping[str, float | None],
    to: str,
) -> Table:
    """Returns the agreement of ratings, and of other lists of scores, with the order by ``scores``.

    Args:
        ratings: by treatment of ties.
        others: lists of scores by name.
        scores: scores for comparison.
        to: their description.
    """
    rows: list[list[Cell]] = [
        agreement_cells(f"tournament, {TIES[ties]}", own.correlation(scores), own.spearman(scores))
        for ties, own in ratings.items()
    ]
    rows += [agreement_cells(name, correlate(own, scores)) for name, own in others.items()]
    return Table(
        "measured",
        f"correlation with {to}",
        [
            Column("list"),
            Column("Spearman, %, over battles", MEASURED),
            Column("Spearman, %, over players", MEASURED),
            Column("Pearson", MEASURED, 4),
            Column("pairs in the same order", MEASURED),
            Column("concordance, %", MEASURED),
        ],
        rows,
        ["players without a score in either list are left out (pairwise deletion); (n): players", BOTH_INTERVALS],
    )


def agreement_cells(name: str, found: Correlation, over_battles: Estimate | None = None) -> list[Cell]:
    """Returns a line of a table of correlations."""
    share = found.concordance
    return [
        name,
        percent(over_battles),
        percent(found.spearman_estimate()),
        found.pearson,
        f"{found.alike:g} / {found.pairs}",
        None if share is None else 100 * share,
    ]


def pairing_table(found: Sequence[Pairing], board: Leaderboard) -> Table:
    """Returns the log of pairings with their committees, and both players' ratings after each."""
    size = max(1, (len(board.rows) - len(board.facts["newcomers"])) // 2)
    rows: list[Cells] = []
    for number, pairing in enumerate(found):
        ratings = board.facts["path"][number].ratings if number < len(board.facts["path"]) else {}
        wins = f"{pairing.wins(pairing.first)}/{pairing.ties}/{pairing.wins(pairing.second)}"
        is_swiss = number < size * board.facts["rounds"]
        rows.append(
            {
                Column("pairing"): number + 1,
                Column("round", MEASURED): str(number // size + 1) if is_swiss else "newcomer",
                Column("first", MEASURED): pairing.first,
                Column("second", MEASURED): pairing.second,
                Column("won by first/tied/won by second", MEASURED): wins,
                Column("undecided", MEASURED): pairing.undecided,
                Column("void", MEASURED): pairing.void,
                Column("rating of first afterwards", MEASURED, 0): ratings.get(pairing.first),
                Column("rating of second afterwards", MEASURED, 0): ratings.get(pairing.second),
                Column("committee, best first", MEASURED): ", ".join(pairing.committee),
            }
        )
    return Table.of(
        "pairings",
        "pairings in the order in which they were played",
        rows,
        [
            "ratings are fitted again after each pairing from all battles so far; by them the next committee is chosen",
            "undecided: too few judges gave a verdict; void: a provider failed; neither is rated",
        ],
    )


def draw_ratings(ratings: Ratings) -> "Figure":
    """Draws the rating of every player with its interval, the best on top."""
    return estimates(ratings.estimates(), "rating, Elo, with its 95 % interval over battles")


def draw_published(values: Mapping[str, float | None], label: str) -> "Figure":
    """Draws published ratings, the best on top; they have no intervals."""
    known = sorted(((-value, model) for model, value in values.items() if value is not None))
    return estimates({model: Estimate(-value, None, None, 1, 1) for value, model in known}, label)


def draw_paths(board: Leaderboard) -> "Figure":
    """Draws the rating of every player after every pairing; a newcomer's line begins at its arrival."""
    names = [row.policy for row in board.rows]
    columns = legend_columns(names)
    swiss = max(1, (len(names) - len(board.facts["newcomers"])) // 2) * board.facts["rounds"]
    with axes(3.4 + 0.2 * -(-len(names) // columns)) as (figure, (field,)):
        for index, name in enumerate(names):
            xs, ys = path(board.facts["path"], name)
            colour, line = line_style(index)
            width = 2.2 if name in board.facts["newcomers"] else 1.2
            field.plot(xs, ys, label=plain(name), color=colour, linestyle=line, linewidth=width)
        if board.facts["newcomers"] and len(board.facts["path"]) > swiss:
            field.axvline(swiss, color="black", linewidth=0.8, linestyle=(0, (1, 2)))
            field.annotate(
                "newcomers", (swiss, 1), (3, -2), ("data", "axes fraction"), "offset points", va="top", fontsize="small"
            )
        field.set_xlabel("pairings played")
        field.set_ylabel("rating, Elo")
        field.grid(alpha=0.3)
        figure.legend(loc="outside lower center", ncols=columns, frameon=False)
    return figure


def path(stages: Sequence[Stage], player: str) -> tuple[list[int], list[float]]:
    """Returns a player's ratings with the numbers of pairings before them, from 1000 at its arrival."""
    own = [(number, stage.ratings[player]) for number, stage in enumerate(stages, 1) if player in stage.ratings]
    if not own:
        return [0], [START]
    return [own[0][0] - 1, *(number for number, _ in own)], [START, *(rating for _, rating in own)]
