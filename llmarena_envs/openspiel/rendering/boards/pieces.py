"""Renderings of games of moving pieces other than Chess."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.boards.common import (
    Words,
    board,
    cell_name,
    count,
    lines_of,
    shown,
    without_star,
)
from llmarena_envs.openspiel.rendering.rendering import Rendering


def _rows_downwards(observation: str, dark: str, light: str) -> Grid:
    """Returns a board whose last line names the columns; the others begin with the number of the row, which counts down to 1."""
    lines = [line for line in lines_of(observation) if re.match(r"\d", line)]
    names = tuple([str(len(lines) - number) for number in range(len(lines))])
    rows = [line.removeprefix(name) for name, line in zip(names, lines, strict=True)]
    return board(rows, names, dark, light)


def _breakthrough(view: SpielView, words: Words) -> tuple[Part, ...]:
    return (_rows_downwards(view.observation, "b", "w"),)


def _checkers(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = _rows_downwards(view.observation, "", "")
    kings = {"8": "O", "+": "x", "*": "X"}
    grid = rows._replace(
        rows=tuple([tuple([kings.get(cell, cell) for cell in row]) for row in rows.rows]),
        dark=("x", "X"),
        light=("o", "O"),
    )
    return (grid, words("pieces", o=count(grid, "oO"), x=count(grid, "xX")))


def _lines_of_action(view: SpielView, words: Words) -> tuple[Part, ...]:
    grid = _rows_downwards(view.observation, "x", "o")
    return (grid, words("pieces", x=count(grid, "x"), o=count(grid, "o")))


def _clobber(view: SpielView, words: Words) -> tuple[Part, ...]:
    return (_rows_downwards(view.observation, "x", "o"),)


def _amazons(view: SpielView, words: Words) -> tuple[Part, ...]:
    return (board(lines_of(view.observation), dark="X", light="O"),)


def _amazons_name(name: str) -> str:
    found = re.fullmatch(r"[XO] (From|To|Shoot):? \((\d+), (\d+)\)", name)
    return f"{found[1].lower()} {cell_name(int(found[2]) - 1, int(found[3]) - 1)}" if found else name


def _einstein(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = [re.findall(r"\|(\w\w)\|", line) for line in lines_of(view.observation)]
    cells = [["." if cell == "__" else cell.upper() for cell in row] for row in rows]
    names = [f"{colour}{number}" for colour in "BW" for number in range(1, 7)]
    movable = sorted({name.partition("-")[0] for name in view.names})  # the position lacks the die
    facts = [words("movable", cubes=", ".join(movable))] if movable else []
    return (board(cells, dark=names[:6], light=names[6:]), *facts)


def _chinese_checkers(view: SpielView, words: Words) -> tuple[Part, ...]:
    lines = [line for line in view.observation.split("\n") if re.fullmatch(r"[ .\d]+", line)]
    rows = [tuple(line.split()) for line in lines]
    first = 0
    names = []
    own = []
    for row in rows:
        names.append(f"{first}-{first + len(row) - 1}" if len(row) > 1 else str(first))
        own += [str(first + place) for place, cell in enumerate(row) if cell == str(view.player + 1)]
        first += len(row)
    indents = tuple([len(line) - len(line.lstrip()) for line in lines])
    grid = Grid(tuple(rows), tuple(names), (), indents, ("1", "3", "5"), ("2", "4", "6"))
    return (grid, words("own", places=", ".join(own)))


_MORRIS_LINES = ("?--?--?", "|?-?-?|", "||???||", "??? ???", "||???||", "|?-?-?|", "?--?--?")
"""The board, with a question mark for each point, in the order of their numbers."""


def _nine_mens_morris(view: SpielView, words: Words) -> tuple[Part, ...]:
    signs = [sign for line in lines_of(view.observation)[:13] for sign in line if sign in ".BW"]
    points = iter([f"{sign.strip('.')}{point}" for point, sign in enumerate(signs)])
    cells = [[next(points) if sign == "?" else sign.strip() for sign in line] for line in _MORRIS_LINES]
    pieces = [tuple([f"{colour}{point}" for point in range(24)]) for colour in "BW"]
    grid = Grid(tuple(map(tuple, cells)), dark=pieces[0], light=pieces[1])
    deploy = re.search(r"Men to deploy: (\d+) (\d+)", view.observation)
    men = re.search(r"Num men: (\d+) (\d+)", view.observation)
    assert deploy and men
    facts = [words("men", white=deploy[1], black=deploy[2], all_white=men[1], all_black=men[2])]
    if "Capture time" in view.observation:
        facts.append(words("mill"))
    return (grid, *facts)


def _morris_name(name: str) -> str:
    return name.removeprefix("Point ").removeprefix("Move ").replace(" -> ", "-")


_SIDES = {
    "-after": (1, 0),
    "/after": (1, -1),
    "\\after": (0, 1),
    "before-": (-1, 0),
    "before/": (-1, 1),
    "before\\": (0, -1),
}
"""Columns and rows from a piece to its neighbour, by the sign and its place beside the piece's name."""


