"""Stopping rules of an environment.

A rule is a fold over the outcomes, in match-number order, and is checked between batches. The order of completion does not
matter. It returns the name of the reason to stop, and describes its values when it fired and at present. The reasons:

* the rule itself, e.g. ``order``: all its conditions hold (``grammar``);
* ``alike``: policies whose order is unresolved hardly differ (``rated``);
* ``mu_stable`` or ``sigma``: TrueSkill in match order has converged, with the rule ``trueskill`` only;
* ``count``: every policy has been scheduled for the requested number of matches;
* ``settled``: the interval of every policy's mean is narrow enough (``settling``);
* ``cap``: a policy has reached its maximum number of scheduled matches, void ones included, which ends every run.

LLMArena (arXiv 2402.16499) plays until ratings converge and does not define convergence; the numbers are this project's.
"""

from rating.schemes.stopping.counts import LEAST_MATCHES, CountRule
from rating.schemes.stopping.fold import RuleValues, fold, fold_values
from rating.schemes.stopping.grammar import DEFAULT_RULE, TRUESKILL
from rating.schemes.stopping.rated import ALIKE, ALIKE_ELO, LEAST_RATED, StopRule
from rating.schemes.stopping.settling import SettlingRule

__all__ = [
    "ALIKE",
    "ALIKE_ELO",
    "DEFAULT_RULE",
    "LEAST_MATCHES",
    "LEAST_RATED",
    "TRUESKILL",
    "CountRule",
    "RuleValues",
    "SettlingRule",
    "StopRule",
    "fold",
    "fold_values",
]
