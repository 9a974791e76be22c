"""Why some means stand without an interval."""

from collections.abc import Iterable

from rating.statistics.estimates import Estimate


def missing_intervals(estimates: Iterable[Estimate | None]) -> list[str]:
    """Returns a note if an interval is missing, else nothing."""
    missing = [one for one in estimates if one is not None and one.low is None]
    reasons = [
        *(["all deals came out alike"] if any(one.clusters > 1 for one in missing) else []),
        *(["there was one deal only"] if any(one.clusters == 1 for one in missing) else []),
    ]
    return [f"no interval where {' or '.join(reasons)}: that does not tell how others would end"] if reasons else []
