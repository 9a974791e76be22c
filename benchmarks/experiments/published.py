"""Figures that a paper has published, kept unchanged as data beside the scripts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any


@dataclass(frozen=True)
class Published:
    """One table or figure of a paper.

    Attributes:
        source: paper and place.
        columns: what the numbers of a row are.
        rows: numbers by model, as printed; ``None`` where nothing is.
        notes: misprints and what else does not hold of it.
    """

    source: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[float | None]]
    notes: Sequence[str] = ()


def load_published(package: str) -> dict[str, Published]:
    """Reads ``published.json`` of a package.

    Returns:
        Tables and figures by key.

    Raises:
        ValueError: if a row has not a number for every column.
    """
    text = resources.files(package).joinpath("published.json").read_text(encoding="utf-8")
    return {key: _table(key, value) for key, value in json.loads(text).items()}


def _table(key: str, value: dict[str, Any]) -> Published:
    table = Published(value["source"], value["columns"], value["rows"], value.get("notes", ()))
    for model, numbers in table.rows.items():
        if len(numbers) != len(table.columns):
            raise ValueError(f"{key}: expected {len(table.columns)} numbers for {model}, got {len(numbers)}")
    return table
