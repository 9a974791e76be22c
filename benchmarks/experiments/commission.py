"""Commissions: items that one author is asked for by batches; what is good is kept, what is missing asked for again."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Commission(Generic[Item]):
    """How far a commission is.

    Attributes:
        batch: how many items are asked for at once.
        calls: how often a batch is asked for at most; what is missing then is left out.
        wanted: number of items that are asked for now; 0 at the end.
        left: number of those that come after the present batch.
        asked: how often the present batch was asked for.
        called: how often anything was.
        accepted: items kept.
        surplus: number of good items beyond what was asked for.
        refused: why each of the others was not kept.
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
        """Returns a commission of ``count`` items at its beginning."""
        wanted = min(batch, count)
        return cls(batch=batch, calls=calls, wanted=wanted, left=count - wanted)

    def taken(self, good: Sequence[Item], refused: Iterable[str]) -> "Commission[Item]":
        """Returns how far it is after a reply.

        Args:
            good: items of the reply that can be kept.
            refused: why each of its others cannot.
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
        """Returns what was drafted and kept, and the items refused by reason.

        Args:
            names: of the statistics, by reason.
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
    """Returns how often an author is asked at most for ``count`` items."""
    return math.ceil(count / batch) * calls
