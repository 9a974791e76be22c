"""Shared tables of code review and translation: scores of every pair in both roles, their means, and excluded matches."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.deepeval.judged import APART, SCORES, JudgedMatch, scored
from benchmarks.experiments.comparisons import PlayerComparison, comparison_table
from benchmarks.experiments.pictures import estimates
from benchmarks.experiments.published import Published
from benchmarks.experiments.runs import PlayedRun
from benchmarks.experiments.tables import MEASURED, PUBLISHED, Cell, Cells, Column, Table, beside, paired_columns
from rating.stats.estimates import Estimate, mean_estimate
from rating.store.records import PLAYED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLUSTERED = (
    "(n): matches; intervals are clustered by task and left out where tasks are fewer than 6 or all scores equal"
)


class Names(NamedTuple):
    """Names of the roles of a task."""

    writer: str
    editor: str

    def of(self, role: str) -> str:
        """Returns the name of ``writer`` or ``editor``."""
        return self.writer if role == "writer" else self.editor


def policies(matches: Sequence[JudgedMatch]) -> list[str]:
    """Returns all players, sorted."""
    return sorted({seat.policy for match in matches for seat in (match.writer, match.editor)})


def mean_score(matches: Sequence[JudgedMatch], role: str) -> Estimate | None:
    """Returns the mean score of a role."""
    return mean_estimate(
        [match.seat(role).reward for match in matches], [match.task for match in matches], scale=SCORES
    )


def role_mean(matches: Sequence[JudgedMatch], policy: str, role: str) -> Estimate | None:
    """Returns the mean score of a policy in a role, over its matches with others."""
    own = [
        match
        for match in scored(matches)
        if match.seat(role).policy == policy and match.writer.policy != match.editor.policy
    ]
    return mean_score(own, role)


def score_tables(
    matches: Sequence[JudgedMatch], names: Names, cells: Published, means: Published, same: Mapping[str, str]
) -> list[Table]:
    """Returns the scores of both roles, beside the published ones.

    Args:
        matches: the matches.
        names: of the roles.
        cells: the paper's cells.
        means: the paper's means of the players.
        same: our policy by published model.
    """
    return [
        *(score_matrix(matches, role, names) for role in ("writer", "editor")),
        mean_table(matches, names, means, same),
        *(difference_table(matches, role, names) for role in ("writer", "editor")),
        published_table(cells),
    ]


def score_matrix(matches: Sequence[JudgedMatch], role: str, names: Names) -> Table:
    """Returns the scores of a role: editors in rows, writers in columns, with means of rows and columns."""
    everybody = policies(matches)
    cells = {
        (editor, writer): mean_score(
            [match for match in scored(matches) if (match.editor.policy, match.writer.policy) == (editor, writer)], role
        )
        for editor in everybody
        for writer in everybody
    }
    others = [match for match in scored(matches) if match.writer.policy != match.editor.policy]
    rows: list[list[Cell]] = [
        [
            editor,
            *(cells[editor, writer] for writer in everybody),
            mean_score([match for match in others if match.editor.policy == editor], role),
        ]
        for editor in everybody
    ]
    columns = [mean_score([match for match in others if match.writer.policy == writer], role) for writer in everybody]
    rows.append(["mean", *columns, mean_score(others, role)])
    return Table(
        f"{names.of(role)}s",
        f"scores of the {names.of(role)}, 1 to 10: {names.editor} in rows, {names.writer} in columns",
        [
            Column(f"{names.editor} \\ {names.writer}"),
            *(Column(name, MEASURED) for name in everybody),
            Column("mean of the row", MEASURED),
        ],
        rows,
        ["means leave out matches of a policy with itself", CLUSTERED],
    )


def mean_table(matches: Sequence[JudgedMatch], names: Names, published: Published, same: Mapping[str, str]) -> Table:
    """Returns the mean scores in both roles beside the published ones."""
    measured: dict[str, Sequence[Cell]] = {
        policy: [role_mean(matches, policy, role) for role in ("editor", "writer")] for policy in policies(matches)
    }
    return Table(
        "means",
        "mean scores in both roles, 1 to 10",
        paired_columns([f"as {names.editor}", f"as {names.writer}"]),
        beside(published.rows, measured, same),
        [
            f"as {names.editor} is the mean of a row of the {names.editor}s' scores, as {names.writer} that of a column of the"
            f" {names.writer}s'",
            CLUSTERED,
            "nobody is its own partner: whoever is good in one role is missing among its own partners in the other one",
            f"published: {published.source}",
            *published.notes,
        ],
    )


def difference_table(matches: Sequence[JudgedMatch], role: str, names: Names) -> Table:
    """Returns tests of the difference between two players in a role, on the same tasks and with the same partners."""
    values: dict[str, dict[tuple[str, int, int], float]] = {policy: {} for policy in policies(matches)}
    for match in scored(matches):
        partner = match.seat("editor" if role == "writer" else "writer").policy
        values[match.seat(role).policy][partner, match.task, match.seed] = match.seat(role).reward
    comparisons = []
    for first, second in itertools.combinations(values, 2):
        cases = [case for case in values[first] if case in values[second] and case[0] not in (first, second)]
        comparisons.append(
            PlayerComparison(
                first,
                second,
                [(values[first][case], values[second][case]) for case in cases],
                [task for _, task, _ in cases],
            )
        )
    return comparison_table(
        comparisons,
        f"scores as {names.of(role)}",
        "task",
        scale=APART,
        name=f"tests-{names.of(role)}s",
        notes=[
            "compared are matches on the same task with the same third player, for nobody is its own partner; of two players"
            " alone there are none",
            "the paper tests no difference",
        ],
    )


def published_table(published: Published) -> Table:
    """Returns the published cells."""
    return Table(
        "published",
        "the paper's cells",
        [Column(published.notes[0].partition(": ")[2]), *(Column(title, PUBLISHED) for title in published.columns)],
        [[pair, *numbers] for pair, numbers in published.rows.items()],
        [f"published: {published.source}", "the number of matches of a cell is not published"],
    )


def count_table(run: PlayedRun, environment: str, matches: Sequence[JudgedMatch]) -> Table:
    """Returns the number of counted matches, and the reasons for excluding the others."""
    left_out = Counter(
        seat.policy
        for outcome in run.outcomes(environment)
        if outcome.status not in PLAYED
        for seat in outcome.seats[:2]
    )
    rows: list[Cells] = []
    for policy in sorted({*policies(matches), *left_out}):
        own = [match for match in matches if policy in (match.writer.policy, match.editor.policy)]
        seats = [seat for match in own for seat in (match.writer, match.editor) if seat.policy == policy]
        undecided = sum(not match.is_scored and not match.is_forfeited for match in own)
        empty = int(sum(max(0.0, seat.statistics["empty"]) for seat in seats))
        rows.append(
            {
                Column("player"): policy,
                Column("different tasks", MEASURED): len({match.task for match in own}),
                Column("scored", MEASURED): len(scored(own)),
                Column("undecided", MEASURED): undecided,
                Column("forfeited", MEASURED): sum(match.is_forfeited for match in own),
                Column("void or with a bug", MEASURED): left_out[policy],
                Column("empty texts of the player", MEASURED): empty,
            }
        )
    return Table.of(
        "matches",
        "matches of each player in both roles",
        rows,
        [
            "undecided: all judges abstained; such a match, a forfeited and a void one count for no score",
            "which tasks are played is drawn by the seed; all pairs play the same ones",
        ],
    )


def mean_picture(matches: Sequence[JudgedMatch], names: Names) -> "Figure":
    """Draws the mean scores in both roles."""
    return estimates(
        {
            f"{policy} as {names.of(role)}": role_mean(matches, policy, role)
            for role in ("writer", "editor")
            for policy in policies(matches)
        },
        "mean score, 1 to 10, with 95 % interval clustered by task",
    )
