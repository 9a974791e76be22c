"""What a player of connect four reads, and how a reply is read back."""

import re

from llmarena_envs.connect_four.game import COLUMNS, ROWS
from llmarena_envs.core.board import BoardCodec
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.replies import json_objects, last_match

COLUMN_NAMES = tuple(str(column) for column in range(1, COLUMNS + 1))
_BOARD = "\n".join([" ".join(COLUMN_NAMES), *["|".join(["%s"] * COLUMNS)] * ROWS])

# A column after a mark, in brackets, or alone on a line. The possessive quantifiers never give back what they took, so the
# time is linear in the length of any reply.
_MOVE = re.compile(
    r"(?<![A-Za-z0-9])([XO])[ \t]*+[:=][ \t]*+[(\[]?+[ \t]*+(?:column[ \t]*+)?(-?[0-9]++)(?![A-Za-z_]|\.[0-9])"
    r"|[(\[][ \t]*+(?:column[ \t]*+)?(-?[0-9]++)[ \t]*+[)\]]"
    r"|^[ \t]*+(?:column[ \t]*+:?[ \t]*+)?(-?[0-9]++)[ \t]*+\.?[ \t]*+$",
    re.IGNORECASE | re.MULTILINE,
)


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
        return _BOARD % tuple(board)

    def find_move(self, text: str) -> tuple[str | None, int] | None:
        """Reads ``X: 1``, ``[1]``, ``1`` on a line of its own, or JSON with ``column``."""
        match = last_match(_MOVE, text)
        position = match.end() if match else -1
        mark, column = (match[1], match[2] or match[3] or match[4]) if match else ("", "")
        for end, value in json_objects(text):
            if end > position and "column" in value:
                mark, column = str(value.get("mark") or ""), str(value["column"])
        if not column:
            return None
        if column not in COLUMN_NAMES:
            raise InvalidReply(Failure.ILLEGAL, f"columns go from 1 to {COLUMNS}")
        return mark or None, int(column) - 1
