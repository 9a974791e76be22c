"""Formats of logs, and the recognition of a format."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from llmarena_envs.core.options import OptionError, check_choice
from rating.judgements import Judgement
from rating.readers.inspect import is_inspect, read_inspect
from rating.readers.lm_eval import read_lm_eval
from rating.readers.matrix import is_matrix, read_matrix
from rating.readers.mindgames import COLUMNS as MINDGAMES
from rating.readers.mindgames import read_mindgames
from rating.readers.results import Rejected, Result, name_of
from rating.readers.rows import UnreadableRow, each_row, first_character
from rating.readers.verdicts import PLAYERS, has_pairs, read_debate, read_judgement, read_rows, read_vote
from rating.stats.results import Battle, SeatConduct

AUTO = "auto"

_HEAD_BYTES = 1 << 16
_HEAD_ROWS = 20
_SHOWN_REJECTED = 20
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PAR1": "Parquet",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"SQLite format 3": "a database of SQLite",
}
"""Unsupported binary formats by their first bytes."""


@dataclass
class Log:
    """Results read from files.

    Attributes:
        format: name of the format.
        battles: battles by environment, in file order.
        judgements: verdicts of named judges by environment; verdicts before and after discussion are one judgement.
        conduct: errors by environment, for formats that have them.
        rejected: the first rejected rows.
        num_rejected: number of rejected rows.
    """

    format: str
    battles: dict[str, list[Battle]] = field(default_factory=dict)
    judgements: dict[str, list[Judgement]] = field(default_factory=dict)
    conduct: dict[str, list[SeatConduct]] = field(default_factory=dict)
    rejected: list[Rejected] = field(default_factory=list)
    num_rejected: int = 0


class _Head(NamedTuple):
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
    is_table: bool = False
    columns: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    fault: str = ""


class _Format(NamedTuple):
    """A format.

    Attributes:
        about: short description.
        fits: whether a file with this beginning can be of the format.
        read: yields the results and rejected rows of files; the second argument selects one of several scores.
    """

    about: str
    fits: Callable[[_Head], bool]
    read: Callable[[Sequence[Path], str], Iterator[Result | Rejected]]


def _pairs(name: str, about: str) -> _Format:
    players = PLAYERS[name]
    return _Format(
        about,
        lambda head: has_pairs(head.columns, players),
        lambda paths, _: read_rows(paths, partial(read_vote, players=players)),
    )


def _has(*columns: str) -> Callable[[_Head], bool]:
    return lambda head: {*columns}.issubset(head.columns)


FORMATS: Mapping[str, _Format] = {
    "battles": _pairs("battles", "rows with model_a, model_b and winner"),
    "pairwise": _pairs("pairwise", "rows with left, right and winner"),
    "verdicts": _pairs("verdicts", "rows with a, b, judge and verdict"),
    "auto-arena": _Format(
        "judgement logs of Auto-Arena", _has("gamekey"), lambda paths, _: read_rows(paths, read_debate)
    ),
    "matrix": _Format(
        "tables of wins of the row over the column",
        lambda head: head.is_table and is_matrix(head.columns, head.names),
        read_matrix,
    ),
    "lm-eval": _Format("samples_*.jsonl of lm-evaluation-harness", _has("doc_id", "doc", "resps"), read_lm_eval),
    "mindgames": _Format("games of MindGames and TextArena by player", _has(*MINDGAMES), read_mindgames),
    "inspect": _Format("logs of Inspect", lambda head: is_inspect(head.path, head.start), read_inspect),
}
"""Formats by name."""


def open_log(paths: Sequence[Path], format: str = AUTO, metric: str = "") -> Log:
    """Reads the results in files.

    Args:
        paths: the files, all of one format.
        format: one of ``FORMATS``, or ``auto`` to recognise it.
        metric: the metric to compare, where files hold several scores.

    Raises:
        OptionError: if a file cannot be read, is listed twice or is too large, no single format fits, or no row has a result.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise OptionError("expected every file once, got one of them twice")
    log = Log(_find_format(paths, format))
    unnamed = name_of(paths[0].stem[:100])
    judgements: dict[str, _Judgements] = defaultdict(_Judgements)
    for result in FORMATS[log.format].read(paths, metric):
        if isinstance(result, Rejected):
            log.num_rejected += 1
            if len(log.rejected) < _SHOWN_REJECTED:
                log.rejected.append(result)
            continue
        environment = result.environment or unnamed
        if result.battle is not None:
            log.battles.setdefault(environment, []).append(result.battle)
        if result.conduct:
            log.conduct.setdefault(environment, []).extend(result.conduct)
        judgements[environment].add(result)
    if not log.battles:
        bad = log.rejected[:1]
        first_bad = f"; the first of {log.num_rejected} bad rows: {bad[0].where}: {bad[0].reason}" if bad else ""
        raise OptionError(f"{', '.join(map(str, paths))!s:.300}: expected results of pairs, got none{first_bad}")
    log.judgements = {environment: found for environment, own in judgements.items() if (found := own.found())}
    return log


