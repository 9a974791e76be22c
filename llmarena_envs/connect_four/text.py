"""What a player of connect four reads, and how a reply is read back."""

import re
from functools import cache

from llmarena_envs.connect_four.game import COLUMNS, ROWS
from llmarena_envs.core.board import LINE_END, LINE_START, BoardCodec
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import json_objects, last_match

COLUMN_NAMES = tuple(str(column) for column in range(1, COLUMNS + 1))
_HEADER = " ".join(COLUMN_NAMES)
_ROWS = tuple(slice(start, start + COLUMNS) for start in range(0, ROWS * COLUMNS, COLUMNS))

# A column after a mark and a colon, or alone on a line. The possessive quantifiers never give back what they took, so the time
# is linear in the length of any reply.
_COLUMN = r"[(\[<\"']?+[ \t]*+(?:column[ \t]*+:?[ \t]*+|第[ \t]*+)?(-?[0-9]++)"
_MOVE = re.compile(
    rf"(?<![A-Za-z0-9])([XO])[ \t]*+[:=][ \t]*+{_COLUMN}"
    r"([A-Za-z_]|\.[0-9]|[ \t]*+(?:[-–~/,、&]|or\b|and\b|to\b|[或和到])[ \t]*+[0-9])?"
    rf"|^{LINE_START}{_COLUMN}[ \t]*+列?{LINE_END}$",
    re.IGNORECASE | re.MULTILINE,
)


@cache  # 3^7 rows at most
def _row_text(cells: str) -> str:
    return "|".join(cells)


class ConnectFourCodec(BoardCodec):
    """Texts and grammar of connect four.

    Args:
        language: language of the texts.
        hint: whether the columns that are not full are listed.
    """

    def __init__(self, language: str, hint: bool) -> None:
        super().__init__("llmarena_envs.connect_four", language, hint, COLUMN_NAMES)

    def board_text(self, board: str) -> str:
        """Returns a line of column numbers and six lines of cells, ``|`` between them."""
        return "\n".join([_HEADER, *[_row_text(board[row]) for row in _ROWS]])

    def find_move(self, text: str) -> tuple[str | None, int] | None:
        """Reads ``X: 1``, ``1`` or ``[1]`` on a line of its own, or JSON with ``column``."""
        match = last_match(_MOVE, text)
        position = match.end() if match else -1
        mark, column, more = (match[1], match[2] or match[4], match[3]) if match else ("", "", "")
        for end, value in json_objects(text):
            if end > position and "column" in value:
                mark, column, more = str(value.get("mark") or ""), str(value["column"]), ""
        if more:
            raise InvalidReply(Failure.UNPARSABLE, "the move is not clear; name exactly one column by its number")
        if not column:
            return None
        if column not in COLUMN_NAMES:
            raise InvalidReply(Failure.ILLEGAL, f"columns go from 1 to {COLUMNS}")
        return mark or None, int(column) - 1
