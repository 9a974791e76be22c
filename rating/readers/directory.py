"""The import directory: manifest, results, judgements and rejected rows.

| file | content |
|---|---|
| ``import.json`` | format, files with size and SHA-256, counts; written last |
| ``battles.csv`` | environment, first, second, score of the first, deal, weight, style as JSON; one result per line |
| ``judgements.csv`` | the results as verdicts of named judges; only if there are any |
| ``rejected.csv`` | file, place, reason and beginning of every rejected row |

The same input files give the same bytes.
"""

import csv
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.errors import RunError
from rating.judgements import Judgement, read_label
from rating.readers.formats import AUTO, FORMATS, find_format, nothing_read, unnamed
from rating.readers.result import Rejected, Result
from rating.readers.style import read_style
from rating.stats.results import NO_STYLE, Battle, check_battle
from rating.store.imported import MANIFEST

BATTLES = "battles.csv"
JUDGEMENTS = "judgements.csv"
REJECTED = "rejected.csv"

_VERSION = 2
_BATTLE = ("environment", "first", "second", "score", "deal", "weight", "style")
_JUDGEMENT = ("environment", "item", "judge", "first", "final", "a", "b", "words_a", "words_b", "contest")
_REJECTED = ("file", "where", "reason", "row")


@dataclass(frozen=True)
class SourceFile:
    """An imported file.

    Attributes:
        name: path relative to the common directory of all files.
        size: in bytes.
        sha256: hexadecimal digest.
    """

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """The manifest of an import.

    Attributes:
        format: name of the format.
        seated: whether the first policy of a row had the first seat or was shown first.
        metric: the compared metric, for files of scores; empty otherwise.
        files: the imported files.
        environments: number of results by environment.
        policies: number of policies.
        battles: number of results.
        judgements: number of verdicts of named judges.
        rejected: number of rejected rows.
    """

    format: str
    seated: bool
    metric: str
    files: tuple[SourceFile, ...]
    environments: dict[str, int]
    policies: int
    battles: int
    judgements: int
    rejected: int


