"""What holds for one go at a run and is no part of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Session:
    """One go at a run.

    Attributes:
        max_errors: failures in this session at which play stops, in place of what the run file says.
        max_cost: of all calls of the run so far, at which play stops; likewise.
        max_tokens: read and written in all calls of the run so far; likewise.
        max_seconds: that this session may take; likewise.
    """

    max_errors: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None


ONE_GO = Session()
"""A session that limits nothing."""
