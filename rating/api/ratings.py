"""Ratings of battles from anywhere."""

from rating.api.data import Battles, comparisons
from rating.statistics import bradley_terry
from rating.statistics.bradley_terry import BradleyTerryFit, BradleyTerryOptions, Standings


def fit(battles: Battles, *, seated: bool = False, options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Returns Bradley-Terry ratings in Elo with their covariance: those of ``standings``.

    Args:
        battles: at least one, in any order.
        seated: whether the first of a battle sat on the first seat, whose advantage is fitted then. Leave it out where a log may
            list winners first.
        options: what is fitted.

    Raises:
        ValueError: if there is no battle between two policies, or something is none; it is said which.
    """
    return standings(battles, seated=seated, options=options).fitted


def standings(battles: Battles, *, seated: bool = False, options: BradleyTerryOptions | None = None) -> Standings:
    """Returns what may be said of each policy: its rating with a 95 % interval, the ranks it may have, what is left open.

    Args:
        battles: as for ``fit``.
        seated: as for ``fit``.
        options: as for ``fit``.

    Raises:
        ValueError: as for ``fit``.
    """
    return bradley_terry.standings(comparisons(battles, seated=seated), options)
