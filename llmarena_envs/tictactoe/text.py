"""What a player of tic-tac-toe reads, and how a reply is read back."""

import re
from functools import cache

from llmarena_envs.core.board import LINE_END, LINE_START, BoardCodec
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import json_objects, last_match

CELL_NAMES = tuple(f"({row}, {column})" for row in (1, 2, 3) for column in (1, 2, 3))

# A cell after a mark and a colon, or alone on a line. The possessive quantifiers never give back what they took, so the time
# is linear in the length of any reply.
_BRACKETS = r"[(\[]\s*+(?:row\s*+)?(-?[0-9]++)(?:\s*+[,;、]\s*+|\s++)(?:col(?:umn)?\s*+)?(-?[0-9]++)\s*+[)\]]"
_BARE = r"(-?[0-9]++)(?:[ \t]*+[,;、][ \t]*+|[ \t]++)(-?[0-9]++)"
_MOVE = re.compile(
    rf"(?<![A-Za-z0-9])([XO])[ \t]*+[:=]\s*+{_BRACKETS}"
    rf"|^{LINE_START}(?:([XO])[ \t]*+[:=]?[ \t]*+)?(?:{_BRACKETS}|{_BARE}){LINE_END}$",
    re.IGNORECASE | re.MULTILINE,
)


class TicTacToeCodec(BoardCodec):
    """Texts and grammar of tic-tac-toe.

    Args:
        language: language of the texts.
        hint: whether the empty cells are listed.
    """

    def __init__(self, language: str, hint: bool) -> None:
        super().__init__("llmarena_envs.tictactoe", language, hint, CELL_NAMES)

    @staticmethod
    @cache  # at most 5,478 boards
    def board_text(board: str) -> str:
        """Returns the board as three lines with ``|`` between the cells."""
        return "\n".join("|".join(board[start : start + 3]) for start in (0, 3, 6))

    def find_move(self, text: str) -> tuple[str | None, int] | None:
        """Reads ``X: (1, 3)``, ``(1, 3)`` or ``1 3`` on a line of its own, or JSON with ``row`` and ``column``."""
        match = last_match(_MOVE, text)
        position = match.end() if match else -1
        mark, row, column = "", "", ""
        if match:
            mark, row, column = match[1] or match[4], match[2] or match[5] or match[7], match[3] or match[6] or match[8]
        for end, value in json_objects(text):
            last = value.get("column", value.get("col"))
            if end > position and "row" in value and last is not None:
                mark, row, column = str(value.get("mark") or ""), str(value["row"]), str(last)
        if not row:
            return None
        if row not in ("1", "2", "3") or column not in ("1", "2", "3"):
            raise InvalidReply(Failure.ILLEGAL, "rows and columns go from 1 to 3")
        return mark or None, 3 * (int(row) - 1) + int(column) - 1
