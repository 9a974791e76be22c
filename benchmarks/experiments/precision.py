"""What can be said of the precision of a result before anything is played."""

from rating.statistics.estimates import FEWEST_CLUSTERS, rate_estimate

FEW_CASES = 30
"""Below so many cases a kappa says little: its interval is wide, and its limits are hardly those of 95 %."""


def rate_precision(n: int) -> str:
    """Says how wide the interval of a rate of one half will be, where it is widest.

    Args:
        n: number of independent cases, 1 or more.
    """
    half = rate_estimate(n / 2, n)
    if half is None or half.high is None:
        return f"rates will have no interval, which takes {FEWEST_CLUSTERS} independent cases"
    return f"a rate of 50 % will have a 95 % interval of {100 * (half.high - 0.5):.0f} points to either side"
