"""Pictures of positions of recorded matches, made by replaying their actions on demand."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from rating.store.records import Record
from rating.store.replay import Replay

K = TypeVar("K")
V = TypeVar("V")

MAX_PICTURE = 2_000_000
"""Maximum characters of a picture; larger ones are not shown."""

_OPEN = 8
"""Maximum number of cached replays. A cached replay continues from its last position."""

_KEPT = 200
"""Maximum number of cached pictures."""

_PATIENCE = 10.0
"""Maximum seconds a request waits for the lock."""


class Picture(NamedTuple):
    """Picture of a position.

    Attributes:
        svg: spectator view; empty if there is no picture.
        missing: why there is no picture.
    """

    svg: str = ""
    missing: str = ""


class Positions:
    """Draws and caches positions, one at a time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replays: OrderedDict[str, Replay] = OrderedDict()
        self._pictures: OrderedDict[tuple[str, int, str], Picture] = OrderedDict()

    def draw(self, record: Record, turns: int) -> Picture:
        """Draws the spectator view of a match after a number of turns.

        Args:
            record: recorded match.
            turns: number of turns played, at most the length of the record.
        """
        key = record.match.id, turns, record.turns[turns - 1].digest if turns else ""
        with self._held() as is_held:
            if not is_held:
                return Picture(missing="other pictures are being drawn; look again")
            if key not in self._pictures:
                _keep(self._pictures, key, self._draw(record, turns), _KEPT)
            return self._pictures[key]

    @contextmanager
    def _held(self) -> Iterator[bool]:
        is_held = self._lock.acquire(timeout=_PATIENCE)
        try:
            yield is_held
        finally:
            if is_held:
                self._lock.release()

    def _draw(self, record: Record, turns: int) -> Picture:
        name = record.match.id
        try:
            replay = self._replays.pop(name, None)
            if replay is None or not replay.leads_to(record.turns[:turns]):
                replay = Replay(record.match)
            for turn in record.turns[replay.turns : turns]:
                if missing := replay.play(turn):
                    return Picture(missing=missing)
            svg = replay.env.draw()
        except Exception as error:
            # A missing or custom environment can raise anything; the match is still shown.
            return Picture(missing=f"{type(error).__name__}: {error}")
        _keep(self._replays, name, replay, _OPEN)
        if len(svg) > MAX_PICTURE:
            return Picture(missing=f"it has {len(svg)} characters, more than {MAX_PICTURE}")
        return Picture(svg)


def _keep(kept: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    """Adds a value as the latest, and evicts the oldest above ``most`` values."""
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)
