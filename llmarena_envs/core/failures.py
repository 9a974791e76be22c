"""The classes of failure that a reply, a judge or an environment can end in."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from llmarena_envs.core.errors import ArenaError


class Failure(IntEnum):
    """One class for everything that is not a normal reply; the numbers stand in ``infos`` and in records.

    ``TRUNCATED`` to ``ILLEGAL`` are the model's fault, ``PROVIDER`` and ``ENVIRONMENT_BUG`` are not: a match with one of
    those two is void and never rated.
    """

    OK = 0
    TRUNCATED = 1
    EMPTY = 2
    REFUSAL = 3
    UNPARSABLE = 4
    ILLEGAL = 5
    PROVIDER = 6
    ENVIRONMENT_BUG = 7
    JUDGE_FAILED = 8


class Reason(NamedTuple):
    """Why something is refused, apart from any language: the codec renders it as the text ``reason_<name>``.

    Attributes:
        name: which text of the prompt files tells it.
        fields: what the text is filled in with.
    """

    name: str
    fields: Mapping[str, Any] = {}


class Refusal(ArenaError):
    """What a reader of replies raises; ``Codec.parse`` makes an ``InvalidReply`` of it.

    Attributes:
        kind: ``EMPTY``, ``UNPARSABLE`` or ``ILLEGAL``.
        reason: why.
        kept: as in ``InvalidReply``.
    """

    def __init__(self, kind: Failure, name: str, /, *, kept: str = "", **fields: Any) -> None:
        super().__init__(kind, name, fields)
        self.kind = kind
        self.reason = Reason(name, fields)
        self.kept = kept


class InvalidReply(ArenaError, ValueError):
    """A reply that is no legal move.

    Attributes:
        kind: ``EMPTY``, ``UNPARSABLE`` or ``ILLEGAL``.
        message: what was wrong and what is expected, addressed to the player who is asked again.
        kept: of a move in several parts, the parts that the reply has, as a text of the action space; empty for none. The player
            is asked for what is missing only: its next reply is read below this text, which is played if nothing completes it.
    """

    def __init__(self, kind: Failure, message: str, kept: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.kept = kept

    def __reduce__(self) -> tuple[type["InvalidReply"], tuple[Failure, str, str]]:
        return InvalidReply, (self.kind, self.message, self.kept)
