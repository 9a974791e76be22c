"""Running mean with a confidence interval."""

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rating.stats.estimates import half_width_by_size

_ROUNDING = 1e-12
"""Relative tolerance for rounding errors in the sums of deals, e.g. of 0.1 + 0.2 from 0.3."""


@dataclass
class _SameSize:
    """The deals with the same number of values.

    Attributes:
        deals: number of deals.
        sums: total of the sums of their values.
        squares: total of the squares of these sums.
    """

    deals: int = 0
    sums: float = 0.0
    squares: float = 0.0

    def count(self, total: float, sign: int) -> None:
        """Adds a deal with this sum of values, or removes it if the sign is -1."""
        self.deals += sign
        self.sums += sign * total
        self.squares += sign * total * total


class RunningMean:
    """A running mean with an interval clustered by deal.

    A deal may grow at any time; an incomplete one has less weight. Sums are of differences from the first value, which limits
    rounding errors for large and similar values. The cost of the interval does not depend on the number of values.

    Attributes:
        n: number of values.
        mean: their mean; 0 without values.
    """

    def __init__(self) -> None:
        self.n, self.mean = 0, 0.0
        self._origin, self._largest = 0.0, 0.0
        self._deals: dict[Hashable, tuple[int, float]] = {}
        self._by_size: dict[int, _SameSize] = {}

    @property
    def deals(self) -> int:
        """Number of deals."""
        return len(self._deals)

    def add(self, value: float, deal: Hashable = None) -> None:
        """Adds a value.

        Args:
            value: a finite number.
            deal: deal of the value, e.g. the seed of its match; ``None`` for a deal of its own.
        """
        self._origin = self._origin if self.n else value
        self.n += 1
        self.mean += (value - self.mean) / self.n
        key = ("alone", self.n) if deal is None else deal
        size, total = self._deals.get(key, (0, 0.0))
        if size:
            self._by_size[size].count(total, -1)
        size, total = size + 1, total + (value - self._origin)
        self._largest = max(self._largest, size * abs(value))
        self._by_size.setdefault(size, _SameSize()).count(total, 1)
        self._deals[key] = size, total

    def half_width(self) -> float:
        """Returns half the width of the 95 % interval, as ``mean_estimate``.

        Returns:
            0 if all deals are equal, infinite for fewer than two.
        """
        if self.deals < 2:
            return math.inf
        found = [(size, group) for size, group in self._by_size.items() if group.deals]
        total = sum(group.sums for _, group in found)
        squares = [_squares(size, group, total, self.n) for size, group in found]
        if sum(squares) <= self.deals * (_ROUNDING * self._largest) ** 2:
            return 0.0
        sizes, counts = np.array([(size, group.deals) for size, group in found]).T
        return half_width_by_size(sizes, counts, np.maximum(squares, 0.0) / self.n**2)


def _squares(size: int, group: _SameSize, total: float, values: int) -> float:
    """Returns the sum of the squared differences of the sums of deals of one size from their expectation.

    Args:
        size: number of values in each deal.
        group: these deals.
        total: sum of all values of all deals.
        values: number of all values.
    """
    expected = size * total / values
    return group.squares - 2 * expected * group.sums + expected * expected * group.deals
