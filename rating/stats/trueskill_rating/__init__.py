"""TrueSkill ratings of two-player matches: match by match with their history, and averaged over match orders.

Source: Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (NIPS 2006); parameters as in LLMArena (arXiv
2402.16499).
"""

from rating.stats.trueskill_rating.closed_form import update_duel
from rating.stats.trueskill_rating.course import RatingStep, RunningRatings, TrueSkillResult, rate
from rating.stats.trueskill_rating.options import TrueSkillOptions, TrueSkillRating
from rating.stats.trueskill_rating.shuffled import Shuffled, shuffled

__all__ = [
    "RatingStep",
    "RunningRatings",
    "Shuffled",
    "TrueSkillOptions",
    "TrueSkillRating",
    "TrueSkillResult",
    "rate",
    "shuffled",
    "update_duel",
]
