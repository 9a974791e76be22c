"""A mean that grows with its values, and how closely it is known."""

import math
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from rating.statistics.estimates import half_width_by_size

_ROUNDING = 1e-12
"""Share of the largest sum of a deal below which differences of sums are errors of rounding, e.g. of 0.1 + 0.2 from 0.3."""


@dataclass
class _SameSize:
    """The deals with one number of values.

    Attributes:
        deals: how many.
        sums: sum over them of the sum of their values.
        squares: sum of its squares.
    """

    deals: int = 0
    sums: float = 0.0
    squares: float = 0.0

    def count(self, total: float, sign: int) -> None:
        """Takes a deal with this sum of values, or, with the sign -1, takes it away."""
        self.deals += sign
        self.sums += sign * total
        self.squares += sign * total * total


class RunningMean:
    """A running mean whose independent cases are deals: matches that share one tell less than as many on deals of their own.

    A deal may grow at any time, so one that is not yet complete simply counts for less. Sums are those of differences from the
    first value, so that little is lost where values are large and alike. The interval costs the same after a hundred values as
    after a hundred thousand.

    Attributes:
        n: number of values so far.
        mean: of them; 0 before the first.
    """

    def __init__(self) -> None:
        self.n, self.mean = 0, 0.0
        self._origin, self._largest = 0.0, 0.0
        self._deals: dict[Hashable, tuple[int, float]] = {}
        self._by_size: dict[int, _SameSize] = {}

    @property
    def deals(self) -> int:
        """Number of deals so far."""
        return len(self._deals)

    def add(self, value: float, deal: Hashable = None) -> None:
        """Takes the next value.

        Args:
            value: a finite number.
            deal: which deal it belongs to, e.g. the seed of its match; ``None`` if it is one by itself.
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
        """Returns half the width of the 95 % interval, as that of ``mean_estimate``.

        Returns:
            0 if all deals are alike, infinite for fewer than two.
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
    """Returns the sum of the squared differences of the sums of deals of one size from what they would be if all were alike.

    Args:
        size: number of values in each.
        group: these deals.
        total: sum of all values of all deals.
        values: how many there are.
    """
    expected = size * total / values
    return group.squares - 2 * expected * group.sums + expected * expected * group.deals
