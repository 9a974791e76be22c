"""The rows in the pages of a SQLite file, whether or not anything still leads to them.

SQLite finds a row on a path from the first page of its file through its schema and inner pages; one page of the path that is
gone takes all rows behind it along. Here every page of the file and of its write-ahead log is looked at by itself: the leaf
pages of tables say what they are and hold whole rows. So rows are found that were deleted or replaced long ago as well; which
ones count is for others to say. The format of both files is described at https://www.sqlite.org/fileformat2.html.
"""

import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from rating.records.salvage.medium import Medium

_MAGIC = b"SQLite format 3\0"
_LOG_MAGICS = (0x377F0682, 0x377F0683)
_HEADER, _LOG_HEADER, _FRAME_HEADER = 100, 32, 24
_LEAF = 0x0D
_SIZES = tuple(1 << exponent for exponent in range(9, 17))
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer by its serial type."""
_REAL = 7
_CONSTANTS = {0: None, 8: 0, 9: 1}
"""Values without bytes by their serial type."""
_MOST_COLUMNS = 100
_LEAST_USABLE = 480
"""Bytes of a page that are used, at least."""
_CHAINED = 8
"""How many times its size may be read of a file for rows that go on in other pages: of a sound one that is once or twice."""


class Row(NamedTuple):
    """A row.

    Attributes:
        values: of its columns.
        rowid: its number; of two rows with the same key the later one has the higher number.
        is_current: whether it stands in a page as that was written last, which may be a free page.
    """

    values: tuple[Any, ...]
    rowid: int
    is_current: bool


class Layout(NamedTuple):
    """How a file is divided: bytes of a page, and how many at the end of each are not used."""

    size: int
    reserved: int


class Place(NamedTuple):
    """Where a row stands.

    Attributes:
        layout: of the file.
        in_log: whether its page is in the log.
        page: where the page begins.
        cell: where the row begins in the page.
        follows_log: whether the pages in which it goes on are looked for in the log first.
    """

    layout: Layout
    in_log: bool
    page: int
    cell: int
    follows_log: bool


class _Damaged(Exception):
    """What is no row."""


class Pages:
    """The pages of a database and its write-ahead log; nothing is written, and SQLite opens neither of them.

    Args:
        database: the file.
        log: the log beside it.

    Attributes:
        missing: how many pages the file is shorter than its header says.

    Raises:
        OSError: if one of them is there and cannot be opened.
    """

    def __init__(self, database: Path, log: Path) -> None:
        with ExitStack() as opened:
            self._file = opened.enter_context(Medium(database))
            self._log = opened.enter_context(Medium(log))
            header, log_header = self._file.read(0, _HEADER), self._log.read(0, _LOG_HEADER)
            self._layouts = tuple(dict.fromkeys(_layouts(header, log_header)))
            self._written_last = {layout: self._last_frames(layout, log_header) for layout in self._layouts}
            self._to_chain = _CHAINED * (self._file.size + self._log.size)
            self.missing = max(0, _page_count(header) - self._file.size // self._layouts[0].size)
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    @property
    def unreadable(self) -> int:
        """How many sectors the medium did not give back so far."""
        return self._file.unreadable + self._log.unreadable

    def rows(self) -> Iterator[tuple[Place, Row]]:
        """Yields every row that can be read, and where it stands; linear in the size of the files.

        A row that goes on in other pages comes twice if these are in the log and in the file.
        """
        for layout in self._layouts:
            for page in range(0, self._file.size, layout.size):
                yield from self._rows_in(layout, page, in_log=False)
            for frame in self._frames(layout):
                yield from self._rows_in(layout, frame + _FRAME_HEADER, in_log=True)

    def read(self, place: Place) -> Row:
        """Returns a row again that ``rows`` has yielded."""
        self._to_chain += self._file.size + self._log.size
        row, _ = self._row(place, self._page(place))
        return row

    def _frames(self, layout: Layout) -> range:
        """Returns where each frame of the log begins: a header, and a page behind it."""
        return range(_LOG_HEADER, self._log.size, _FRAME_HEADER + layout.size)

    def _last_frames(self, layout: Layout, log_header: bytes) -> dict[int, int]:
        """Returns where each page of the log, by its number, was written last in a transaction that was completed."""
        last: dict[int, int] = {}
        begun: dict[int, int] = {}
        salts = log_header[16:24] if _is_log(log_header) else self._log.read(_LOG_HEADER, _FRAME_HEADER)[8:16]
        for frame in self._frames(layout):
            header = self._log.read(frame, _FRAME_HEADER)
            number, pages_after_commit = struct.unpack_from(">2I", header)
            if header[8:16] != salts:
                continue  # of a log that was begun anew since
            begun[number] = frame + _FRAME_HEADER
            if pages_after_commit:
                last |= begun
                begun.clear()
        return last

    def _page(self, place: Place) -> bytes:
        return (self._log if place.in_log else self._file).read(place.page, place.layout.size)

    def _rows_in(self, layout: Layout, page: int, *, in_log: bool) -> Iterator[tuple[Place, Row]]:
        data = (self._log if in_log else self._file).read(page, layout.size)
        if data[0] != _LEAF:
            return
        (count,) = struct.unpack_from(">H", data, 3)
        count = min(count, (layout.size - 8) // 2)
        for cell in dict.fromkeys(struct.unpack_from(f">{count}H", data, 8)):
            place = Place(layout, in_log, page, cell, follows_log=True)
            try:
                row, is_chained_in_log = self._row(place, data)
                yield place, row
                if is_chained_in_log:
                    place = place._replace(follows_log=False)
                    yield place, self._row(place, data)[0]
            except (_Damaged, LookupError, struct.error, UnicodeDecodeError):
                continue

    def _row(self, place: Place, data: bytes) -> tuple[Row, bool]:
        """Returns a row, and whether it goes on in a page of the log."""
        length, at = _varint(data, place.cell)
        rowid, at = _varint(data, at)
        local = _local(length, place.layout)
        payload, is_chained_in_log = data[at : at + local], False
        if local < length:
            (following,) = struct.unpack_from(">I", data, at + local)
            rest, is_chained_in_log = self._chain(following, length - local, place)
            payload += rest
        if len(payload) < length:
            raise _Damaged
        return Row(tuple(_values(payload)), rowid, self._is_current(place)), is_chained_in_log

    def _chain(self, number: int, length: int, place: Place) -> tuple[bytes, bool]:
        """Returns so many bytes of the pages that begin with one and go on where each says, and whether the log had any."""
        usable = place.layout.size - place.layout.reserved
        written_last = self._written_last[place.layout] if place.follows_log else {}
        parts, is_in_log = [], False
        while length > 0 and number > 0:
            self._to_chain -= place.layout.size
            if self._to_chain < 0 or length > self._file.size + self._log.size:
                raise _Damaged
            frame = written_last.get(number)
            if frame is None:
                page = self._file.read((number - 1) * place.layout.size, place.layout.size)
            else:
                page, is_in_log = self._log.read(frame, place.layout.size), True
            (number,) = struct.unpack_from(">I", page)
            parts.append(page[4 : min(usable, 4 + length)])
            length -= len(parts[-1])
        return b"".join(parts), is_in_log

    def _is_current(self, place: Place) -> bool:
        written_last = self._written_last[place.layout]
        if place.in_log:
            number = struct.unpack(">I", self._log.read(place.page - _FRAME_HEADER, 4))[0]
            return written_last.get(number) == place.page
        return place.page // place.layout.size + 1 not in written_last


def _layouts(header: bytes, log_header: bytes) -> Iterator[Layout]:
    """Yields every layout that is spoken for, the likeliest first."""
    if header.startswith(_MAGIC):
        size = int.from_bytes(header[16:18]) & ~1 | (header[17] & 1) << 16
        if size in _SIZES and header[20] <= size - _LEAST_USABLE:
            yield Layout(size, header[20])
    if _is_log(log_header) and (size := int.from_bytes(log_header[8:12])) in _SIZES:
        yield Layout(size, 0)
    yield Layout(4096, 0)  # as SQLite makes files unless it is told otherwise


def _is_log(header: bytes) -> bool:
    return int.from_bytes(header[:4]) in _LOG_MAGICS


def _page_count(header: bytes) -> int:
    """Returns how many pages a header says that there are; 0 where it does not say."""
    return int.from_bytes(header[28:32]) if header.startswith(_MAGIC) and header[24:28] == header[92:96] else 0


def _local(length: int, layout: Layout) -> int:
    """Returns how many bytes of a row stand in its leaf page."""
    usable = layout.size - layout.reserved
    if length <= usable - 35:
        return length
    least = (usable - 12) * 32 // 255 - 23
    local = least + (length - least) % (usable - 4)
    return local if local <= usable - 35 else least


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Returns an integer of variable length, and where it ends."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9


def _values(payload: bytes) -> Iterator[str | bytes | int | float | None]:
    """Yields the values of a row."""
    at, (end, place) = 0, _varint(payload, 0)
    at = end
    for _ in range(_MOST_COLUMNS):
        if place >= end:
            break
        kind, place = _varint(payload, place)
        length = (kind - 12) // 2 if kind >= 12 else 8 if kind == _REAL else _INTEGERS.get(kind, 0)
        data, at = payload[at : at + length], at + length
        if kind >= 12:
            yield data.decode() if kind % 2 else data
        elif kind in _INTEGERS:
            yield int.from_bytes(data, signed=True)
        else:
            yield struct.unpack(">d", data)[0] if kind == _REAL else _CONSTANTS[kind]
    if place != end or at != len(payload):
        raise _Damaged
