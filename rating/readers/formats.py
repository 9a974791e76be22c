"""Import formats by name, and format detection."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from llmarena_envs.core.options import OptionError, check_choice
from rating.readers import auto_arena, inspect_log, lm_eval, matrix, pairs
from rating.readers.result import Reader, Rejected, RowsOf, name_of
from rating.rows import UnreadableRow, each_row, first_character
from rating.stats.results import Battle

AUTO = "auto"
_HEAD = 1 << 16
_ROWS = 20
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PAR1": "Parquet",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"SQLite format 3": "a database of SQLite",
}
"""Unsupported binary formats by their first bytes."""


class Head(NamedTuple):
    """The beginning of a file.

    Attributes:
        path: the file.
        start: its first bytes.
        is_table: whether it is a table rather than JSON.
        columns: names of the fields of its first rows.
        names: the first cells of those rows.
        fault: reason why the first unreadable row cannot be read; empty without one.
    """

    path: Path
    start: bytes
    is_table: bool
    columns: tuple[str, ...]
    names: tuple[str, ...]
    fault: str = ""


@dataclass(frozen=True)
class Format:
    """An import format.

    Attributes:
        about: short description.
        fits: whether a file with this beginning can be of the format.
        read: reads the files.
    """

    about: str
    fits: Callable[[Head], bool]
    read: Reader


def _by_columns(fits: Callable[[frozenset[str]], bool]) -> Callable[[Head], bool]:
    return lambda head: fits(frozenset(head.columns))


def _is_matrix(head: Head) -> bool:
    others = [name for name in head.columns[1:] if name]
    return head.is_table and len(others) > 1 and sum(name in others for name in head.names) * 2 > len(head.names)


FORMATS = {
    "battles": Format("rows with model_a, model_b and winner", _by_columns(pairs.BATTLES.fits), RowsOf(pairs.BATTLES)),
    "pairwise": Format("rows with left, right and winner", _by_columns(pairs.PAIRWISE.fits), RowsOf(pairs.PAIRWISE)),
    "verdicts": Format("rows with a, b, judge and verdict", _by_columns(pairs.VERDICTS.fits), RowsOf(pairs.VERDICTS)),
    "auto-arena": Format("judgement logs of Auto-Arena", _by_columns(auto_arena.fits), RowsOf(auto_arena.read)),
    "matrix": Format("tables of wins of the row over the column", _is_matrix, matrix.read),
    "lm-eval": Format("samples_*.jsonl of lm-evaluation-harness", _by_columns(lm_eval.fits), lm_eval.read),
    "inspect": Format("logs of Inspect", lambda head: inspect_log.fits(head.path, head.start), inspect_log.read),
}
"""Formats by name."""


def find_format(paths: Sequence[Path], name: str = AUTO) -> str:
    """Returns the name of the format of some files.

    Args:
        paths: the files, all of one format.
        name: the format, or ``auto`` to recognise it.

    Raises:
        OptionError: if the format is unknown, or not exactly one format fits the files.
    """
    if name != AUTO:
        check_choice("format", name, FORMATS)
        return name
    known = list(FORMATS)
    for path in paths:
        head = _head(path)
        fitting = [candidate for candidate in FORMATS if FORMATS[candidate].fits(head)]
        if not fitting:
            listed = "\n".join(f"  {candidate}: {FORMATS[candidate].about}" for candidate in FORMATS)
            raise OptionError(f"{path}: no format is recognised, {_seen(head)}; say --format with one of\n{listed}")
        known = [candidate for candidate in known if candidate in fitting]
        if len(fitting) > 1:
            raise OptionError(f"{path}: this could be of the formats {' or '.join(fitting)}; say --format")
        if not known:
            raise OptionError(
                f"{path}: expected files of one format, got {fitting[0]} behind another; import them apart"
            )
    return known[0]


def _seen(head: Head) -> str:
    """Describes the beginning of a file, for error messages."""
    if head.columns:
        return f"its first columns are {', '.join(head.columns[:12])!r:.200}"
    return head.fault or "it has no rows"


def _head(path: Path) -> Head:
    try:
        with path.open("rb") as file:
            start = file.read(_HEAD)
    except OSError as error:
        raise OptionError(f"{path}: expected a file of results, but: {error}") from error
    if start.startswith(b"PK"):
        return Head(path, start, False, (), ())
    packed = next((name for sign, name in _PACKED.items() if start.startswith(sign)), "")
    if packed:
        raise OptionError(f"{path}: expected text or a log of Inspect, got {packed}; unpack or convert it")
    found = list(itertools.islice(each_row(path), _ROWS))
    rows = [row for _, row in found if not isinstance(row, UnreadableRow)]
    fault = next((f"{where}: {row.reason}" for where, row in found if isinstance(row, UnreadableRow)), "")
    return Head(
        path,
        start,
        first_character(path) not in ("{", "["),
        tuple(rows[0]) if rows else (),
        tuple(str(next(iter(row.values()), "")).casefold() for row in rows),
        fault,
    )


def read_battles(path: Path | str | Sequence[Path | str], format: str = AUTO, *, metric: str = "") -> list[Battle]:
    """Reads the results in an external log; rows without a result are skipped.

    ``llmarena import`` lists the skipped rows and keeps the rest of a log.

    Args:
        path: a file, or several where each holds the scores of one model.
        format: one of ``FORMATS``, or ``auto`` to recognise it.
        metric: the metric to compare, where files hold several scores.

    Raises:
        OptionError: if a file cannot be read, the format is not recognised, or no row has a result.
    """
    paths = [Path(path)] if isinstance(path, Path | str) else [Path(one) for one in path]
    if not paths:
        raise OptionError("path: expected a file or several, got none")
    return [battle for battles in read_environments(paths, format, metric).values() for battle in battles]


def read_environments(paths: Sequence[Path], format: str = AUTO, metric: str = "") -> dict[str, list[Battle]]:
    """Reads the results in external logs by environment; see ``read_battles``."""
    found: dict[str, list[Battle]] = {}
    rejected = []
    for result in FORMATS[find_format(paths, format)].read(paths, metric):
        if isinstance(result, Rejected):
            rejected.append(result)
        elif result.battle is not None:
            found.setdefault(result.environment or unnamed(paths), []).append(result.battle)
    if not found:
        raise nothing_read(paths, rejected)
    return found


def unnamed(paths: Sequence[Path]) -> str:
    """Returns the environment name for files that do not state one: the stem of the first file."""
    return name_of(paths[0].stem[:100])


def nothing_read(paths: Sequence[Path], rejected: Sequence[Rejected]) -> OptionError:
    """Returns the error for files without a result."""
    first = f"; the first of {len(rejected)} bad rows: {rejected[0].where}: {rejected[0].reason}" if rejected else ""
    return OptionError(f"{', '.join(map(str, paths))!s:.300}: expected results of pairs, got none{first}")
