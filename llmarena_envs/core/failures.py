"""Failure classes of replies, judges and environments."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

from llmarena_envs.core.errors import ArenaError


class Failure(IntEnum):
    """Outcome class of a reply; ``infos`` and records hold the numbers.

    ``TRUNCATED`` to ``ILLEGAL`` are the model's fault, ``PROVIDER`` and ``ENVIRONMENT_BUG`` are not: a match with one of
    these two is void and never rated.
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
    """The reason of a parse error, independent of language: the codec renders it as the text ``reason_<name>``.

    Attributes:
        name: name of the text, without ``reason_``.
        fields: values of the text's placeholders.
    """

    name: str
    fields: Mapping[str, Any] = {}


class ParseError(ArenaError):
    """Raised by parsers of replies; ``Codec.parse`` converts it to an ``InvalidReply``.

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
    """A reply that is not a legal move.

    Attributes:
        kind: ``EMPTY``, ``UNPARSABLE`` or ``ILLEGAL``.
        message: the mistake and the expected form, addressed to the player who is asked again.
        kept: valid parts of a multi-part move, as a text of the action space; empty for none. The player is asked for the
            missing parts only: its next reply is appended to this text, which is played if nothing completes it.
    """

    def __init__(self, kind: Failure, message: str, kept: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.kept = kept

    def __reduce__(self) -> tuple[type["InvalidReply"], tuple[Failure, str, str]]:
        return InvalidReply, (self.kind, self.message, self.kept)
