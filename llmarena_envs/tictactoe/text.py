"""Observations of tic-tac-toe and the parsing of replies."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from llmarena_envs.core.board import SEATS, BoardCodec
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.replies import Grammar
from llmarena_envs.tictactoe.game import TicTacToe

CELL_NAMES = tuple(f"({row}, {column})" for row in (1, 2, 3) for column in (1, 2, 3))

_CELL = re.compile(
    r"[(\[]\s*+(?:row\s*+[:=]?\s*+)?(-?\d++)(?:\s*+[,;、]\s*+|\s++)(?:col(?:umn)?\s*+[:=]?\s*+)?(-?\d++)\s*+[)\]]"
    r"|(?:row[ \t]*+[:=]?[ \t]*+)?(-?\d++)(?:[ \t]*+[,;、][ \t]*+|[ \t]++)(?:and[ \t]++)?"
    r"(?:col(?:umn)?[ \t]*+[:=]?[ \t]*+)?(-?\d++)"
    r"(?![ \t]*[,;]?[ \t]*\d)"
    r"|第?[ \t]*+(\d++)[ \t]*+行[ \t,、]*+第?[ \t]*+(\d++)[ \t]*+列",
    re.IGNORECASE,
)


def _read_cell(text: str, labelled: bool) -> tuple[int, int] | None:
    match = _CELL.match(text)
    if match is None:
        return None
    row, column = (number for number in match.groups() if number is not None)
    return _action(row, column), match.end()


def _read_fields(fields: Mapping[str, Any]) -> int | None:
    column = fields.get("column", fields.get("col"))
    if "row" not in fields or column is None:
        return None
    return _action(str(fields["row"]), str(column))


def _action(row: str, column: str) -> int:
    if row not in ("1", "2", "3") or column not in ("1", "2", "3"):
        raise ParseError(Failure.ILLEGAL, "off_board")
    return 3 * (int(row) - 1) + int(column) - 1


class TicTacToeCodec(BoardCodec):
    """Texts and grammar of tic-tac-toe.

    Args:
        language: language of the texts.
        hint: whether the empty cells are listed.
    """

    grammar = Grammar(_read_cell, nouns="cell|square|position|格子|位置", seats=SEATS, fields=_read_fields)

    def __init__(self, language: str, hint: bool) -> None:
        super().__init__("llmarena_envs.tictactoe", language, hint, CELL_NAMES, TicTacToe.max_turns)

    @staticmethod
    @cache  # at most 5,478 boards
    def board_text(board: str) -> str:
        """Returns the board as three lines with cells separated by ``|``."""
        return "\n".join("|".join(board[start : start + 3]) for start in (0, 3, 6))
