"""Positions of board games to look at: as text and as pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle

from benchmarks.experiments.pictures import COLOURS, WIDTH, axes, plain
from llmarena_envs.core.board import EMPTY
from llmarena_envs.core.terminal import printable

ABREAST = 4
"""Boards side by side."""

_PLAYED, _BETTER = "#bf3989", "#1a7f37"
_MARKS = {"X": COLOURS[0], "O": COLOURS[3]}


@dataclass(frozen=True)
class Position:
    """A position in which a player could have done better.

    Attributes:
        policy: the player.
        match: id of the match.
        number: of the match in its schedule.
        turn: index of the turn in the match.
        mark: who is to move.
        board: as in ``BoardView``.
        columns: of the board.
        played: index of the cell that was filled.
        better: indices of the cells that should have been.
    """

    policy: str
    match: str
    number: int
    turn: int
    mark: str
    board: str
    columns: int
    played: int
    better: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows of the board."""
        return len(self.board) // self.columns

    def name(self, cell: int) -> str:
        """Returns what a cell is called: its row and column, or its column where discs fall."""
        row, column = divmod(cell, self.columns)
        return f"({row + 1}, {column + 1})" if self.rows == self.columns else str(column + 1)


def to_text(position: Position) -> str:
    """Returns a position as a block of Markdown in which nothing, not even the name of a player, is markup."""
    cells = [cell if cell != EMPTY else "." for cell in position.board]
    for cell in position.better:
        cells[cell] = "+"
    cells[position.played] = "-"
    numbers = [str(column + 1) for column in range(position.columns)]
    lines = [numbers, *(cells[start : start + position.columns] for start in range(0, len(cells), position.columns))]
    policy = printable(" ".join(position.policy.split()))
    return "\n".join(
        [
            "```text",
            f"{policy} as {position.mark}; match {position.match} (number {position.number}), turn {position.turn}",
            f"played {position.name(position.played)} (-); better {', '.join(map(position.name, position.better))} (+)",
            "",
            *("  " + " ".join(line) for line in lines),
            "```",
        ]
    )


def draw(rows: dict[str, Sequence[Position]]) -> Figure:
    """Draws positions of one game, some side by side in each row.

    Args:
        rows: positions by what they have in common, which stands above the row; the first ``ABREAST`` of each are drawn.
    """
    some = next(position for row in rows.values() for position in row)
    width, height = some.columns + 2.0, some.rows + 5.0
    inch = WIDTH / (ABREAST * width)
    with axes(len(rows) * height * inch + 0.4) as (figure, (field,)):
        field.set_xlim(0, ABREAST * width)
        field.set_ylim(len(rows) * height, 0)
        field.set_aspect("equal")
        field.set_axis_off()
        for down, (title, positions) in enumerate(rows.items()):
            field.text(0, down * height + 0.6, title, fontsize=9, fontweight="bold", va="center")
            for across, position in enumerate(positions[:ABREAST]):
                _board(field, position, across * width + 1, down * height + 3.8, inch * 72)
        keys = [
            Line2D([], [], marker="s", color="none", markeredgecolor=_PLAYED, markersize=8, label="move played"),
            Line2D([], [], marker="o", color="none", markeredgecolor=_BETTER, markersize=8, label="better move"),
        ]
        figure.legend(handles=keys, loc="outside lower left", ncols=2, frameon=False)
    return figure


def _board(field: Axes, position: Position, left: float, top: float, points: float) -> None:
    """Draws a board, with its top left corner at a place; a cell is one unit wide, ``points`` long."""
    small = 6.5
    field.text(left, top - 2.3, plain(position.policy, 24), fontsize=7.5, va="center")
    field.text(
        left, top - 1.4, f"match {position.number}, turn {position.turn}: {position.mark}", fontsize=small, va="center"
    )
    for column in range(position.columns):
        field.text(left + column + 0.5, top - 0.45, str(column + 1), fontsize=small, ha="center", va="center")
    for cell, owner in enumerate(position.board):
        row, column = divmod(cell, position.columns)
        x, y = left + column, top + row
        field.add_patch(Rectangle((x, y), 1, 1, fill=False, edgecolor="#d0d7de", linewidth=0.6))
        if owner != EMPTY:
            field.text(
                x + 0.5, y + 0.52, owner, color=_MARKS[owner], fontsize=0.65 * points, ha="center", va="center",
                fontweight="bold",
            )  # fmt: skip
        if cell == position.played:
            field.add_patch(Rectangle((x + 0.14, y + 0.14), 0.72, 0.72, fill=False, edgecolor=_PLAYED, linewidth=1.6))
        if cell in position.better:
            field.add_patch(Circle((x + 0.5, y + 0.5), 0.36, fill=False, edgecolor=_BETTER, linewidth=1.6))
