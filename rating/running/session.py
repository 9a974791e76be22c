"""What holds for one go at a run and is no part of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Session:
    """One go at a run.

    Attributes:
        max_errors: failures in this session at which play stops, in place of what the run file says.
        quiet: whether nothing is shown but what goes wrong for good.
    """

    max_errors: int | None = None
    quiet: bool = False


ONE_GO = Session()
"""A session that limits nothing."""
