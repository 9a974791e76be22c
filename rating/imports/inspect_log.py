"""Logs of Inspect: ``.eval`` (a ZIP of JSON) or ``.json``, each with the scores of one model on the samples of a task.

Of an archive only the header and the summaries of the samples are read, or the samples where there are no summaries. What is
read is bounded, whatever the archive says of its sizes.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.imports.result import Rejected, Result, case_name, name_of
from rating.imports.scored import Case, Metrics
from rating.judgements.labels import NOTHING

_LARGEST = 1 << 29
"""Bytes of JSON that are read of one log."""

_VALUES = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
"""Grades and answers that stand for numbers: correct, partially correct, incorrect, no answer."""


def fits(path: Path, head: bytes) -> bool:
    """Says whether a file that begins so can be of the format."""
    if head.startswith(b"PK"):
        return True
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and b'"eval"' in head and b'"task"' in head and path.suffix == ".json"


def read(paths: Sequence[Path], metric: str) -> Iterator[Result | Rejected]:
    """Yields a result for every sample that two models have in common; epochs of a sample are averaged.

    Raises:
        OptionError: if a file is no log, no two models share a sample, or the metric is not known.
    """
    metrics = Metrics()
    for path in paths:
        try:
            header, samples = _archive(path) if zipfile.is_zipfile(path) else _json_log(path)
            about = header["eval"]
            model, task = name_of(str(about["model"])), name_of(str(about["task"]))
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise OptionError(
                f"{path}: expected a log of Inspect, but: {error}; `inspect log convert --to json` writes one that can be read"
            ) from error
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise OptionError(
                f"{path}: expected a log of Inspect with eval.model and eval.task, but: {error!r:.100}"
            ) from error
        for number, sample in enumerate(samples, 1):
            where = f"sample {number}"
            scores = _scores(sample)
            if not scores:
                reason = "expected an id and a score that is a number or a grade"
                yield Rejected(path, where, reason, str(sample)[:200])
                continue
            for name, value in scores.items():
                metrics.add(name, Case(task, case_name(str(sample["id"]))), model, value)
    yield from metrics.results(metric)


def _scores(sample: Any) -> dict[str, float]:
    """Returns the scores of a sample by scorer, or by scorer and key where a scorer gives several."""
    match sample:
        case {"id": str() | int(), "scores": dict(scores)}:
            pass
        case _:
            return {}
    found: dict[str, float] = {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, Mapping) else score
        parts = {f"{scorer}/{key}": part for key, part in value.items()} if isinstance(value, dict) else {scorer: value}
        found |= {name: number for name, part in parts.items() if (number := _number(part)) is not None}
    return found


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in _VALUES:
            return _VALUES[word]
        try:
            return None if word in NOTHING else float(word)
        except ValueError:
            return None
    return float(value) if isinstance(value, int | float) else None


def _json_log(path: Path) -> tuple[Any, list[Any]]:
    with path.open("rb") as file:
        log = _parsed(file.read(_LARGEST + 1))
    return log, log["samples"]


def _archive(path: Path) -> tuple[Any, list[Any]]:
    budget = _LARGEST
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()

        def member(name: str) -> Any:
            nonlocal budget
            with archive.open(name) as file:
                data = file.read(budget + 1)
            parsed = _parsed(data, budget)
            budget -= len(data)
            return parsed

        header = member(next(name for name in ("header.json", "_journal/start.json", "start.json") if name in names))
        for name in ("summaries.json", "summary.json"):
            if name in names:
                return header, member(name)
        return header, [
            member(name) for name in sorted(names) if name.startswith("samples/") and name.endswith(".json")
        ]


def _parsed(data: bytes, most: int = _LARGEST) -> Any:
    if len(data) > most:
        raise ValueError(f"more than {_LARGEST} bytes of JSON")
    return json.loads(data, parse_constant=lambda _: None)
