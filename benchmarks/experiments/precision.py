"""Expected precision of a result before play, and remarks on imprecise ones."""

from collections.abc import Sequence

from rating.stats.agreement import Agreement
from rating.stats.estimates import FEWEST_CLUSTERS, rate_estimate

FEW_CASES = 30
"""Number of cases below which a kappa has a wide interval with poor coverage."""


def rate_precision(n: int) -> str:
    """Returns a sentence with the interval of a rate of one half, the widest case.

    Args:
        n: number of independent cases, 1 or more.
    """
    half = rate_estimate(n / 2, n)
    if half is None or half.high is None:
        return f"rates will have no interval, which takes {FEWEST_CLUSTERS} independent cases"
    return f"a rate of 50 % will have a 95 % interval of {100 * (half.high - 0.5):.0f} points to either side"


def kappa_remark(found: Sequence[Agreement], cases: str, enough: int = FEW_CASES) -> str:
    """Returns a remark on undefined kappas, and on those of few cases; empty for none.

    Args:
        found: agreements of the same raters.
        cases: name of the rated cases, in the plural.
        enough: number of cases that are not few.
    """
    remarks = []
    if any(each.n and each.kappa is None for each in found):
        remarks.append("undefined: both gave one and the same verdict only")
    if any(each.n < enough for each in found):
        remarks.append(f"fewer than {enough} {cases}")
    return "; ".join(remarks)
