"""Bradley-Terry ratings: results of pairs, fit, standard errors, and ranks."""

from rating.stats.bradley_terry.comparisons import (
    Comparisons,
    Floats,
    Integers,
    compare,
    mean_scores,
    tallies,
    totals,
)
from rating.stats.bradley_terry.errors import clustered
from rating.stats.bradley_terry.fitting import BradleyTerryFit, fit, fit_totals
from rating.stats.bradley_terry.model import DEFAULT_PRIOR_SD, ELO_PER_NAT, MEAN_RATING, BradleyTerryOptions
from rating.stats.bradley_terry.order import drawn_ratings, expected_spearman, set_is_known, share_alike
from rating.stats.bradley_terry.resampling import bootstrap
from rating.stats.bradley_terry.standings import Standing, Standings, standings
from rating.stats.bradley_terry.terms import Effect, Term, TermsFit, fit_terms

__all__ = [
    "DEFAULT_PRIOR_SD",
    "ELO_PER_NAT",
    "MEAN_RATING",
    "BradleyTerryFit",
    "BradleyTerryOptions",
    "Comparisons",
    "Effect",
    "Floats",
    "Integers",
    "Standing",
    "Standings",
    "Term",
    "TermsFit",
    "bootstrap",
    "clustered",
    "compare",
    "drawn_ratings",
    "expected_spearman",
    "fit",
    "fit_terms",
    "fit_totals",
    "mean_scores",
    "set_is_known",
    "share_alike",
    "standings",
    "tallies",
    "totals",
]
