"""Ratings of battles from any source."""

from rating.api.data import Battles, comparisons
from rating.stats import bradley_terry
from rating.stats.bradley_terry import BradleyTerryFit, BradleyTerryOptions, Standings


def fit(battles: Battles, *, seated: bool = False, options: BradleyTerryOptions | None = None) -> BradleyTerryFit:
    """Returns Bradley-Terry ratings in Elo with their covariance, as in ``standings``.

    Args:
        battles: at least one, in any order.
        seated: whether the first policy of a battle had the first seat; its advantage is then fitted. Leave it out if a log might
            list winners first.
        options: of the fit.

    Raises:
        ValueError: if there is no battle between two policies, or naming the entry that is not a battle.
    """
    return standings(battles, seated=seated, options=options).fitted


def standings(battles: Battles, *, seated: bool = False, options: BradleyTerryOptions | None = None) -> Standings:
    """Returns each policy's rating with a 95 % interval and possible ranks, and caveats.

    Args:
        battles: as for ``fit``.
        seated: as for ``fit``.
        options: as for ``fit``.

    Raises:
        ValueError: as for ``fit``.
    """
    return bradley_terry.standings(comparisons(battles, seated=seated), options)
