"""A board as data: the text and the picture are made from the same cells."""

from collections.abc import Sequence
from typing import NamedTuple


class Grid(NamedTuple):
    """A board of rows of cells.

    Attributes:
        rows: the cells, row by row from the top; each a short text without spaces, ``.`` for an empty place, or an empty text
            where the board has no place. ``-``, ``|`` and ``+`` are drawn as lines.
        row_names: names of the rows, shown at the left; empty for none.
        column_names: names of the columns, shown below, or above if there are ``indents``; empty for none.
        indents: indentation of each row in halves of a cell, for boards of hexagons; empty for none.
        dark: cells drawn as dark pieces.
        light: cells drawn as light pieces.
    """

    rows: tuple[tuple[str, ...], ...]
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    indents: tuple[int, ...] = ()
    dark: tuple[str, ...] = ()
    light: tuple[str, ...] = ()

    def text(self) -> str:
        """Returns the board in lines of equally wide cells."""
        names = self.row_names or ("",) * len(self.rows)
        indents = self.indents or (0,) * len(self.rows)
        lines = list(zip(names, indents, self.rows, strict=True))
        if self.column_names:
            lines.insert(0 if self.indents else len(lines), ("", 0, self.column_names))
        first = max(len(name) for name, _, _ in lines)
        width = max(len(cell) for _, _, cells in lines for cell in cells)
        return "\n".join(_joined(name.rjust(first), indent, cells, width) for name, indent, cells in lines)


Part = Grid | str
"""A part of a position: a board, or lines of text."""


def _joined(name: str, indent: int, cells: Sequence[str], width: int) -> str:
    head = name + " " if name else ""
    return (head + " " * (indent * (width + 1) // 2) + " ".join(cell.ljust(width) for cell in cells)).rstrip()


def text_of(parts: Sequence[Part]) -> str:
    """Returns the text of a position."""
    return "\n".join([part.text() if isinstance(part, Grid) else part for part in parts])
