"""Logs of lm-evaluation-harness: files ``samples_TASK_DATE.jsonl`` with the metrics of one model on each document of a task.

A file does not say whose it is: the ``results_DATE.json`` beside it does, or else the name of its directory.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from llmarena_envs.core.options import OptionError
from rating.imports.result import Rejected, Result, case_name, name_of
from rating.imports.scored import Case, Metrics
from rating.judgements.rows import Fault, each_row

_OTHERS = ("doc_id", "doc", "doc_hash", "target", "target_hash", "arguments", "prompt_hash", "resps", "filtered_resps")
_NO_METRICS = frozenset((*_OTHERS, "filter", "metrics"))
_FILE = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]{1,40}))?")
_LARGEST_SUMMARY = 1 << 26


def fits(columns: frozenset[str]) -> bool:
    """Says whether a row with these columns can be of the format."""
    return columns.issuperset(("doc_id", "doc", "resps"))


def read(paths: Sequence[Path], metric: str) -> Iterator[Result | Rejected]:
    """Yields a result for every document that two models have in common.

    Raises:
        OptionError: if two files are of the same model and task, no two models share a document, or the metric is not known.
    """
    metrics = Metrics()
    owners: dict[tuple[str, str], Path] = {}
    for path in paths:
        task, model = _origin(path)
        before = owners.setdefault((task, model), path)
        if before != path:
            raise OptionError(
                f"{path}: expected one file of {model} for {task}, but {before} is another one; put each into a directory that is"
                " called like its model"
            )
        for where, row in each_row(path):
            if isinstance(row, Fault):
                yield Rejected(path, where, row.reason, row.text)
                continue
            found = _metrics(row)
            document = row.get("doc_hash") or row.get("doc_id")
            if not found or not isinstance(document, str | int):
                reason = "expected a doc_hash or a doc_id, and a metric that is a number"
                yield Rejected(path, where, reason, str(row)[:200])
                continue
            for name, value in found.items():
                metrics.add(name, Case(task, case_name(str(document))), model, value)
    yield from metrics.results(metric)


def _metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """Returns the metrics of a row by name, with the filter through which the reply was read where it has one."""
    named = row.get("metrics")
    names = named if isinstance(named, list) else [name for name in row if name not in _NO_METRICS]
    kind = row.get("filter")
    suffix = f",{kind}" if isinstance(kind, str) and kind not in ("", "none") else ""
    values = ((name, row.get(name)) for name in names if isinstance(name, str))
    return {f"{name}{suffix}": float(value) for name, value in values if isinstance(value, int | float)}


def _origin(path: Path) -> tuple[str, str]:
    """Returns the task and the model of a file."""
    known = _FILE.fullmatch(path.stem)
    task = known["task"] if known else path.stem
    summary = path.with_name(f"results_{known['date']}.json") if known and known["date"] else None
    model = _model(summary) if summary and summary.is_file() else ""
    return name_of(task), name_of(model or path.resolve().parent.name)


def _model(summary: Path) -> str:
    """Returns the name of the model in the file of its results; empty if it is not there."""
    if summary.stat().st_size > _LARGEST_SUMMARY:
        return ""
    try:
        name = json.loads(summary.read_text(encoding="utf-8")).get("model_name")
    except (ValueError, RecursionError, AttributeError):
        return ""
    return name if isinstance(name, str) else ""
