"""Logs of Inspect: ``.eval`` (a ZIP of JSON) or ``.json``, each with the scores of one model on the samples of a task.

From an archive only the header and the sample summaries are read, or the samples if there are no summaries. The amount of data
read is bounded, regardless of the sizes in the archive.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.judgements import NOTHING
from rating.readers.results import Rejected, Result, case_name, name_of
from rating.readers.scores import Case, Metrics, plain_number

_LARGEST = 1 << 28
"""Largest JSON document to read, in bytes: a log, or a member of an archive."""

_MOST = 1 << 33
"""Most bytes of JSON to read from one archive."""

_HEADERS = ("header.json", "_journal/start.json", "start.json")
_VALUES = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0, "true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
"""Numbers for grades and answers: correct, partially correct, incorrect, no answer."""


def is_inspect(path: Path, head: bytes) -> bool:
    """Returns whether a file with this beginning can be of the format."""
    if head.startswith(b"PK"):
        return True
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"{") and b'"eval"' in head and b'"task"' in head and path.suffix == ".json"


def read_inspect(paths: Sequence[Path], metric: str) -> Iterator[Result | Rejected]:
    """Yields a result for every sample shared by two models; epochs of a sample are averaged.

    Raises:
        OptionError: if a file is not a log, no two models share a sample, or the metric is unknown.
    """
    metrics = Metrics()
    for path in paths:
        try:
            header, samples = _archive(path) if _is_archive(path) else _json_log(path)
            about = header["eval"]
            if not isinstance(samples, list):
                raise TypeError("it has no list of samples")
            model, task = name_of(str(about["model"])), name_of(str(about["task"]))
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise OptionError(
                f"{path}: expected a log of Inspect, but: {error}; `inspect log convert --to json` writes one that can be read"
            ) from error
        except (LookupError, AttributeError, TypeError, ValueError, RecursionError) as error:
            raise OptionError(
                f"{path}: expected a log of Inspect with eval.model and eval.task, but: {error!r:.200}"
            ) from error
        for number, sample in enumerate(samples, 1):
            scores = _scores(sample)
            if not scores:
                yield Rejected(path, f"sample {number}", "expected an id and a score that is a number or a grade")
                continue
            for name, value in scores.items():
                metrics.add(name, Case(task, case_name(str(sample["id"]))), model, value)
    yield from metrics.results(metric)


def _scores(sample: Any) -> dict[str, float]:
    """Returns the scores of a sample by scorer, or by scorer and key if a scorer gives several."""
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
            value = None if word in NOTHING else float(word)
        except ValueError:
            return None
    return plain_number(value)


def _is_archive(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _json_log(path: Path) -> tuple[Any, Any]:
    with path.open("rb") as file:
        log = _parsed(file.read(_LARGEST + 1), _LARGEST)
    return log, log["samples"]


def _archive(path: Path) -> tuple[Any, Any]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        header = _member(archive, next((name for name in _HEADERS if name in names), _HEADERS[0]))
        for name in ("summaries.json", "summary.json"):
            if name in names:
                return header, _member(archive, name)
        budget, samples = _MOST, []
        for name in sorted(set(names)):  # a sample that was scored again is listed twice; zipfile opens the later one
            if name.startswith("samples/") and name.endswith(".json"):
                sample = _member(archive, name, budget)
                budget -= archive.getinfo(name).file_size
                samples.append(
                    {key: sample.get(key) for key in ("id", "scores")} if isinstance(sample, dict) else sample
                )
        return header, samples


def _member(archive: zipfile.ZipFile, name: str, budget: int = _MOST) -> Any:
    most = min(_LARGEST, budget)
    with archive.open(name) as file:
        return _parsed(file.read(max(0, most) + 1), most)


def _parsed(data: bytes, most: int) -> Any:
    if len(data) > most:
        raise ValueError(
            f"more than {most} bytes of JSON; `inspect log convert --to eval` makes a log of which less is read"
        )
    return json.loads(data, parse_constant=lambda _: None)
