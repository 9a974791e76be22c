"""What holds for one go at a run and is no part of it."""

from dataclasses import dataclass
from pathlib import Path

from agents.desk import Desk
from agents.models.cache import ReplyCache
from llmarena_envs.core.options import OptionError
from rating.running.run_tables import ExecutorName


@dataclass(frozen=True)
class Session:
    """One go at a run.

    Attributes:
        max_errors: failures in this session at which play stops, in place of what the run file says.
        max_cost: of all calls of the run so far, at which play stops; likewise.
        max_tokens: read and written in all calls of the run so far; likewise.
        max_seconds: that this session may take; likewise.
        executor: where matches are played; likewise.
        cache: directory in which the replies of models are looked for first, and kept; by default there is none.
        offline: whether no model is asked for a reply that is not in the cache.
        keep_going: whether games without information are not paused; likewise.
        quiet: whether nothing is shown but what goes wrong for good.
        desk: where people are asked; by default at the terminal.

    Raises:
        OptionError: if there is no cache offline.
    """

    max_errors: int | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    executor: ExecutorName | None = None
    keep_going: bool = False
    cache: Path | None = None
    offline: bool = False
    quiet: bool = False
    desk: Desk | None = None

    def __post_init__(self) -> None:
        if self.offline and self.cache is None:
            raise OptionError("offline: expected a cache with the replies of models, --cache DIR, but none is named")

    def open_cache(self) -> ReplyCache | None:
        """Opens the cache, if there is one; offline it must exist.

        Raises:
            OptionError: if it cannot be used.
        """
        return None if self.cache is None else ReplyCache(self.cache, create=not self.offline)


ONE_GO = Session()
"""A session that limits nothing."""
