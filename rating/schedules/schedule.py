"""The schedule interface: the next batch of matches, and when to stop."""

import sys
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rating.store.match import Match
from rating.store.outcome import Outcome

UNLIMITED = sys.maxsize
"""The lag of batches that do not depend on outcomes."""


class Stop(NamedTuple):
    """A schedule's answer when it has ended, with the name of the reason, e.g. ``count`` or ``cap``."""

    reason: str


class Schedule(Protocol):
    """A sequence of batches, as a pure function of the outcomes, folded batch by batch.

    Batch k depends on the outcomes of batches 0 to k - ``lag`` only. It can run while the batches before it finish, and does not
    depend on the number of workers.
    """

    @property
    def lag(self) -> int:
        """Maximum number of concurrent batches.

        1 if the next batch needs the one before, as in a Swiss round; 2 or more lets play run ahead. ``UNLIMITED`` as long as the
        next batch does not depend on outcomes.
        """

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Adds the outcomes of the next complete batch, in match-number order, including void ones."""

    def leave_out(self, policy: str) -> None:
        """Excludes a policy: its matches are void from now on, without being played."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns batch k after the outcomes of batches 0 to k - ``lag`` were added, or the reason to stop."""
