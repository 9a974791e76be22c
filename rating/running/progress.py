"""How far a run is: a snapshot that a display takes when it draws, so that no call of a model pays for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rating.accounting.bill import Usage
from rating.schedules.schedule import Stop
from rating.schemes.repeating import Repeating
from rating.schemes.scheme import ADAPTIVE, Scheme
from rating.schemes.stopping import CountRule


@dataclass(frozen=True)
class EnvironmentProgress:
    """How far an environment is.

    Attributes:
        name: of the environment.
        finished: matches that were played to their end.
        played: those of them that were played in this session.
        scheduled: matches entered so far.
        void: matches that could not be played to their end.
        expected: matches that the schedule has in all, or ``None`` if that depends on how they end.
        stopped: why the schedule has stopped, or an empty string.
    """

    name: str
    finished: int
    played: int
    scheduled: int
    void: int = 0
    expected: int | None = None
    stopped: str = ""

    @property
    def left(self) -> int | None:
        """Matches still to be played, or ``None`` if nobody knows."""
        if self.stopped:
            return 0
        return None if self.expected is None else max(self.expected - self.finished - self.void, 0)


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes:
        environments: each environment.
        errors: failures of providers and environments in this session.
        usage: what the calls of all sessions used, by environment and policy.
        in_flight: calls under way.
        limit: greatest number of calls under way that the servers bear for now; ``None`` if nothing is known of it.
        suspended: policies that failed for good, with the reason.
        deaths: workers that died in this session in the middle of a match, which another one played on.
    """

    environments: tuple[EnvironmentProgress, ...]
    errors: int = 0
    usage: Mapping[tuple[str, str], Usage] = field(default_factory=dict)
    in_flight: int = 0
    limit: int | None = None
    suspended: Mapping[str, str] = field(default_factory=dict)
    deaths: int = 0


def expected_matches(scheme: Scheme) -> int | None:
    """Returns how many matches a scheme schedules, or ``None`` if that depends on how they end."""
    if (
        not isinstance(scheme, Repeating)
        or not isinstance(scheme.end(), CountRule)
        or scheme.setting.schedule == ADAPTIVE
    ):
        return None
    schedule, matches = scheme.schedule(), 0
    while not isinstance(batch := schedule.next_batch(), Stop):
        matches += len(batch)
        schedule.add([])
    return matches
