"""Policies that are not asked any more: suspended for a session since they fail for good, or withdrawn from the run file."""

from collections.abc import Mapping

from rating.records.match import Match
from rating.records.store import Store
from rating.running.run_file import RunConfig

FACT = "suspended:"
"""Beginning of the name of the fact that says why a policy was suspended in the session before; empty if it plays again."""

_LONGEST_REASON = 500
"""Characters of a reason that are kept: it is a server's answer, and stands beside every match."""


def reasons(facts: Mapping[str, str]) -> dict[str, str]:
    """Returns why policies were not asked any more in the last session, by name, from the facts of a run."""
    return {
        name.removeprefix(FACT): f"suspended: {reason}; repair it and resume, or take it out of the run file"
        for name, reason in facts.items()
        if name.startswith(FACT) and reason
    }


class Absences:
    """Policies that are left out of what is played in this session, and why.

    Args:
        config: the run.
        store: keeps who is suspended, for leaderboards.

    Attributes:
        suspended: why, by name of the policy.
    """

    def __init__(self, config: RunConfig, store: Store) -> None:
        self._config = config
        self._store = store
        self.suspended: dict[str, str] = {}

    def begin(self) -> None:
        """Lets everybody play who was suspended in the session before."""
        for name, reason in self._store.facts().items():
            if name.startswith(FACT) and reason:
                self._store.set_fact(name, "")

    def suspend(self, policy: str, error: str) -> None:
        """Suspends a policy for the rest of the session."""
        reason = " ".join(error.split())[:_LONGEST_REASON]
        self.suspended[policy] = reason
        self._store.set_fact(f"{FACT}{policy}", reason)

    def withdrawn_from(self, match: Match) -> str:
        """Returns why a match will not be played any more, or an empty string."""
        withdrawn = self._config.withdrawn(match.environment)
        missing = next((name for name in match.policies if name in withdrawn), None)
        return "" if missing is None else f"withdrawn: {missing}"

    def of(self, match: Match) -> str:
        """Returns why a match is not played in this session, or an empty string."""
        missing = next((name for name in match.policies if name in self.suspended), None)
        return "" if missing is None else f"suspended: {missing}: {self.suspended[missing]}"
