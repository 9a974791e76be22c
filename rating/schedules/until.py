"""A sequence of batches that ends when a rule says so."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.batches import Contest
from rating.schedules.schedule import Stop


class Rule(Protocol):
    """When the matches of an environment suffice, folded: no call costs more as the run grows."""

    def schedule(self, policies: Iterable[str]) -> None:
        """Takes the policies on the rated seats of a match that is going to be played."""

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next matches, in match-number order, void ones included."""

    def reason(self) -> str:
        """Returns the name of the reason to stop, or an empty string to go on."""


class Until:
    """The schedule that plays batches until a rule fires.

    The rule is asked before every batch. It knows the outcomes up to ``lag`` batches before that one, and which matches
    were scheduled: so a limit on scheduled matches holds exactly, while with a lag of 2 the batch after the one that
    satisfied the rule is played too.

    Args:
        contest: what is scheduled.
        batches: of matches, without end.
        rule: when to stop.
        lag: as in ``rating.schedules.schedule.Schedule``.
    """

    def __init__(self, contest: Contest, batches: Iterator[list[Match]], rule: Rule, lag: int) -> None:
        self.lag = lag
        self._contest = contest
        self._batches = batches
        self._rule = rule

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Takes the outcomes of the next whole batch."""
        self._rule.add(outcomes)

    def next_batch(self) -> list[Match] | Stop:
        """Returns the next batch, or why there is none."""
        reason = self._rule.reason()
        if reason:
            return Stop(reason)
        batch = next(self._batches)
        for match in batch:
            self._rule.schedule(self._contest.rated(match.policies))
        return batch
