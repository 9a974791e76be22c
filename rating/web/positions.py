"""Pictures of the positions of recorded matches: their actions are played again as far as somebody looks."""

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from rating.records.record import Record
from rating.records.replay import Replay

K = TypeVar("K")
V = TypeVar("V")

MAX_PICTURE = 2_000_000
"""Characters of a picture; a larger one is not shown."""

_OPEN = 8
"""Matches of which the position reached last is kept, so that the next turn of one costs one turn."""

_KEPT = 200
"""Pictures that are kept."""

_PATIENCE = 10.0
"""Seconds that a page waits for pictures that others look at."""


class Picture(NamedTuple):
    """A position.

    Attributes:
        svg: what a spectator sees; empty if there is no picture.
        missing: why there is none.
    """

    svg: str = ""
    missing: str = ""


class Positions:
    """Draws positions for all who look, one at a time; safe to be used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replays: OrderedDict[str, Replay] = OrderedDict()
        self._pictures: OrderedDict[tuple[str, int, str], Picture] = OrderedDict()

    def draw(self, record: Record, turns: int) -> Picture:
        """Draws what a spectator sees of a match after some of its turns.

        Args:
            record: the match.
            turns: number of turns that have been played, at most those of the record.
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
            # Of an environment that may be gone, or somebody's own: its matches are shown all the same.
            return Picture(missing=f"{type(error).__name__}: {error}")
        _keep(self._replays, name, replay, _OPEN)
        if len(svg) > MAX_PICTURE:
            return Picture(missing=f"it has {len(svg)} characters, more than {MAX_PICTURE}")
        return Picture(svg)


def _keep(kept: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    """Keeps a value as the latest, and no more values than ``most``."""
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)
