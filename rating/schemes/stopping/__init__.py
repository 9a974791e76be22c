"""Stopping rules: when the matches of an environment suffice.

A rule is a function of the outcomes so far, folded: it takes them in match-number order, goes on from where it was, and is
asked between batches, so that it does not depend on the order in which matches end. It answers with the name of the reason to
stop, and describes its values when it fired and at present. The reasons:

* the rule itself, ``order`` say, where all its conditions hold (``grammar``);
* ``alike``: policies that are not told apart hardly differ (``rated``);
* ``mu_stable`` or ``sigma``: TrueSkill in match order has converged, under the rule ``trueskill`` alone;
* ``count``: every policy has been scheduled for the wanted number of matches;
* ``settled``: every policy's mean is known closely enough (``settling``);
* ``cap``: a policy has been scheduled as often as allowed, void matches included, so that every run ends.

LLMArena (arXiv 2402.16499) plays until ratings converge and does not say what that is; the numbers are this
project's.
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
