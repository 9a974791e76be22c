"""Reparsing: what the grammar of now makes of the replies of a recorded match, and of its outcome."""

from collections.abc import Collection
from dataclasses import dataclass, field

from agents.errors import ReplayMismatch
from agents.rereading import Difference, Rereading, reread
from agents.turn import TurnSettings
from rating.records.environments import recorded_environment
from rating.records.outcome import PLAYED, VOID, Outcome
from rating.records.record import Record, outcome_of, void_outcome
from rating.records.verify import NO_SANDBOX

SAME = "read_the_same"
KNOWN = "outcome_known"
OTHERWISE = "gone_on_otherwise"
OTHERS = "not_finished"
PROBLEM = "cannot_be_read"
FATES = (SAME, KNOWN, OTHERWISE, OTHERS, PROBLEM)
"""What becomes of a match: every reply is read as it was, or what it comes to now is known all the same, or it would have gone
on otherwise; those that were not played to their end and those whose record does not fit have no outcome to change."""


@dataclass(frozen=True)
class Reparsed:
    """A match that was read again.

    Attributes:
        fate: one of ``FATES``.
        outcome: what it comes to now, void if it would have gone on otherwise; as recorded where nothing is known.
        rereading: what differs.
        seats: the policy of each agent.
        problem: why it cannot be read again, or an empty string.
    """

    fate: str
    outcome: Outcome | None
    rereading: Rereading = field(default_factory=Rereading)
    seats: dict[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Every reply that is read otherwise now."""
        return self.rereading.differences


def reparse(record: Record, settings: TurnSettings, people: Collection[str] = ()) -> Reparsed:
    """Reads a match again.

    Args:
        record: the match.
        settings: treatment of bad replies in its run.
        people: names of the policies that are persons.
    """
    match = record.match
    try:
        env = recorded_environment(match).unwrapped
        seats = dict(zip(env.possible_agents, match.policies, strict=True))
        found = reread(
            env,
            record.turns,
            match.seed,
            settings,
            people=[agent for agent, policy in seats.items() if policy in people],
        )
        if record.status not in PLAYED:
            return Reparsed(OTHERS, record.outcome, found, seats)
        if found.otherwise:
            return Reparsed(OTHERWISE, void_outcome(match, VOID), found, seats)
        if found.episode is None:
            raise ReplayMismatch(f"the match goes on after its {len(record.turns)} recorded turns")
        if not found.differences:
            return Reparsed(SAME, record.outcome, found, seats)
        if env.lacks_sandbox():
            raise ReplayMismatch(NO_SANDBOX)
        return Reparsed(KNOWN, outcome_of(match, env.possible_agents, found.episode), found, seats)
    except Exception as error:  # of an environment that may be gone, or of a record that was changed
        return Reparsed(PROBLEM, record.outcome, problem=f"{type(error).__name__}: {error}")
