"""Estimates as a row shows them: no interval where the cases cannot give one."""

from collections.abc import Sequence

from rating.statistics.estimates import Estimate
from rating.statistics.proportions import clustered_rate

FEWEST = 6
"""Independent cases below which a resampled interval is too narrow to be shown; see ``rating.statistics.medians``."""


def cautious(estimate: Estimate | None) -> Estimate | None:
    """Returns a resampled estimate, without its interval if that rests on too few cases, or on cases that are all alike."""
    if estimate is None or (estimate.clusters >= FEWEST and estimate.low != estimate.high):
        return estimate
    return estimate._replace(low=None, high=None)


def share(hits: Sequence[bool], clusters: Sequence[int]) -> Estimate | None:
    """Returns a rate of cases that are alike within clusters; where all are alike, the interval is sound for any number."""
    estimate = clustered_rate(hits, clusters)
    return cautious(estimate) if estimate and 0 < estimate.value < 1 else estimate
