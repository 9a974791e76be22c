"""What may be said of each policy: its rating with an interval that holds, its possible ranks, and what the data leave open."""

from dataclasses import dataclass

from rating.statistics.bradley_terry.comparisons import Comparisons
from rating.statistics.bradley_terry.errors import clustered
from rating.statistics.bradley_terry.model import BradleyTerryFit, BradleyTerryOptions, fit


@dataclass(frozen=True)
class Standing:
    """A policy.

    Attributes:
        policy: its name.
        rating: in Elo.
        low: lower end of its 95 % interval; ``None`` if it is unbounded below (it has never won).
        high: upper end; ``None`` if it is unbounded above (it is unbeaten).
        best_rank: the best rank that the intervals leave it, from 1.
        worst_rank: the worst.
        games: results it took part in.
        is_linked: whether it belongs to the largest group of which each has beaten or tied every other through a chain; the
            distance of any other from that group is the prior's.
    """

    policy: str
    rating: float
    low: float | None
    high: float | None
    best_rank: int
    worst_rank: int
    games: int
    is_linked: bool


@dataclass(frozen=True, eq=False)
class Standings:
    """All policies.

    Attributes:
        rows: best first, equals by name.
        fitted: the fit that they are made from.
        dispersion: factor on the variance of the model, for results that scatter less (ties) or more (alike deals) than the model
            says; 1 where it is not known.
        notes: what the data do not establish, in plain words; empty if nothing is to be said.
    """

    rows: tuple[Standing, ...]
    fitted: BradleyTerryFit
    dispersion: float
    notes: tuple[str, ...]


def standings(comparisons: Comparisons, options: BradleyTerryOptions | None = None) -> Standings:
    """Fits ratings and says what may be said of them.

    Args:
        comparisons: of one policy or more.
        options: what is fitted.
    """
    fitted = fit(comparisons, options)
    robust = clustered(fitted, comparisons) if fitted.connected else None
    rows = []
    for index, policy in enumerate(fitted.policies):
        ends = [fitted.interval(policy), *([robust.interval(policy)] if robust else [])]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        games = int(((comparisons.first == index) | (comparisons.second == index)).sum())
        rows.append(Standing(policy, float(fitted.ratings[index]), low, high, 0, 0, games, fitted.connected))
    rows.sort(key=lambda row: (-round(row.rating, 6), row.policy))
    ranked = [
        Standing(
            row.policy,
            row.rating,
            row.low,
            row.high,
            1 + sum(_above(other, row) for other in rows),
            len(rows) - sum(_above(row, other) for other in rows),
            row.games,
            row.is_linked,
        )
        for row in rows
    ]
    return Standings(tuple(ranked), fitted, 1.0, ())


def _above(one: Standing, other: Standing) -> bool:
    return one.low is not None and other.high is not None and one.low > other.high
