"""Exports of matches: JSON lines with complete records, CSV with one row per seat."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any, TextIO

from llmarena_envs.core.failures import Failure
from rating.store.records import Record

FAILURES = tuple(
    kind.name.lower() for kind in Failure if kind not in (Failure.OK, Failure.PROVIDER, Failure.ENVIRONMENT_BUG)
)
_OF_SEATS = (
    *("reward", "turns", "forfeit", "reasks", "fallbacks"),
    *("prompt_tokens", "completion_tokens", "reasoning_tokens", "unknown_usage"),
)
_COLUMNS = ("match", "environment", "number", "seed", "status", "seat", "policy", *_OF_SEATS, *FAILURES)


def record_table(record: Record) -> dict[str, Any]:
    """Returns a record as a dictionary of JSON values."""
    return {
        "id": record.match.id,
        "match": asdict(record.match),
        "status": record.status,
        "outcome": asdict(record.outcome) if record.outcome else None,
        "digest": record.digest,
        "tries": record.tries,
        "error": record.error,
        "turns": [asdict(turn) for turn in record.turns],
    }


def write_jsonl(records: Iterable[Record], file: TextIO) -> None:
    """Writes one record per line."""
    for record in records:
        file.write(json.dumps(record_table(record), ensure_ascii=False, sort_keys=True) + "\n")


def write_csv(records: Iterable[Record], file: TextIO) -> None:
    """Writes one row for every seat of every match."""
    writer = csv.DictWriter(file, fieldnames=_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerows(_rows(record))


def _rows(record: Record) -> Iterator[dict[str, Any]]:
    match = record.match
    for seat, policy in enumerate(match.policies):
        row: dict[str, Any] = {
            "match": match.id, "environment": match.environment, "number": match.number, "seed": match.seed,
            "status": record.status, "seat": seat, "policy": policy,
        }  # fmt: skip
        if record.outcome:
            result = record.outcome.seats[seat]
            row |= {name: getattr(result, name) for name in _OF_SEATS}
            row |= {name: result.failures.get(name, 0) for name in FAILURES}
        yield row
