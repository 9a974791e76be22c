"""The write-ahead log that a killed process left beside a database: whether SQLite would take in all of it.

SQLite reads a log up to the first frame that is damaged, takes what follows for never written, and deletes it when the file is
closed. So what is looked for here are transactions behind a damaged place. Where the log merely ends in one, as after the
machine lost its power, nothing is behind it. The format is described at https://www.sqlite.org/fileformat2.html.
"""

import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

_HEADER, _FRAME_HEADER = 32, 24
_ORDERS = {0x377F0682: "<u4", 0x377F0683: ">u4"}
"""How the words that a checksum is made of are written, by the number with which a log begins."""
_SIZES = tuple(1 << exponent for exponent in range(9, 17))
_AT_ONCE = 1 << 22
"""Bytes that are read at once, about."""

_Sums = tuple[int, int]


def find_damage(log: Path) -> str:
    """Returns what is damaged in a log with transactions behind it; empty if there is nothing of that kind.

    A log that somebody writes meanwhile is taken for sound: SQLite reads what was left only where nobody has the database open.

    Args:
        log: the file, which may be missing.

    Raises:
        OSError: if it cannot be read.
    """
    if not log.exists() or log.stat().st_size <= _HEADER:
        return ""
    before = _written(log)
    with log.open("rb") as file:
        header = file.read(_HEADER)
    magic, _, size, _ = struct.unpack_from(">4I", header)
    sums = struct.unpack_from(">2I", header, 24)
    order = _ORDERS.get(magic)
    if order is None or size not in _SIZES or _checksum(np.frombuffer(header[:24], order), (0, 0)) != sums:
        damage = "the header is damaged"
    else:
        place = _damaged_frame(_frames(log, size), header[16:24], order, sums)
        damage = "" if place is None else f"frame {place} is damaged, and transactions stand behind it"
    return damage if damage and _written(log) == before else ""


def _written(log: Path) -> tuple[int, int]:
    """Returns how long a log is and when it was written last, in nanoseconds."""
    found = log.stat()
    return found.st_size, found.st_mtime_ns


def _frames(log: Path, page_size: int) -> Iterator[np.ndarray]:
    """Yields the frames of a log, whole ones only, as rows of bytes."""
    frame = _FRAME_HEADER + page_size
    with log.open("rb") as file:
        file.seek(_HEADER)
        while data := file.read(max(1, _AT_ONCE // frame) * frame):
            yield np.frombuffer(data, np.uint8, len(data) // frame * frame).reshape(-1, frame)


def _damaged_frame(blocks: Iterator[np.ndarray], salts: bytes, order: str, sums: _Sums) -> int | None:
    """Returns the number of the first damaged frame if there is a later one of the same log that ends a transaction."""
    damaged, begin = None, 0
    for frames in blocks:
        belongs = (frames[:, 8:16] == np.frombuffer(salts, np.uint8)).all(axis=1)
        ends = belongs & frames[:, 4:8].any(axis=1)
        start = 0
        if damaged is None:
            start, sums = _sound(frames, belongs, order, sums)
            if start < len(frames):
                damaged, start = begin + start, start + 1
        if damaged is not None and ends[start:].any():
            return damaged
        begin += len(frames)
    return None


def _sound(frames: np.ndarray, belongs: np.ndarray, order: str, sums: _Sums) -> tuple[int, _Sums]:
    """Returns how many frames follow from those before, and the checksums behind them."""
    summed = np.concatenate([frames[:, :8], frames[:, _FRAME_HEADER:]], axis=1).view(order).astype(np.uint32)
    pairs = summed.shape[1] // 2
    weights = _weights(pairs)
    own = np.stack([(summed * weights[row]).sum(axis=1, dtype=np.uint32) for row in (0, 1)], axis=1).tolist()
    (a, b), (c, d) = _power(pairs)
    stored = frames[:, 16:24].copy().view(">u4").tolist()
    for number, (first, second) in enumerate(own):
        now = (a * sums[0] + b * sums[1] + first) % 2**32, (c * sums[0] + d * sums[1] + second) % 2**32
        if not belongs[number] or list(now) != stored[number]:
            return number, sums
        sums = now
    return len(frames), sums


def _checksum(words: np.ndarray, sums: _Sums) -> _Sums:
    first, second = sums
    for number in range(0, len(words), 2):
        first = (first + int(words[number]) + second) % 2**32
        second = (second + int(words[number + 1]) + first) % 2**32
    return first, second


@cache
def _power(steps: int) -> tuple[_Sums, _Sums]:
    """Returns by what the two sums before are multiplied to get their share of those after so many pairs of words."""
    columns = [_checksum(np.zeros(2 * steps, np.uint32), sums) for sums in ((1, 0), (0, 1))]
    return (columns[0][0], columns[1][0]), (columns[0][1], columns[1][1])


@cache
def _weights(pairs: int) -> np.ndarray:
    """Returns by what each word is multiplied to get its share of the two sums, which are linear in all words."""
    weights = np.zeros((2, 2 * pairs), np.uint32)
    first, second = (1, 1), (0, 1)  # shares of the last pair; each one before goes through one step more
    for pair in reversed(range(pairs)):
        for column, share in ((2 * pair, first), (2 * pair + 1, second)):
            weights[:, column] = share
        first, second = _stepped(first), _stepped(second)
    return weights


def _stepped(sums: _Sums) -> _Sums:
    return _checksum(np.zeros(2, np.uint32), sums)
