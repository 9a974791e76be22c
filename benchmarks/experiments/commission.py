"""Commissions: one author is asked for items in batches; good items are kept, missing ones requested again."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Commission(Generic[Item]):
    """Progress of a commission.

    Attributes:
        batch: items per request.
        calls: maximum number of requests per batch; items still missing afterwards are left out.
        wanted: number of items requested now; 0 at the end.
        left: number of items after the present batch.
        asked: requests for the present batch.
        called: requests in total.
        accepted: items kept.
        surplus: number of good items beyond the requested number.
        refused: reason for each item that was not kept.
    """

    batch: int
    calls: int
    wanted: int
    left: int
    asked: int = 0
    called: int = 0
    accepted: tuple[Item, ...] = ()
    surplus: int = 0
    refused: tuple[str, ...] = ()

    @classmethod
    def begun(cls, count: int, batch: int, calls: int) -> "Commission[Item]":
        """Returns a new commission of ``count`` items."""
        wanted = min(batch, count)
        return cls(batch=batch, calls=calls, wanted=wanted, left=count - wanted)

    def taken(self, good: Sequence[Item], refused: Iterable[str]) -> "Commission[Item]":
        """Returns the progress after a reply.

        Args:
            good: acceptable items of the reply.
            refused: reason for each of its other items.
        """
        kept = tuple(good[: self.wanted])
        after = replace(
            self,
            wanted=self.wanted - len(kept),
            asked=self.asked + 1,
            called=self.called + 1,
            accepted=self.accepted + kept,
            surplus=self.surplus + len(good) - len(kept),
            refused=(*self.refused, *refused),
        )
        if after.wanted and after.asked < self.calls:
            return after
        wanted = min(self.batch, self.left)
        return replace(after, wanted=wanted, left=self.left - wanted, asked=0)

    def statistics(self, names: Mapping[str, str]) -> dict[str, float]:
        """Returns the numbers of drafted and accepted items, and of refused items by reason.

        Args:
            names: names of the statistics, by reason.
        """
        counts = Counter(self.refused)
        return {
            "calls": float(self.called),
            "drafted": float(len(self.accepted) + self.surplus + len(self.refused)),
            "accepted": float(len(self.accepted)),
            "surplus": float(self.surplus),
            **{name: float(counts[reason]) for reason, name in names.items()},
        }


def most_calls(count: int, batch: int, calls: int) -> int:
    """Returns the maximum number of requests for ``count`` items."""
    return math.ceil(count / batch) * calls
