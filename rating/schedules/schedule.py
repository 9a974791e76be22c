"""The interface of schedules: what is played next, and when enough has been played."""

import sys
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rating.records.match import Match
from rating.records.outcome import Outcome

UNLIMITED = sys.maxsize
"""The lag while what comes next is known beforehand."""


class Stop(NamedTuple):
    """The answer of a schedule that has played enough: the name of the reason, e.g. ``count`` or ``cap``."""

    reason: str


class Schedule(Protocol):
    """What is played next, as a pure function of the outcomes so far, folded batch by batch.

    Batch k depends on the outcomes of the batches 0 to k - ``lag`` only, so that it can be under way while the batches
    before it are still being finished, and is the same on any number of workers.
    """

    @property
    def lag(self) -> int:
        """How many batches may be under way with the next one, at most.

        1 for a schedule that needs the batch before, as a Swiss round does; with 2 or more, play runs ahead. It is
        ``UNLIMITED`` as long as the next batch depends on no outcome.
        """

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch, in match-number order, void ones included."""

    def leave_out(self, policy: str) -> None:
        """Waits no longer for a policy, whose matches are void from now on without being played."""

    def next_batch(self) -> list[Match] | Stop:
        """Returns batch k, given that exactly the batches 0 to k - ``lag`` have been added; or why there is none."""
