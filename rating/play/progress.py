"""Progress of a run: a snapshot taken when a display draws, to keep model calls free of this work."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rating.store.calls import Usage


@dataclass(frozen=True)
class EnvironmentProgress:
    """Progress of an environment.

    Attributes:
        name: of the environment.
        finished: finished matches.
        played: matches finished in this session.
        scheduled: matches scheduled so far.
        void: void matches.
        expected: total matches of the schedule, or ``None`` if it depends on outcomes.
        stopped: why the schedule has stopped, or an empty string.
    """

    name: str
    finished: int
    played: int
    scheduled: int
    void: int = 0
    expected: int | None = None
    stopped: str = ""


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        environments: of each environment.
        errors: failures of providers and environments in this session.
        usage: of the calls of all sessions, by environment and policy.
        in_flight: in-flight calls.
        limit: current limit of the servers on concurrent calls; ``None`` if unknown.
        suspended: policies that failed permanently, with the reason.
        deaths: workers that died during a match in this session.
    """

    environments: tuple[EnvironmentProgress, ...]
    errors: int = 0
    usage: Mapping[tuple[str, str], Usage] = field(default_factory=dict)
    in_flight: int = 0
    limit: int | None = None
    suspended: Mapping[str, str] = field(default_factory=dict)
    deaths: int = 0