def read_judgements(paths: Sequence[Path]) -> dict[str, list[Judgement]]:
    """Reads files of judgements, which may be of different formats, by environment; items with one name are one item.

    Raises:
        OptionError: naming file and line, if a file cannot be read or a row has no judgement.
    """
    unnamed = name_of(paths[0].stem[:100])
    judgements: dict[str, _Judgements] = defaultdict(_Judgements)
    for result in read_rows(paths, read_judgement):
        if isinstance(result, Rejected):
            raise OptionError(f"{result.file}, {result.where}: {result.reason}")
        judgements[result.environment or unnamed].add(result)
    return {environment: own.found() for environment, own in judgements.items()} or {unnamed: []}


class _Judgements:
    """Judgements as they are read: verdicts before and after discussion, and lengths of texts, can be in rows of their own."""

    def __init__(self) -> None:
        self._judgements: dict[tuple[str, str], Judgement] = {}
        self._words: dict[str, tuple[float, float]] = {}

    def add(self, result: Result) -> None:
        """Adds the judgement and lengths of a result."""
        if (new := result.judgement) is not None:
            known = self._judgements.setdefault((new.item, new.judge), new)
            if known is not new:
                joined = known._replace(first=new.first) if result.is_first else known._replace(final=new.final)
                self._judgements[new.item, new.judge] = joined
        if result.lengths is not None:
            self._words[result.lengths.item] = result.lengths.words

    def found(self) -> list[Judgement]:
        """Returns the judgements in file order."""
        if not self._words:
            return list(self._judgements.values())
        return [one._replace(words=one.words or self._words.get(one.item)) for one in self._judgements.values()]


def read_battles(path: Path | str | Sequence[Path | str], format: str = AUTO, *, metric: str = "") -> list[Battle]:
    """Reads the battles in a log; rows without a result are skipped.

    Args:
        path: a file, or several where each holds the scores of one model.
        format: one of ``battles``, ``pairwise``, ``verdicts``, ``auto-arena``, ``matrix``, ``lm-eval``, ``mindgames`` and
            ``inspect``, or ``auto`` to recognise it.
        metric: the metric to compare, where files hold several scores.

    Raises:
        OptionError: if a file cannot be read, the format is not recognised, or no row has a result.
    """
    paths = [Path(path)] if isinstance(path, Path | str) else [Path(one) for one in path]
    if not paths:
        raise OptionError("path: expected a file or several, got none")
    return [battle for battles in open_log(paths, format, metric).battles.values() for battle in battles]


def _find_format(paths: Sequence[Path], name: str) -> str:
    """Returns the name of the format of some files.

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
            seen = f"its first columns are {', '.join(head.columns[:12])!r:.200}" if head.columns else head.fault
            raise OptionError(
                f"{path}: no format is recognised, {seen or 'it has no rows'}; say --log-format with one of\n{listed}"
            )
        known = [candidate for candidate in known if candidate in fitting]
        if len(fitting) > 1:
            raise OptionError(f"{path}: this could be of the formats {' or '.join(fitting)}; say --log-format")
        if not known:
            raise OptionError(f"{path}: expected files of one format, got {fitting[0]} behind another; read them apart")
    return known[0]


def _head(path: Path) -> _Head:
    try:
        with path.open("rb") as file:
            start = file.read(_HEAD_BYTES)
    except OSError as error:
        raise OptionError(f"{path}: expected a file of results, but: {error}") from error
    if start.startswith(b"PK"):
        return _Head(path, start)
    packed = next((name for sign, name in _PACKED.items() if start.startswith(sign)), "")
    if packed:
        raise OptionError(f"{path}: expected text or a log of Inspect, got {packed}; unpack or convert it")
    found = list(itertools.islice(each_row(path), _HEAD_ROWS))
    rows = [row for _, row in found if not isinstance(row, UnreadableRow)]
    return _Head(
        path,
        start,
        first_character(path) not in ("{", "["),
        tuple(rows[0]) if rows else (),
        tuple(str(next(iter(row.values()), "")).casefold() for row in rows),
        next((f"{where}: {row.reason}" for where, row in found if isinstance(row, UnreadableRow)), ""),
    )
