"""Settings of one session that are not part of the run."""

from dataclasses import dataclass
from pathlib import Path

from agents.human_queue import HumanQueue
from agents.models.cache import ReplyCache
from llmarena_envs.core.options import OptionError
from rating.config.run_tables import ExecutorName


@dataclass(frozen=True)
class Session:
    """Settings of one session of a run.

    Attributes:
        max_errors: play stops after this many failures in this session; overrides the run file.
        max_cost: play stops at this cost of all calls of the run so far; overrides the run file.
        max_tokens: play stops at this number of prompt and completion tokens of the run so far; overrides the run file.
        max_seconds: maximum duration of this session; overrides the run file.
        executor: where matches are played; overrides the run file.
        cache: directory of cached model replies; by default there is no cache.
        offline: whether only cached replies are used.
        keep_going: whether games without information are not paused; overrides the run file.
        quiet: whether only permanent failures are shown.
        human_queue: the human input queue; by default people reply at the terminal.

    Raises:
        OptionError: if offline without a cache.
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
    human_queue: HumanQueue | None = None

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
"""A session without limits of its own."""
