"""Rows of deals only: the deals of recorded matches, to be played by a model in training."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rating.store.record import Record
from rating.training.columns import ORIGIN, deal_columns
from rating.training.selection import Tally


@dataclass(frozen=True)
class Deals:
    """The format of deals: environment, options and seed of matches, with every seat free."""

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a row and their types."""
        return {**ORIGIN, "matches": "int32"}

    def rows(self, records: Iterable[Record], tally: Tally) -> Iterator[dict[str, Any]]:
        """Yields every deal once, with its number of matches."""
        deals: dict[str, dict[str, Any]] = {}
        matches: Counter[str] = Counter()
        for record in records:
            try:
                deal = deal_columns(record.match)
            except ValueError as error:
                tally.damaged(f"match {record.match.number} of {record.match.environment}", str(error))
                continue
            tally.take(record.match)
            deals.setdefault(deal["group"], deal)
            matches[deal["group"]] += 1
        for group, deal in deals.items():
            yield {**deal, "matches": matches[group]}
