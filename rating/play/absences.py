"""Policies that stopped playing: suspended after a permanent failure, or withdrawn in the run file."""

from collections.abc import Mapping

from rating.config.run_file import RunConfig
from rating.store.records import Match
from rating.store.store import Store

FACT = "suspended:"
"""Prefix of the fact that holds why a policy was suspended in the last session; empty if it plays again."""

_LONGEST_REASON = 500
"""Maximum length in characters: the reason is a server's answer and appears beside every match."""


def reasons(facts: Mapping[str, str]) -> dict[str, str]:
    """Returns the suspensions of the last session, from the facts of a run: policy name -> reason."""
    return {
        name.removeprefix(FACT): f"suspended: {reason}; repair it and resume, or take it out of the run file"
        for name, reason in facts.items()
        if name.startswith(FACT) and reason
    }


class Absences:
    """Policies excluded from play in this session, with the reasons.

    Args:
        config: the run.
        store: records suspensions, for leaderboards.

    Attributes:
        suspended: reason by policy name.
    """

    def __init__(self, config: RunConfig, store: Store) -> None:
        self._config = config
        self._store = store
        self.suspended: dict[str, str] = {}

    def begin(self) -> None:
        """Lifts the suspensions of the last session."""
        for name, reason in self._store.facts().items():
            if name.startswith(FACT) and reason:
                self._store.set_fact(name, "")

    def suspend(self, policy: str, error: str) -> None:
        """Suspends a policy for the rest of the session."""
        reason = " ".join(error.split())[:_LONGEST_REASON]
        self.suspended[policy] = reason
        self._store.set_fact(f"{FACT}{policy}", reason)

    def withdrawn_from(self, match: Match) -> str:
        """Returns the reason if a policy of the match was withdrawn, else an empty string."""
        withdrawn = self._config.withdrawn(match.environment)
        missing = next((name for name in match.policies if name in withdrawn), None)
        return "" if missing is None else f"withdrawn: {missing}"

    def of(self, match: Match) -> str:
        """Returns the reason if a policy of the match is suspended, else an empty string."""
        missing = next((name for name in match.policies if name in self.suspended), None)
        return "" if missing is None else f"suspended: {missing}: {self.suspended[missing]}"
