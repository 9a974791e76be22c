"""Harness errors that a user can act on; ``llmarena_envs.core.errors`` describes the hierarchy."""

from collections.abc import Mapping
from types import MappingProxyType

from llmarena_envs.core.errors import ArenaError


class HarnessError(ArenaError):
    """A run that cannot continue."""


class RunError(HarnessError):
    """A run directory, run file or database that cannot be used; it was not changed."""


class StoreError(RunError):
    """A failure of the database engine, e.g. disk full or no connection."""


class BudgetExceeded(HarnessError):
    """A limit of the run was reached; results are kept and the run can be resumed.

    Args:
        message: the limit.
        flags: command-line flags to resume the run with; ``None`` removes a flag.
    """

    def __init__(self, message: str, flags: Mapping[str, str | None] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.flags = flags


class ErrorBudgetExceeded(BudgetExceeded):
    """More providers or environments failed than the run allows."""


class IncompleteRun(HarnessError):
    """A run ended with void matches or a paused game; its results are rated and the run can be resumed."""


class ClusterError(HarnessError):
    """No match can be played on the cluster at the moment; results are kept and the run can be resumed."""
