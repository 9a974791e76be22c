"""Renderings of games in which stones are placed: Go, Othello, Hex and lines of stones."""

import re
from collections.abc import Mapping
from functools import partial

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.boards.common import (
    Words,
    board,
    cells_renamed,
    count,
    letter,
    letters,
    lines_of,
    numbers,
    shown,
)
from llmarena_envs.openspiel.rendering.rendering import Rendering


def _stone_name(name: str) -> str:
    """Returns the name of a move in Go without the colour."""
    return name.partition(" ")[2].lower()


def _go_board(observation: str) -> Grid:
    rows = [line.split() for line in observation.split("\n") if re.fullmatch(r" *\d+ [XO+]+", line)]
    columns = tuple([letter(number + (number > 7)) for number in range(len(rows[0][1]))])
    stones = [row[1].replace("+", ".") for row in rows]
    return board(stones, tuple([row[0] for row in rows]), "X", "O", columns)


def _go(view: SpielView, words: Words) -> tuple[Part, ...]:
    komi = re.search(r"komi=([\d.]+)", view.observation)
    return (_go_board(view.observation), words("komi", komi=komi[1] if komi else "0"))


_GO_REPLIES = {
    "Previous move was valid": "valid",
    "Previous move was valid and was a pass": "pass",
    "Previous move was observational": "refused",
}


def _phantom_go(view: SpielView, words: Words) -> tuple[Part, ...]:
    last = lines_of(view.observation)[-1].strip()
    return (_go_board(view.observation), words(_GO_REPLIES[last]) if last in _GO_REPLIES else last)


