"""What holds for one go at a run and is no part of it."""

from dataclasses import dataclass

from rating.running.budget import Budget


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

    def budget(self, of_run: Budget) -> Budget:
        """Returns what this go may take, where the run file says ``of_run``."""
        return Budget(
            of_run.cost if self.max_cost is None else self.max_cost,
            of_run.tokens if self.max_tokens is None else self.max_tokens,
            of_run.seconds if self.max_seconds is None else self.max_seconds,
        )


ONE_GO = Session()
"""A session that limits nothing."""
