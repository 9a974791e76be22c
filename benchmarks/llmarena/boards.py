"""Positions of board games, drawn as text and as figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle

from benchmarks.experiments.markdown import block
from benchmarks.experiments.pictures import COLOURS, WIDTH, axes, plain
from llmarena_envs.core.board import EMPTY

ABREAST = 4
"""Boards per row."""

_SLOT = WIDTH / ABREAST
_CELL = 0.2
_ABOVE = 0.78  # inches for the caption above a board
_PLAYED, _BETTER, _LIGHT = "#bf3989", "#1a7f37", "#dafbe1"
_MARKS = {"X": COLOURS[0], "O": COLOURS[3]}


@dataclass(frozen=True)
class Position:
    """A position with a missed better move.

    Attributes:
        policy: the player.
        match: id of the match.
        number: of the match in its schedule.
        turn: index of the turn in the match.
        mark: the mark to move.
        board: as in ``BoardView``.
        columns: of the board.
        played: index of the filled cell.
        better: indices of the better cells.
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

    @property
    def names_rows(self) -> bool:
        """Whether a move names its row; false for games with falling discs."""
        return self.rows == self.columns

    def name(self, cell: int) -> str:
        """Returns the name of a move to a cell."""
        row, column = divmod(cell, self.columns)
        return f"({row + 1}, {column + 1})" if self.names_rows else str(column + 1)


def to_text(position: Position) -> str:
    """Returns a position as a Markdown code block, with players' names as plain text."""
    cells = [cell if cell != EMPTY else "." for cell in position.board]
    for cell in position.better:
        cells[cell] = "+"
    cells[position.played] = "-"
    starts = range(0, len(cells), position.columns)
    lines = [[" ", *map(str, range(1, position.columns + 1))]]
    for row, start in enumerate(starts, 1):
        lines.append([str(row) if position.names_rows else " ", *cells[start : start + position.columns]])
    policy = " ".join(position.policy.split())
    return block(
        "\n".join(
            [
                f"{position.mark}: {policy}; match {position.match} (number {position.number}), turn {position.turn}",
                f"played {position.name(position.played)} (-); better {', '.join(map(position.name, position.better))} (+)",
                "",
                *(" ".join(line) for line in lines),
            ]
        )
    )


def draw(rows: dict[str, Sequence[Position]]) -> Figure:
    """Draws positions of one game, some side by side in each row.

    Args:
        rows: positions by heading; the first ``ABREAST`` of each are drawn.
    """
    height = _ABOVE + _CELL * max(position.rows for row in rows.values() for position in row) + 0.15
    with axes(len(rows) * height + 0.35) as (figure, (field,)):
        field.set_xlim(0, WIDTH)
        field.set_ylim(len(rows) * height, 0)
        field.set_aspect("equal")
        field.set_axis_off()
        for down, (title, positions) in enumerate(rows.items()):
            field.text(0, down * height + 0.12, title, fontsize=10, va="center")
            for across, position in enumerate(positions[:ABREAST]):
                _board(field, position, across * _SLOT + 0.15, down * height + _ABOVE)
        keys = [
            Line2D([], [], marker="s", color="none", markeredgecolor=_PLAYED, markersize=8, label="move played"),
            Line2D(
                [],
                [],
                marker="o",
                color="none",
                markerfacecolor=_LIGHT,
                markeredgecolor=_BETTER,
                markersize=8,
                label="better move",
            ),
        ]
        figure.legend(handles=keys, loc="outside lower left", ncols=2, frameon=False)
    return figure


def _board(field: Axes, position: Position, left: float, top: float) -> None:
    """Draws a board; the position of its top left corner is in inches."""
    small = 6.5
    field.text(left, top - 0.45, plain(position.policy, 24), fontsize=7.5, va="center")
    said = f"match {position.number}, turn {position.turn}, {position.mark} to move"
    field.text(left, top - 0.29, said, fontsize=small, va="center")
    for column in range(position.columns):
        x = left + (column + 0.5) * _CELL
        field.text(x, top - 0.09, str(column + 1), fontsize=small, ha="center", va="center")
    for row in range(position.rows if position.names_rows else 0):
        field.text(left - 0.08, top + (row + 0.5) * _CELL, str(row + 1), fontsize=small, ha="center", va="center")
    for cell, owner in enumerate(position.board):
        row, column = divmod(cell, position.columns)
        x, y = left + column * _CELL, top + row * _CELL
        middle = x + _CELL / 2, y + _CELL / 2
        field.add_patch(Rectangle((x, y), _CELL, _CELL, fill=False, edgecolor="#d0d7de", linewidth=0.6))
        if owner != EMPTY:
            field.text(*middle, owner, color=_MARKS[owner], fontsize=10, ha="center", va="center")
        if cell == position.played:
            edge = 0.14 * _CELL
            size = _CELL - 2 * edge
            field.add_patch(Rectangle((x + edge, y + edge), size, size, fill=False, edgecolor=_PLAYED, linewidth=1.6))
        if cell in position.better:
            field.add_patch(Circle(middle, 0.38 * _CELL, facecolor=_LIGHT, edgecolor=_BETTER, linewidth=1.3))
