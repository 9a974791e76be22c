"""Errors of the harness that a user can do something about; the whole tree is described in ``llmarena_envs.core.errors``."""

from collections.abc import Mapping
from types import MappingProxyType

from llmarena_envs.core.errors import ArenaError


class HarnessError(ArenaError):
    """A run that cannot go on."""


class RunError(HarnessError):
    """A run directory, run file or database that cannot be used; nothing of it was changed."""


class StoreError(RunError):
    """What the engine of a store says when it fails, e.g. that there is no room or no connection."""


class BudgetExceeded(HarnessError):
    """A limit of the run was reached; everything played is kept and the run can go on.

    Args:
        message: which one.
        flags: of the command line, with which the run goes on; ``None`` for one to leave out.
    """

    def __init__(self, message: str, flags: Mapping[str, str | None] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.flags = flags


class ErrorBudgetExceeded(BudgetExceeded):
    """More providers or environments failed than the run allows."""


class IncompleteRun(HarnessError):
    """A run has ended, but matches of it are void or a game is paused; what was played is rated and the run can go on."""


class ClusterError(HarnessError):
    """A cluster in which nothing can be played for now; everything played is kept and the run can go on."""
