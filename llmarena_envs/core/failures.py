"""The classes of failure that a reply, a judge or an environment can end in."""

from enum import IntEnum

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


class InvalidReply(ArenaError, ValueError):
    """A reply that is no legal move.

    Attributes:
        kind: ``EMPTY``, ``UNPARSABLE`` or ``ILLEGAL``.
        message: what was wrong and what is expected, addressed to the player who is asked again.
    """

    def __init__(self, kind: Failure, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message

    def __reduce__(self) -> tuple[type["InvalidReply"], tuple[Failure, str]]:
        return InvalidReply, (self.kind, self.message)
