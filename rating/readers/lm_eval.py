"""Logs of lm-evaluation-harness: files ``samples_TASK_DATE.jsonl`` with one model's metrics on each document of a task.

The model name comes from the ``results_DATE.json`` in the same directory, or else from the directory name. ``results_DATE.json``
also lists the metrics where less is better.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.readers.results import Rejected, Result, case_name, name_of
from rating.readers.rows import UnreadableRow, each_row
from rating.readers.scores import Case, Metrics, plain_number

_OTHERS = ("doc_id", "doc", "doc_hash", "target", "target_hash", "arguments", "prompt_hash", "resps", "filtered_resps")
_NO_METRICS = frozenset((*_OTHERS, "filter", "metrics"))
_FILE = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]{1,40}))?")
_LARGEST_SUMMARY = 1 << 26


def read_lm_eval(paths: Sequence[Path], metric: str) -> Iterator[Result | Rejected]:
    """Yields a result for every document shared by two models.

    Raises:
        OptionError: if two files are of the same model and task, no two models share a document, or the metric is
            unknown.
    """
    metrics = Metrics()
    owners: dict[tuple[str, str], Path] = {}
    origins = [_origin(path) for path in paths]
    falling = {(task, name) for task, _, names in origins for name in names}
    for path, (task, model, _) in zip(paths, origins, strict=True):
        before = owners.setdefault((task, model), path)
        if before != path:
            raise OptionError(
                f"{path}: expected one file of {model} for {task}, but {before} is another one; put each into a directory that is"
                " called like its model"
            )
        for where, row in each_row(path):
            if isinstance(row, UnreadableRow):
                yield Rejected(path, where, row.reason)
                continue
            found = _metrics(row)
            document = row.get("doc_hash") or row.get("doc_id")
            if not found or not isinstance(document, str | int):
                yield Rejected(path, where, "expected a doc_hash or a doc_id, and a metric that is a number")
                continue
            for name, value in found.items():
                sign = -1 if (task, name.split(",")[0]) in falling else 1
                metrics.add(name, Case(task, case_name(str(document))), model, sign * value)
    yield from metrics.results(metric)


def _metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """Returns the metrics of a row by name, with the reply filter as a suffix if there is one."""
    named = row.get("metrics")
    names = named if isinstance(named, list) else [name for name in row if name not in _NO_METRICS]
    kind = row.get("filter")
    suffix = f",{kind}" if isinstance(kind, str) and kind not in ("", "none") else ""
    values = ((name, plain_number(row.get(name))) for name in names if isinstance(name, str))
    return {f"{name}{suffix}": value for name, value in values if value is not None}


def _origin(path: Path) -> tuple[str, str, frozenset[str]]:
    """Returns task and model of a file, and the metrics where less is better."""
    known = _FILE.fullmatch(path.stem)
    task = known["task"] if known else path.stem
    summary = path.with_name(f"results_{known['date']}.json") if known and known["date"] else None
    told = _summary(summary) if summary and summary.is_file() else {}
    model, rising = told.get("model_name"), told.get("higher_is_better")
    directions = rising.get(task) if isinstance(rising, dict) else None
    falling = (
        [name for name, is_rising in directions.items() if is_rising is False] if isinstance(directions, dict) else []
    )
    known_model = model if isinstance(model, str) and model else path.resolve().parent.name
    return name_of(task), name_of(known_model), frozenset(falling)


def _summary(path: Path) -> dict[str, Any]:
    """Returns the content of a results file; empty if it cannot be read."""
    if path.stat().st_size > _LARGEST_SUMMARY:
        return {}
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
