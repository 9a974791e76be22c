"""Messages between a run and the process that drives its Ray cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.records import Turn
from rating.play.executors.executor import Played, WorkerDied
from rating.store.records import Match


@dataclass(frozen=True)
class Here:
    """Working directory and module path of the run, which its workers adopt if they can.

    Attributes:
        directory: the working directory.
        path: the module search path.
    """

    directory: str
    path: tuple[str, ...]


@dataclass(frozen=True)
class Task:
    """A match to play on from its recorded turns."""

    number: int
    match: Match
    played: Sequence[Turn]


@dataclass(frozen=True)
class GiveUp:
    """Cancels a task."""

    number: int


@dataclass(frozen=True)
class Said:
    """A turn of a task, or its result."""

    number: int
    what: Turn | Played | WorkerDied


@dataclass(frozen=True)
class Room:
    """Number of workers that are ready; 0 right after connecting."""

    workers: int


@dataclass(frozen=True)
class Failed:
    """Why nothing can be played in the cluster."""

    reason: str
