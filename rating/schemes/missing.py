"""Notes on missing intervals."""

from collections.abc import Iterable

from rating.stats.estimates import FEWEST_CLUSTERS, Estimate


def missing_intervals(estimates: Iterable[Estimate | None]) -> tuple[str, ...]:
    """Returns a note with the reasons if an interval is missing, else nothing."""
    missing = [one for one in estimates if one is not None and one.low is None]
    reasons = []
    if any(one.clusters >= FEWEST_CLUSTERS for one in missing):
        reasons.append("all deals came out alike")
    if any(one.clusters < FEWEST_CLUSTERS for one in missing):
        reasons.append(f"there were fewer than {FEWEST_CLUSTERS} deals")
    return (f"no interval where {' or '.join(reasons)}: that does not tell how others would end",) if reasons else ()
