"""What holds for one go at a run and is no part of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Session:
    """One go at a run.

    Attributes:
        max_errors: failures in this session at which play stops, in place of what the run file says.
        offline: whether no model is asked for a reply that is not in the cache.
    """

    max_errors: int | None = None
    offline: bool = False


ONE_GO = Session()
"""A session that limits nothing."""
