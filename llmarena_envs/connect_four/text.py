"""Observations of connect four and the parsing of replies."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from llmarena_envs.connect_four.game import COLUMNS, ROWS, ConnectFour
from llmarena_envs.core.board import SEATS, BoardCodec
from llmarena_envs.core.failures import Failure, ParseError
from llmarena_envs.core.replies import Grammar

COLUMN_NAMES = tuple(str(column) for column in range(1, COLUMNS + 1))
_HEADER = " ".join(COLUMN_NAMES)
_ROWS = tuple(slice(start, start + COLUMNS) for start in range(0, ROWS * COLUMNS, COLUMNS))

_COLUMN = re.compile(
    r"[(\[]?+[ \t]*+(?:column[ \t]*+[:#]?[ \t]*+|col\.?[ \t]*+|第[ \t]*+)?(-?\d++)(?:[ \t]*+(?:列|[)\]]))?"
    r"(?![ \t]*+(?:in (?:a|the) (?:row|line|column|diagonal)|(?:pieces?|discs?|disks?|tokens?|stones?|wins?|threats?)\b))",
    re.IGNORECASE,
)


def _read_column(text: str, labelled: bool) -> tuple[int, int] | None:
    match = _COLUMN.match(text)
    return (_action(match[1]), match.end()) if match else None


def _read_fields(fields: Mapping[str, Any]) -> int | None:
    column = fields.get("column", fields.get("col"))
    return None if column is None else _action(str(column))


def _action(column: str) -> int:
    if column not in COLUMN_NAMES:
        raise ParseError(Failure.ILLEGAL, "off_board", columns=COLUMNS)
    return int(column) - 1


@cache  # at most 3^7 rows
def _row_text(cells: str) -> str:
    return "|".join(cells)


class ConnectFourCodec(BoardCodec):
    """Texts and grammar of connect four.

    Args:
        language: language of the texts.
        hint: whether the legal columns are listed.
    """

    grammar = Grammar(_read_column, nouns="column|列", seats=SEATS, fields=_read_fields)

    def __init__(self, language: str, hint: bool) -> None:
        super().__init__("llmarena_envs.connect_four", language, hint, COLUMN_NAMES, ConnectFour.max_turns)

    def board_text(self, board: str) -> str:
        """Returns the column numbers and six lines of cells, separated by ``|``."""
        return "\n".join([_HEADER, *[_row_text(board[row]) for row in _ROWS]])
