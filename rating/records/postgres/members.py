"""Who plays a run that several machines play: the coordinator and the workers, what they say of themselves and are told to do."""

from enum import StrEnum
from typing import NamedTuple

from rating.errors import RunError


class State(StrEnum):
    """What a worker or a coordinator is at."""

    WORKING = "working"
    ALONE = "alone"
    """A coordinator that plays all matches itself."""
    DRAINING = "draining"
    """It claims nothing more and leaves when it has played what it holds."""
    STOPPING = "stopping"
    """A coordinator under which no turn begins any more."""
    STOPPED = "stopped"
    """A coordinator that has ended before the run was over."""
    OVER = "over"
    """A coordinator that has ended with the run."""
    LEFT = "left"
    DEAD = "dead"
    """Its lease had run out when somebody looked."""


PRESENT = f"('{State.WORKING}', '{State.DRAINING}', '{State.ALONE}', '{State.STOPPING}')"
"""In SQL, the states of who has not ended: only they begin calls, and whoever is in one is taken out when the run is over."""


class Orders(StrEnum):
    """What a worker is to do."""

    WORK = "work"
    WAIT = "wait"
    """Claim nothing, since there is nobody to collect answers, and play what is held."""
    DRAIN = "drain"
    STOP = "stop"
    """Come to the end of the turns that are under way and give every match back."""
    END = "end"
    """The run is over."""
    REJOIN = "rejoin"
    """It was taken for dead: nothing that it holds is its own any more."""


class Newcomer(NamedTuple):
    """Who joins a run.

    Attributes:
        name: by which people know it.
        host: its machine.
        process: its number there.
        executor: how it plays.
        capacity: how many matches at once.
    """

    name: str
    host: str
    process: int
    executor: str
    capacity: int


class Pulse(NamedTuple):
    """What the database says when a lease is renewed.

    Attributes:
        orders: what to do.
        coordinator: id of the coordinator, another one every time that the run goes on; empty if there was none yet.
    """

    orders: Orders
    coordinator: str


class Counts(NamedTuple):
    """What a worker says of itself when it renews its lease.

    Attributes:
        playing: matches under way.
        played: matches that it has answered.
        turns: turns of these and those so far.
        error: what went wrong last, or an empty string.
    """

    playing: int = 0
    played: int = 0
    turns: int = 0
    error: str = ""


NOTHING = Counts()
"""Of somebody who plays nothing."""


class Death(NamedTuple):
    """A worker whose lease has run out.

    Attributes:
        name: of the worker.
        host: its machine.
        matches: how many of its matches are offered again.
        calls: of models that were under way there.
    """

    name: str
    host: str
    matches: int
    calls: int


class Member(NamedTuple):
    """A worker or a coordinator, as it was seen last.

    Attributes:
        id: of this time that it joined.
        coordinates: whether it is a coordinator.
        name: by which people know it.
        host: its machine.
        process: its number there.
        executor: how it plays.
        capacity: how many matches at once.
        state: what it is at.
        is_late: whether its lease has run out.
        age: seconds since it joined, until it was seen last.
        unseen: seconds since it was seen last.
        playing: matches that it holds.
        played: matches that it has answered.
        turns: turns that it has played.
        calls: of models that are under way.
        lost: calls that were under way when it died or had to leave.
        error: what went wrong last.
    """

    id: str
    coordinates: bool
    name: str
    host: str
    process: int
    executor: str
    capacity: int
    state: State
    is_late: bool
    age: float
    unseen: float
    playing: int
    played: int
    turns: int
    calls: int
    lost: int
    error: str


def state_of(text: str) -> State:
    """Reads a state.

    Raises:
        RunError: if it is none.
    """
    try:
        return State(text)
    except ValueError as error:
        raise RunError(
            f"the record of who plays a run is damaged: expected one of {', '.join(State)}, got {text!r:.80}"
        ) from error


def orders_of(own: str | None, coordinator: str | None, is_alive: bool | None) -> Orders:
    """Returns what a worker is to do.

    Args:
        own: its state; ``None`` if it was taken for dead.
        coordinator: state of the coordinator; ``None`` if there was none yet.
        is_alive: whether the coordinator is; ``None`` likewise.
    """
    if coordinator == State.OVER:
        return Orders.END
    if own in (None, State.LEFT):
        return Orders.REJOIN
    if coordinator in (State.STOPPING, State.STOPPED):
        return Orders.STOP
    if own == State.DRAINING:
        return Orders.DRAIN
    return Orders.WORK if coordinator == State.WORKING and is_alive else Orders.WAIT
