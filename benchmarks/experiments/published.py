"""Published figures of a paper, stored unchanged as data."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

from benchmarks.experiments.tables import PUBLISHED, Column, Table

Kind = Literal["text", "picture", "repository", "computed"]
"""Where the numbers of a table were found."""

_REMARKS: Mapping[str, str] = {
    "text": "",
    "picture": " (read off the picture)",
    "repository": " (the authors' repository, not the paper)",
    "computed": " (computed, not printed)",
}


@dataclass(frozen=True)
class Published:
    """One table or figure of a paper.

    Attributes:
        source: paper and place, with a remark where the numbers are not in the text.
        columns: titles of the numbers in a row.
        rows: numbers by model, as printed; ``None`` for an empty cell.
        notes: misprints and other reservations.
        kind: where the numbers were found; ``"text"`` includes printed tables.
    """

    source: str
    columns: Sequence[str]
    rows: Mapping[str, Sequence[float | None]]
    notes: Sequence[str] = ()
    kind: Kind = "text"

    def table(self, name: str, title: str, key: str, decimals: int = 2) -> Table:
        """Returns the figures as a table.

        Args:
            name: of the table.
            title: of the table.
            key: heading of the models.
            decimals: of the numbers.
        """
        return Table(
            name,
            title,
            [Column(key), *(Column(column, PUBLISHED, decimals) for column in self.columns)],
            [[model, *numbers] for model, numbers in self.rows.items()],
            [f"published: {self.source}", *self.notes],
        )


def load_published(package: str) -> dict[str, Published]:
    """Reads ``published.json`` of a package.

    Returns:
        Tables and figures by key.

    Raises:
        ValueError: if a row lacks a number for a column, or the kind of a table is unknown.
    """
    text = resources.files(package).joinpath("published.json").read_text(encoding="utf-8")
    return {key: _table(key, value) for key, value in json.loads(text).items()}


def _table(key: str, value: dict[str, Any]) -> Published:
    kind: Any = value.get("kind")
    if kind not in _REMARKS:
        raise ValueError(f"{key}: expected the kind {', '.join(_REMARKS)}, got {kind}")
    source = value["source"] + _REMARKS[kind]
    table = Published(source, value["columns"], value["rows"], value.get("notes", ()), kind)
    for model, numbers in table.rows.items():
        if len(numbers) != len(table.columns):
            raise ValueError(f"{key}: expected {len(table.columns)} numbers for {model}, got {len(numbers)}")
    return table
