"""Renderings of Quoridor, Dots and Boxes, and Battleship."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.boards.common import (
    Words,
    board,
    cell_name,
    cells_renamed,
    letters,
    numbers,
    shown,
)
from llmarena_envs.openspiel.rendering.rendering import Rendering


def _spaced(names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns names of rows or columns with unnamed ones between them."""
    return tuple([part for name in names for part in (name, "")][:-1])


def _quoridor(view: SpielView, words: Words) -> tuple[Part, ...]:
    lines = re.sub(r"\x1b\[\d+m", "", view.observation).split("\n")
    head = re.findall(r"\d+", lines[0])
    size = int(head[0])
    rows = []
    for line in lines[2 : 2 * size + 1]:
        padded = line.ljust(4 * size + 3)
        rows.append(tuple([padded[3 + 2 * place].strip() for place in range(2 * size - 1)]))
    pawns = "0@#%"
    named = [[str(pawns.index(cell)) if cell in pawns and cell else cell for cell in row] for row in rows]
    grid = Grid(
        tuple(map(tuple, named)), _spaced(numbers(size)), _spaced(letters(size)), dark=("0", "2"), light=("1", "3")
    )
    walls = ", ".join(f"player_{player} {left}" for player, left in enumerate(head[1:]))
    return (grid, words("walls", walls=walls))


def _dots_and_boxes(view: SpielView, words: Words) -> tuple[Part, ...]:
    rows = []
    lines = view.observation.strip("\n").split("\n")
    width = max(map(len, lines))
    for number, line in enumerate(lines):
        signs = [line.ljust(width)[place] for place in range(0, width, 2)]
        if number % 2 == 0:  # dots, with lines between them
            rows.append(
                tuple(["o" if place % 2 == 0 else sign.replace("─", "-").strip() for place, sign in enumerate(signs)])
            )
        else:
            rows.append(tuple([sign.replace("│", "|").strip() for sign in signs]))
    names = numbers(len(rows) // 2 + 1), letters(len(rows[0]) // 2 + 1)
    owned = [sum(row[1::2].count(owner) for row in rows[1::2]) for owner in "12"]
    grid = Grid(tuple(rows), _spaced(names[0]), _spaced(names[1]))
    return (grid, words("boxes", first=owned[0], second=owned[1]))


def _dots_name(name: str) -> str:
    found = re.fullmatch(r"P\d\((h|v),(\d+),(\d+)\)", name)
    if not found:
        return name
    row, column = int(found[2]), int(found[3])
    end = (row, column + 1) if found[1] == "h" else (row + 1, column)
    return f"{cell_name(row, column)}-{cell_name(*end)}"


def _battleship(view: SpielView, words: Words) -> tuple[Part, ...]:
    lines = [line[1:-1].replace(" ", ".") for line in view.observation.split("\n") if re.match(r"\|.*\|$", line)]
    half = len(lines) // 2
    shots = [line.replace("#", "X").replace("@", "*") for line in lines[half:]]
    own = board(lines[:half])
    fired = re.findall(r"/shot_(\d+)_(\d+):(\w)", view.information)
    facts = [words("fired", count=len(fired))]
    sunk = [cell_name(int(row), int(column)) for row, column, outcome in fired if outcome == "S"]
    if sunk:
        facts.append(words("sunk", cells=", ".join(sunk)))
    return (words("own"), own, words("shots"), board(shots), *facts)


def _battleship_name(name: str) -> str:
    place = r"Pl\d: place ship {}ly with top-left corner in \((\d+), (\d+)\)"
    for way in ("horizontal", "vertical"):
        name = cells_renamed(place.format(way), name, way + " {}")
    return cells_renamed(r"Pl\d: shoot at \((\d+), (\d+)\)", name, "shoot {}")


RENDERINGS: Mapping[str, Rendering] = {
    "battleship": shown("battleship", _battleship, _battleship_name),
    "dots_and_boxes": shown("dots_and_boxes", _dots_and_boxes, _dots_name),
    "quoridor": shown("quoridor", _quoridor),
}