def write_import(
    paths: Sequence[Path],
    directory: Path,
    *,
    format: str = AUTO,
    seated: bool = False,
    metric: str = "",
    shown: int = 20,
) -> tuple[Manifest, list[Rejected]]:
    """Reads files and writes the import directory.

    Args:
        paths: the files, all of one format.
        directory: the target directory; must be missing or empty.
        format: of the files.
        seated: whether the first policy of a row had the first seat or was shown first.
        metric: the metric to compare, for files of scores.
        shown: number of rejected rows to return.

    Returns:
        The manifest, and the first rejected rows.

    Raises:
        OptionError: if the files cannot be read or hold no result; nothing is written.
        RunError: if the directory is not empty.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise RunError(f"{directory}: expected a new or empty directory, but it holds something")
    format = find_format(paths, format)
    files = _source_files(paths)
    is_new = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with ExitStack() as stack:
            writer = _Writer(
                stack, directory, {path: file.name for path, file in zip(paths, files, strict=True)}, shown
            )
            for result in FORMATS[format].read(paths, metric):
                writer.add(result)
            if not writer.environments:
                raise nothing_read(paths, writer.first_rejected)
        manifest = Manifest(
            format,
            seated,
            metric,
            files,
            dict(sorted(writer.environments.items())),
            len(writer.policies),
            sum(writer.environments.values()),
            writer.judgements,
            writer.rejected,
        )
        if not manifest.judgements:
            (directory / JUDGEMENTS).unlink()
        text = json.dumps({"version": _VERSION, **asdict(manifest)}, indent=2, ensure_ascii=False)
        (directory / MANIFEST).write_text(text + "\n", encoding="utf-8", newline="\n")
    except BaseException:
        for name in (BATTLES, JUDGEMENTS, REJECTED, MANIFEST):
            (directory / name).unlink(missing_ok=True)
        if is_new:
            directory.rmdir()
        raise
    return manifest, writer.first_rejected


class _Writer:
    """Writes results as they are read.

    Args:
        stack: closes the files.
        directory: the target directory.
        names: names of the input files, by path.
        shown: number of rejected rows to keep.
    """

    def __init__(self, stack: ExitStack, directory: Path, names: dict[Path, str], shown: int) -> None:
        self._names, self._shown = names, shown
        self._unnamed = unnamed(list(names))
        self.environments: Counter[str] = Counter()
        self.policies: set[str] = set()
        self.judgements = 0
        self.rejected = 0
        self.first_rejected: list[Rejected] = []
        self._battles = _table(stack, directory / BATTLES, _BATTLE)
        self._judgements = _table(stack, directory / JUDGEMENTS, _JUDGEMENT)
        self._rejected = _table(stack, directory / REJECTED, _REJECTED)

    def add(self, result: Result | Rejected) -> None:
        """Writes a result or a rejected row."""
        if isinstance(result, Rejected):
            self.rejected += 1
            if len(self.first_rejected) < self._shown:
                self.first_rejected.append(result)
            self._rejected.writerow((self._names[result.file], result.where, result.reason, result.text))
            return
        environment = result.environment or self._unnamed
        if (battle := result.battle) is not None:
            self.environments[environment] += 1
            self.policies.update(battle[:2])
            style = json.dumps(battle.style, ensure_ascii=False) if battle.style else ""
            self._battles.writerow((environment, *battle[:-1], style))
        if (said := result.judgement) is not None:
            self.judgements += 1
            words = said.words or ("", "")
            self._judgements.writerow(
                (environment, said.item, said.judge, said.first, said.final, *said.players, *words, said.contest)
            )


def _table(stack: ExitStack, path: Path, header: Sequence[str]) -> Any:
    file = stack.enter_context(path.open("w", encoding="utf-8", errors="backslashreplace", newline=""))
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    return writer


def _source_files(paths: Sequence[Path]) -> tuple[SourceFile, ...]:
    """Returns names, sizes and digests of files.

    Raises:
        OptionError: if a file cannot be read or is listed twice.
    """
    absolute = [path.resolve() for path in paths]
    if len(set(absolute)) < len(absolute):
        raise OptionError("expected every file once, got one of them twice")
    common = Path(os.path.commonpath([path.parent for path in absolute]))
    files = []
    for path in absolute:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        files.append(SourceFile(printable(path.relative_to(common).as_posix()), path.stat().st_size, digest))
    return tuple(files)


def read_manifest(directory: Path) -> Manifest:
    """Reads the manifest of an import.

    Raises:
        RunError: if the directory holds no import, or a damaged one.
    """
    try:
        table = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        if table.pop("version") != _VERSION:
            raise ValueError(f"expected version {_VERSION}")
        files = tuple(SourceFile(**file) for file in table.pop("files"))
        return Manifest(files=files, **table)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RunError(f"{directory / MANIFEST}: expected what `llmarena import` wrote, but: {error}") from error


def load_battles(directory: Path, *, styled: bool = False) -> dict[str, list[Battle]]:
    """Reads the results of an import by environment, in log order.

    Args:
        directory: of the import.
        styled: whether to read the style of the texts, which takes memory.

    Raises:
        RunError: if the file is damaged.
    """
    found: dict[str, list[Battle]] = {}
    known: dict[str, str] = {}

    def shared(text: str) -> str:
        return known.setdefault(text, text)

    with _rows(directory / BATTLES, _BATTLE) as rows:
        for environment, first, second, score, deal, weight, style in rows:
            counts = read_style({"style": style}) if styled and style else NO_STYLE
            battle = Battle(shared(first), shared(second), float(score), shared(deal), float(weight), counts)
            check_battle(battle)
            found.setdefault(environment, []).append(battle)
    return found


def load_judgements(directory: Path) -> dict[str, list[Judgement]]:
    """Reads the judgements of an import by environment, merging the verdicts of a judge before and after discussion.

    Raises:
        RunError: if the file is damaged.
    """
    found: dict[str, dict[tuple[str, str], Judgement]] = {}
    if not (directory / JUDGEMENTS).exists():
        return {}
    with _rows(directory / JUDGEMENTS, _JUDGEMENT) as rows:
        for environment, item, judge, first, final, a, b, words_a, words_b, contest in rows:
            known = found.setdefault(environment, {})
            words = (float(words_a), float(words_b)) if words_a else None
            said = known.get((item, judge)) or Judgement(
                item, judge, None, players=(a, b), words=words, contest=contest
            )
            known[item, judge] = said._replace(
                first=read_label(first) if first else said.first, final=read_label(final) if final else said.final
            )
    return {environment: list(cases.values()) for environment, cases in found.items()}


@contextmanager
def _rows(path: Path, header: Sequence[str]) -> Iterator[Iterator[list[str]]]:
    """Yields the rows of a table of an import.

    Raises:
        RunError: if the file is not such a table, or the caller finds an invalid row.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            if next(reader, []) != list(header):
                raise ValueError(f"expected the columns {', '.join(header)}")
            yield reader
    except (OSError, ValueError, csv.Error, OptionError) as error:
        raise RunError(f"{path}: expected what `llmarena import` wrote, but: {error}") from error
