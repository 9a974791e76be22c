"""Common parts of the renderings of board games."""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.core.prompts import Template
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.listing import rules_of
from llmarena_envs.openspiel.rendering.rendering import Rendering

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Words:
    """The words of a game's positions in one language.

    Args:
        game: name of the game.
        language: the language.
    """

    def __init__(self, game: str, language: str) -> None:
        rules = rules_of(game)
        assert rules is not None
        self._templates = {
            name: Template(text, f"{game}.toml [position.{language}] {name}")
            for name, text in rules.position[language].items()
        }

    def __call__(self, name: str, **fields: object) -> str:
        """Returns a text with its placeholders filled in."""
        return self._templates[name].render(**fields)


words_of = cache(Words)

Parts = Callable[[SpielView, Words], tuple[Part, ...]]
"""Returns the parts of a position below the line with the reader's side."""


def shown(game: str, parts: Parts, name: Callable[[str], str] = str) -> Rendering:
    """Returns the rendering of a game whose texts begin with the side of the reader, ``player_0``, ``player_1``, ...

    Args:
        game: name of the game, for its words.
        parts: makes the other parts.
        name: returns the name of a move.
    """
    return Rendering(partial(_render, game, parts), name)


def _render(game: str, parts: Parts, view: SpielView, language: str) -> tuple[Part, ...]:
    words = words_of(game, language)
    return (words(f"player_{view.player}"), *parts(view, words))


def lines_of(text: str) -> list[str]:
    """Returns the lines of a text that are not blank."""
    return [line for line in text.split("\n") if line.strip()]


def letter(index: int) -> str:
    """Returns the name of a column: a, b, ..., z, aa, ab, ..."""
    return (letter(index // 26 - 1) if index >= 26 else "") + _LETTERS[index % 26]


def letters(count: int) -> tuple[str, ...]:
    """Returns the names of the first columns."""
    return tuple(map(letter, range(count)))


def numbers(count: int) -> tuple[str, ...]:
    """Returns 1, 2, ..., ``count``, as names of rows from the top."""
    return tuple([str(number + 1) for number in range(count)])


def board(
    rows: Iterable[Iterable[str]],
    row_names: tuple[str, ...] = (),
    dark: Iterable[str] = (),
    light: Iterable[str] = (),
    column_names: tuple[str, ...] = (),
) -> Grid:
    """Returns a board; rows are numbered from the top and columns have letters if no names are given."""
    cells = tuple(map(tuple, rows))
    return Grid(
        cells,
        row_names or numbers(len(cells)),
        column_names or letters(max(map(len, cells))),
        dark=tuple(dark),
        light=tuple(light),
    )


def cell_name(row: int, column: int) -> str:
    """Returns the name of a cell; rows and columns count from 0 at the top left."""
    return f"{letter(column)}{row + 1}"


def cells_renamed(pattern: str, name: str, template: str = "{}") -> str:
    """Returns the name of a move with a row and a column.

    Args:
        pattern: regular expression that matches the whole of OpenSpiel's name, with groups for row and column from 0.
        name: OpenSpiel's name.
        template: the new name, with ``{}`` in place of the cell.
    """
    found = re.fullmatch(pattern, name)
    return template.format(cell_name(int(found[1]), int(found[2]))) if found else name


def without_star(name: str) -> str:
    """Returns the name of a move without its mark of a capture."""
    return name.rstrip("*")


def count(grid: Grid, cells: Iterable[str]) -> int:
    """Returns how many places hold one of these cells."""
    wanted = set(cells)
    return sum(cell in wanted for row in grid.rows for cell in row)
