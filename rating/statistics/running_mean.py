"""A mean that grows with its values, and how closely it is known."""

import math

from rating.statistics.estimates import Z_95


class RunningMean:
    """A running mean and its sum of squares; a value costs the same however many there were before.

    Source: Welford, Note on a method for calculating corrected sums of squares and products (1962).

    Attributes:
        n: number of values so far.
        mean: of them; 0 before the first.
    """

    def __init__(self) -> None:
        self.n, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        """Takes the next value."""
        self.n += 1
        difference = value - self.mean
        self.mean += difference / self.n
        self._squares += difference * (value - self.mean)

    def half_width(self) -> float:
        """Returns half the width of the normal 95 % interval: 0 if all values are the same, infinite for fewer than two."""
        if self.n < 2:
            return math.inf
        return Z_95 * math.sqrt(self._squares / (self.n - 1) / self.n)