def _hive(view: SpielView, words: Words) -> tuple[Part, ...]:
    kind, _, _, *moves = view.observation.strip().split(";")
    stacks = _hive_stacks(moves)
    facts = [words("stack", below=stack[0], above=", ".join(stack[1:])) for stack in stacks.values() if len(stack) > 1]
    placed = {piece for stack in stacks.values() for piece in stack}
    pieces = ["Q", "B1", "B2", "S1", "S2", "G1", "G2", "G3", "A1", "A2", "A3", *kind.partition("+")[2]]
    for side, colour in ("white", "w"), ("black", "b"):
        left = [colour + piece for piece in pieces if colour + piece not in placed]
        if left:
            facts.append(words("unplaced", side=words(side), pieces=", ".join(left)))
    return (_hive_grid(stacks) if stacks else words("empty"), *facts)


def _hive_stacks(moves: list[str]) -> dict[tuple[int, int], list[str]]:
    """Returns the pieces at each place, the lowest first."""
    places: dict[str, tuple[int, int]] = {}
    stacks: dict[tuple[int, int], list[str]] = {}
    for move in moves:
        piece, _, beside = move.strip().partition(" ")
        if piece == "pass" or not piece:
            continue
        if piece in places:
            stacks[places[piece]].remove(piece)
            if not stacks[places[piece]]:
                del stacks[places[piece]]
        places[piece] = _hive_place(beside, places)
        stacks.setdefault(places[piece], []).append(piece)
    return stacks


def _hive_place(beside: str, places: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    if not beside or beside == ".":
        return (0, 0)
    if beside[0] in "-/\\":
        other, right, down = beside[1:], *_SIDES[f"before{beside[0]}"]
    elif beside[-1] in "-/\\":
        other, right, down = beside[:-1], *_SIDES[f"{beside[-1]}after"]
    else:
        other, right, down = beside, 0, 0
    return places[other][0] + right, places[other][1] + down


def _hive_grid(stacks: Mapping[tuple[int, int], list[str]]) -> Grid:
    halves = {(2 * column + row, row): stack[-1] for (column, row), stack in stacks.items()}
    left, top = min(x for x, _ in halves), min(y for _, y in halves)
    right, bottom = max(x for x, _ in halves), max(y for _, y in halves)
    rows, indents = [], []
    for y in range(top, bottom + 1):
        start = left + (left + y) % 2  # columns of a row are even if the row is, odd if it is odd
        rows.append(tuple([halves.get((x, y), ".") for x in range(start, right + 1, 2)]))
        indents.append(start - left)
    pieces = {piece for stack in stacks.values() for piece in stack}
    return Grid(
        tuple(rows),
        indents=tuple(indents),
        dark=tuple(sorted(piece for piece in pieces if piece[0] == "b")),
        light=tuple(sorted(piece for piece in pieces if piece[0] == "w")),
    )


RENDERINGS: Mapping[str, Rendering] = {
    "amazons": shown("amazons", _amazons, _amazons_name),
    "breakthrough": shown("breakthrough", _breakthrough, without_star),
    "checkers": shown("checkers", _checkers),
    "chinese_checkers": shown("chinese_checkers", _chinese_checkers),
    "clobber": shown("clobber", _clobber),
    "einstein_wurfelt_nicht": shown("einstein_wurfelt_nicht", _einstein, without_star),
    "hive": shown("hive", _hive),
    "lines_of_action": shown("lines_of_action", _lines_of_action),
    "nine_mens_morris": shown("nine_mens_morris", _nine_mens_morris, _morris_name),
}
