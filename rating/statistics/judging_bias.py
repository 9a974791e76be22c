"""What a judge of two sides goes by besides what they are worth: place and kinship; and how far it holds to its verdict.

Verdicts are scores of a side: 1 for it, 0 for the other one, 0.5 for a tie. A verdict that is no tie is *decided*.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, norm

from rating.statistics.beyond_others import Beside, beyond_others
from rating.statistics.estimates import Estimate, rate_estimate


class Choice(NamedTuple):
    """A decided verdict.

    Attributes:
        first: the player shown first; empty if it is not known.
        second: the player shown second.
        took_first: whether the verdict is for the first one.
    """

    first: str
    second: str
    took_first: bool


class Lean(NamedTuple):
    """How far a judge leans to one side.

    Attributes:
        share: of the side in question in the verdicts that tell, 0 to 1; 0.5 without a bias. ``None`` if no verdict tells.
        p: of the test that there is no bias; ``None`` where none can be made.
        basis: by what verdicts are compared: ``both orders`` of the same texts, ``same players`` in both places, or ``all``.
    """

    share: Estimate | None
    p: float | None
    basis: str


def place_bias(choices: Sequence[Choice], both_orders: Sequence[tuple[bool, bool]] = ()) -> Lean:
    """Returns how often a judge decides for the side that it is shown first, if both sides are equally strong.

    Of the ways to make them so the one is taken that has more verdicts to go by:

    * Where a judge saw the same texts in both orders, only pairs tell in which it took the same place twice (sign test).
    * Where players met in both places, verdicts are compared between the places of the same two players, so that it makes no
      difference that a stronger one may have stood first more often (Cochran, Mantel and Haenszel, with continuity correction).
    * Where players are not known, sides must have been drawn by lot (binomial test).

    The interval is Wilson's for as many verdicts as a balanced design needs for the same information.

    Args:
        choices: every decided verdict.
        both_orders: for texts judged in both orders, whether the first place was taken, each time; decided verdicts only.
    """
    strata: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros((2, 2)))
    for choice in choices:
        low, high = sorted((choice.first, choice.second))
        placed_first = choice.first == low
        won = choice.took_first == placed_first
        strata[low, high][int(placed_first), int(won)] += 1
    if all(choice.first and choice.second for choice in choices):
        tables = np.array([table for names, table in sorted(strata.items()) if names[0] != names[1]]).reshape(-1, 2, 2)
        by_place = tables.sum(axis=2)
        weights = by_place.prod(axis=1) / np.maximum(by_place.sum(axis=1), 1)
        found = _by_players(tables, weights), 4 * float(weights.sum())
    else:
        took = sum(choice.took_first for choice in choices)
        share = rate_estimate(took, len(choices))
        found = Lean(share, binomtest(took, len(choices)).pvalue if choices else None, "all"), float(len(choices))
    if both_orders and 2 * len(both_orders) >= found[1]:
        twice = sum(one and other for one, other in both_orders)
        never = sum(not one and not other for one, other in both_orders)
        n = len(both_orders)
        p = binomtest(twice, twice + never).pvalue if twice + never else 1.0
        return Lean(rate_estimate((twice + (n - twice - never) / 2), n), p, "both orders")
    return found[0]


def _by_players(tables: np.ndarray, weights: np.ndarray) -> Lean:
    """Compares places within pairs of players.

    Args:
        tables: for each pair of players how often the one stood (second, first) and (lost, won).
        weights: of the pairs, those of Mantel and Haenszel.
    """
    n = round(tables[weights > 0].sum())
    if not n:
        return Lean(None, None, "same players")
    tables, weights = tables[weights > 0], weights[weights > 0]
    placed, won, sizes = tables.sum(axis=2), tables[:, :, 1], tables.sum(axis=(1, 2))
    gain = float((weights * (won[:, 1] / placed[:, 1] - won[:, 0] / placed[:, 0])).sum() / weights.sum())
    share, informative = min(max((1 + gain) / 2, 0.0), 1.0), max(1, int(4 * weights.sum()))
    estimate = rate_estimate(share * informative, informative)
    wins = won.sum(axis=1)
    excess = abs(float((won[:, 1] - placed[:, 1] * wins / sizes).sum()))
    variance = float((placed.prod(axis=1) * wins * (sizes - wins) / (sizes**2 * (sizes - 1))).sum())
    z = max(0.0, excess - 0.5) / np.sqrt(variance) if variance else 0.0
    return Lean(estimate and estimate._replace(n=n, clusters=n), float(2 * norm.sf(z)), "same players")


class KinBias(NamedTuple):
    """How a judge treats a player of its own family.

    Attributes:
        own: mean score that it gives that player.
        others: mean score that the other judges of the same cases give it.
        excess: what being of its family adds to a score of it, beyond what the other judges think of that player's texts.
        p: of the test that there is no difference.
    """

    own: float
    others: float
    excess: Estimate
    p: float


def kin_bias(verdicts: Sequence[Beside]) -> KinBias | None:
    """Returns how a judge treats players of its own family, beside the other judges of the same cases.

    The difference of the two means is no measure of it: a judge who errs less than the others gives every good player more than
    they do. Simulated fair judges, whose family wins 80 % and whose errors are a quarter of the others', were called biased by
    that difference in 47 of 60 studies of 120 cases with the family, and in none by ``excess``, which learns from all cases how
    the judge follows the opinion of others; a bias of 1 logit was found in 60 of 60, one of half a logit in 46.

    Args:
        verdicts: all of the judge; the trait is being of its family.

    Returns:
        ``None`` where there is nothing to compare, or too little.
    """
    found = beyond_others(verdicts)
    if found is None:
        return None
    kin = [verdict for verdict in verdicts if verdict.trait and verdict.others is not None]
    own = np.mean([_of_trait(one.score, one.trait) for one in kin])
    others = np.mean([_of_trait(sum(one.others) / 2, one.trait) for one in kin if one.others is not None])
    return KinBias(float(own), float(others), found.effect, found.p)


def _of_trait(score: float, trait: int) -> float:
    """Returns the score of the side with the trait."""
    return score if trait > 0 else 1 - score


class Changes(NamedTuple):
    """What a judge did with its verdict when it had read those of others.

    Attributes:
        changed: share of the verdicts that were changed.
        towards: of the changed ones, the share of those that went to what most other judges had said.
        away: of the changed ones, the share of those that had been what most other judges said.
    """

    changed: Estimate | None
    towards: Estimate | None
    away: Estimate | None


def changes(verdicts: Sequence[tuple[str, str, str | None]]) -> Changes:
    """Returns how often verdicts were changed and where they went.

    Args:
        verdicts: the first verdict, the final one, and what most others had said at first (``None`` if that is not known).
    """
    changed = [verdict for verdict in verdicts if verdict[0] != verdict[1]]
    told = [verdict for verdict in changed if verdict[2] is not None]
    return Changes(
        rate_estimate(len(changed), len(verdicts)),
        rate_estimate(sum(final == others for _, final, others in told), len(told)),
        rate_estimate(sum(first == others for first, _, others in told), len(told)),
    )
