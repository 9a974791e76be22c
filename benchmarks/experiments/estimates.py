"""Estimates as a row shows them: no interval where the cases cannot give one."""

from rating.statistics.estimates import Estimate

FEWEST = 6
"""Independent cases below which a resampled interval is too narrow to be shown; see ``rating.statistics.medians``."""


def cautious(estimate: Estimate | None) -> Estimate | None:
    """Returns a resampled estimate, without its interval if that rests on too few cases, or on cases that are all alike."""
    if estimate is None or (estimate.clusters >= FEWEST and estimate.low != estimate.high):
        return estimate
    return estimate._replace(low=None, high=None)
