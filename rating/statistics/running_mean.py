"""A mean that grows with its values, and how closely it is known."""

from collections.abc import Hashable

import numpy as np

from rating.statistics.estimates import mean_half_width


class RunningMean:
    """A running mean whose independent cases are deals: matches that share one tell less than as many on deals of their own.

    A deal may grow at any time, so one that is not yet complete simply counts for less.

    Attributes:
        n: number of values so far.
        mean: of them; 0 before the first.
    """

    def __init__(self) -> None:
        self.n, self.mean = 0, 0.0
        self._start = 0.0
        self._deals: dict[Hashable, list[float]] = {}

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
        if not self.n:
            self._start = value
        self.n += 1
        self.mean += (value - self.mean) / self.n
        sums = self._deals.setdefault(("alone", self.n) if deal is None else deal, [0.0, 0])
        # Sums of differences from the first value keep their digits where values are large and alike.
        sums[0] += value - self._start
        sums[1] += 1

    def half_width(self) -> float:
        """Returns half the width of the 95 % interval, as that of ``mean_estimate``.

        Returns:
            0 if all deals are alike, infinite for fewer than two.
        """
        sums, sizes = np.array(list(self._deals.values())).reshape(-1, 2).T
        return mean_half_width(sums, sizes)
