"""Stopping rules: when the matches of an environment suffice.

A rule is a function of the outcomes so far, folded: it takes them in match-number order, goes on from where it was, and is
asked between batches, so that it does not depend on the order in which matches end. It answers with the name of the reason to
stop, and describes its values when it fired and at present. The reasons:

* the rule itself, ``trueskill+order`` say, where all its conditions hold (``grammar``);
* ``mu_stable`` or ``sigma``: TrueSkill in match order has converged, under the rule ``trueskill`` alone;
* ``count``: every policy has been scheduled for the wanted number of matches;
* ``settled``: every policy's mean is known closely enough (the modules ``settling`` and ``standstill``);
* ``stable``: no policy's mean has changed much over its last deals (``standstill``);
* ``cap``: a policy has been scheduled as often as allowed, void matches included, so that every run ends.

LLMArena (arXiv 2402.16499) plays until ratings converge and does not say what that is; the numbers are this
project's.
"""

from rating.schemes.stopping.counts import CountRule
from rating.schemes.stopping.fold import Values, fold, fold_values
from rating.schemes.stopping.grammar import DEFAULT_RULE, TRUESKILL
from rating.schemes.stopping.rated import StopRule
from rating.schemes.stopping.settling import SettlingRule
from rating.schemes.stopping.standstill import StandstillRule

__all__ = [
    "DEFAULT_RULE",
    "TRUESKILL",
    "CountRule",
    "SettlingRule",
    "StandstillRule",
    "StopRule",
    "Values",
    "fold",
    "fold_values",
]