def _othello(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = [line.split()[1:-1] for line in view.observation.split("\n") if re.match(r"\d", line)]
    grid = board([[cell.replace("-", ".") for cell in row] for row in rows], dark="x", light="o")
    return (grid, words("discs", x=count(grid, "x"), o=count(grid, "o")))


def _leaning(rows: list[list[str]]) -> Grid:
    """Returns a board of hexagons whose rows each begin half a cell to the right of the row above."""
    indents = tuple(range(len(rows)))
    return board(rows, dark="x", light="o")._replace(indents=indents)


def _hex_stones(cell: str) -> str:
    """Returns the colour of a stone; OpenSpiel may mark stones that reach an edge or win."""
    return {"y": "x", "z": "x", "X": "x", "p": "o", "q": "o", "O": "o"}.get(cell, cell)


def _hex(view: SpielView, words: Words) -> tuple[Part, ...]:
    return (_leaning([[_hex_stones(cell) for cell in line.split()] for line in lines_of(view.observation)]),)


def _dark_hex(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = [list(map(_hex_stones, line)) for line in lines_of(view.observation) if re.fullmatch(r"[a-zA-Z.]+", line)]
    return (_leaning(rows),)


def _hexagon_rows(observation: str) -> tuple[list[list[str]], str]:
    """Returns the rows of a board of Y or Havannah with row names, and the cell of the last move."""
    rows, last = [], ""
    for line in observation.split("\n"):
        found = re.match(r" *(\d+)([ \[].*)", line)
        if found:
            cells = re.findall(r"\[?[.O@]\]?", found[2])
            rows.append([found[1], *[cell.strip("[]") for cell in cells]])
            last = next((f"{found[1]}:{number}" for number, cell in enumerate(cells) if "[" in cell), last)
    return rows, last


def _ranged(rows: list[list[str]], starts: list[int]) -> tuple[str, ...]:
    """Returns row names with the first and last column of each row."""
    return tuple(
        [f"{row[0]} ({letter(start)}-{letter(start + len(row) - 2)})" for row, start in zip(rows, starts, strict=True)]
    )


def _marked_cell(last: str, rows: list[list[str]], starts: list[int]) -> str:
    row, _, number = last.partition(":")
    names = [each[0] for each in rows]
    return letter(starts[names.index(row)] + int(number)) + row


def _hexagons(rows: list[list[str]], starts: list[int], indents: tuple[int, ...]) -> Grid:
    stones = {"O": "o", "@": "x"}
    cells = [[stones.get(cell, cell) for cell in row[1:]] for row in rows]
    return Grid(tuple(map(tuple, cells)), _ranged(rows, starts), (), indents, ("x",), ("o",))


def _y(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows, last = _hexagon_rows(view.observation)
    starts = [0] * len(rows)
    more = (words("last", cell=_marked_cell(last, rows, starts)),) if last else ()
    return (_hexagons(rows, starts, tuple(range(len(rows)))), *more)


def _havannah(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows, last = _hexagon_rows(view.observation)
    middle = len(rows) // 2
    starts = [max(0, number - middle) for number in range(len(rows))]
    more = (words("last", cell=_marked_cell(last, rows, starts)),) if last else ()
    return (_hexagons(rows, starts, tuple([abs(number - middle) for number in range(len(rows))])), *more)


def _lines(view: SpielView, words: Words) -> tuple[Part, ...]:
    """Returns the board of a game of marks, ``x`` and ``o`` or ``b`` and ``w``."""
    rows = [line for line in lines_of(view.observation) if re.fullmatch(r"[xobw.]+", line)]
    return (board(rows, dark="xb", light="ow"),)


def _gomoku(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = lines_of(view.observation)[1:]
    if not rows:  # a board of more than two dimensions
        return (view.observation,)
    return (board(rows, dark="b", light="w"),)


def _seen_lines(view: SpielView, words: Words) -> tuple[Part, ...]:
    """Returns the board of marks as far as the reader knows them."""
    rows = [line for line in lines_of(view.observation) if re.fullmatch(r"[xo.]{3}", line)]
    return (board(rows[:3], dark="x", light="o"),)


def _connect_four(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = lines_of(view.observation)
    columns = tuple(map(str, range(len(rows[0]))))
    return (Grid(tuple(map(tuple, rows)), (), columns, dark=("x",), light=("o",)),)


def _column_name(name: str) -> str:
    return name.lstrip("xo")


def _ultimate(view: SpielView, words: Words) -> tuple[Part, ...]:
    lines = [line.split() for line in lines_of(view.observation)]
    rows: list[tuple[str, ...]] = []
    for number, boards in enumerate(lines[:9]):
        if number in (3, 6):
            rows.append(("",) * 11)
        rows.append((*boards[0], "", *boards[1], "", *boards[2]))
    names = letters(9)
    grid = Grid(
        tuple(rows),
        ("1", "2", "3", "", "4", "5", "6", "", "7", "8", "9"),
        (*names[:3], "", *names[3:6], "", *names[6:]),
        dark=("x",),
        light=("o",),
    )
    forced = re.search(r"Forced board: (\w+)", view.observation)
    won = _decided(lines[:9])
    facts = [words("won", board=number, mark=mark) for number, mark in won]
    if forced:
        facts.append(words("free") if forced[1] == "any" else words("forced", board=forced[1]))
    return (grid, *facts)


def _decided(rows: list[list[str]]) -> list[tuple[int, str]]:
    """Returns the local boards with a line of three, each with its mark."""
    found = []
    for number in range(9):
        cells = "".join(rows[3 * (number // 3) + row][number % 3] for row in range(3))
        for first, second, third in (
            (0, 1, 2),
            (3, 4, 5),
            (6, 7, 8),
            (0, 3, 6),
            (1, 4, 7),
            (2, 5, 8),
            (0, 4, 8),
            (2, 4, 6),
        ):
            if cells[first] != "." and cells[first] == cells[second] == cells[third]:
                found.append((number, cells[first]))
                break
    return found


def _ultimate_name(name: str) -> str:
    if name.startswith("Choose"):
        return f"board {name.split()[-1]}"
    found = re.fullmatch(r"Local board (\d): .\((\d),(\d)\)", name)
    if not found:
        return name
    number, row, column = map(int, found.groups())
    return f"{letter(3 * (number % 3) + column)}{3 * (number // 3) + row + 1}"


def _pentago(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = [re.findall(r"[.O@]", line) for line in view.observation.split("\n") if re.match(r"[vsz^ ] \d", line)]
    return (
        board([["x" if cell == "@" else cell.replace("O", "o") for cell in row] for row in rows], dark="x", light="o"),
    )


_LINKS = {
    (1, 2): ((0, 1, "_"), (1, 2, "\\"), (1, 3, "_"), (2, 4, "\\"), (2, 5, "_")),
    (2, 1): ((1, 0, "|"), (2, 1, "\\"), (3, 1, "|"), (4, 2, "\\"), (5, 3, "|")),
    (2, -1): ((1, 0, "|"), (2, -1, "/"), (3, -1, "|"), (4, -2, "/"), (5, -3, "|")),
    (1, -2): ((0, -1, "_"), (1, -3, "_"), (1, -2, "/"), (2, -5, "_"), (2, -4, "/")),
}
"""How OpenSpiel draws a link from a peg to one further down, by rows and columns between them."""


def _twixt(view: SpielView, words: Words) -> tuple[Part, ...]:
    lines = re.sub(r"\x1b\[\d+m", "", view.observation).split("\n")
    size = sum(bool(re.match(r" *\d+ ", line)) for line in lines)
    picture = {(y, x): sign for y, line in enumerate(lines) for x, sign in enumerate(line)}
    cells = [[picture.get((2 + 3 * row, 5 + 3 * column), " ").strip() for column in range(size)] for row in range(size)]
    links: dict[str, list[str]] = {"x": [], "o": []}
    for row in range(size):
        for column in range(size):
            peg = cells[row][column]
            for (down, right), signs in _LINKS.items():
                to = picture.get((2 + 3 * (row + down), 5 + 3 * (column + right)))
                drawn = all(picture.get((2 + 3 * row + y, 5 + 3 * column + x)) == sign for y, x, sign in signs)
                if peg in links and to == peg and drawn:
                    ends = f"{letter(column)}{row + 1}", f"{letter(column + right)}{row + down + 1}"
                    links[peg].append("-".join(ends))
    facts = [words("links", mark=mark, links=", ".join(each)) for mark, each in links.items() if each]
    if "[swapped]" in view.observation:
        facts.append(words("swapped"))
    return (board(cells, numbers(size), "x", "o"), *facts)


def _twixt_name(name: str) -> str:
    return name[1:]


_MARK = r"[xo]\((\d+),(\d+)\)"

RENDERINGS: Mapping[str, Rendering] = {
    "connect_four": shown("connect_four", _connect_four, _column_name),
    "dark_hex": shown("dark_hex", _dark_hex),
    "go": shown("go", _go, _stone_name),
    "gomoku": shown("gomoku", _gomoku, partial(cells_renamed, r"(\d+),(\d+)")),
    "havannah": shown("havannah", _havannah),
    "hex": shown("hex", _hex),
    "mnk": shown("mnk", _lines, partial(cells_renamed, _MARK)),
    "othello": shown("othello", _othello),
    "pentago": shown("pentago", _pentago),
    "phantom_go": shown("phantom_go", _phantom_go, _stone_name),
    "phantom_ttt": shown("phantom_ttt", _seen_lines, partial(cells_renamed, _MARK)),
    "tic_tac_toe": shown("tic_tac_toe", _lines, partial(cells_renamed, _MARK)),
    "twixt": shown("twixt", _twixt, _twixt_name),
    "ultimate_tic_tac_toe": shown("ultimate_tic_tac_toe", _ultimate, _ultimate_name),
    "y": shown("y", _y),
}
