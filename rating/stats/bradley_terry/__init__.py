"""Bradley-Terry ratings: results of pairs, fit, standard errors, and ranks."""

from rating.stats.bradley_terry.comparisons import (
    Comparisons,
    compare,
    comparisons_of,
    mean_scores,
    totals,
    win_tie_loss_counts,
)
from rating.stats.bradley_terry.errors import clustered
from rating.stats.bradley_terry.model import (
    DEFAULT_PRIOR_SD,
    ELO_PER_NAT,
    MEAN_RATING,
    BradleyTerryFit,
    BradleyTerryOptions,
    fit,
    fit_totals,
)
from rating.stats.bradley_terry.ranking import drawn_ratings, expected_spearman, set_is_known, share_alike
from rating.stats.bradley_terry.standings import Standing, Standings, standings
from rating.stats.estimates import Floats, Integers

__all__ = [
    "DEFAULT_PRIOR_SD",
    "ELO_PER_NAT",
    "MEAN_RATING",
    "BradleyTerryFit",
    "BradleyTerryOptions",
    "Comparisons",
    "Floats",
    "Integers",
    "Standing",
    "Standings",
    "clustered",
    "compare",
    "comparisons_of",
    "drawn_ratings",
    "expected_spearman",
    "fit",
    "fit_totals",
    "mean_scores",
    "set_is_known",
    "share_alike",
    "standings",
    "totals",
    "win_tie_loss_counts",
]
