"""Errors of the harness that a user can do something about."""


class RunError(RuntimeError):
    """A run directory, run file or database that cannot be used; nothing of it was changed."""


class ErrorBudgetExceeded(RuntimeError):
    """More providers or environments failed than the run allows; everything played is kept and the run can go on."""
