"""Whether a judge goes by length: what the words of a side add to its chance with one judge.

Longer texts may be better ones, and a judge that prefers the better ones then prefers the longer ones too. That is told from a
bias in two ways at once, and a judge is called biased only where both tests reject, in the same direction:

* Verdicts are compared within pairs of players, so that it makes no difference if better players write more: logistic
  regression of decided verdicts on the difference in words, the place, and an indicator of each pair of players. It finds the
  log odds per 100 words again that a judge has.
* What the other judges of the same cases think of them is compared, so that it makes no difference if the same player writes
  more where it is better, or did so by chance (``beyond_others``). There it counts which side is the longer one, not by how
  much, so that a few endless texts do not decide.

Neither does alone. Where the longer ones of a player's texts are its better ones (correlation 0.6) the first test named fair
judges in 40 of 40 simulated tournaments, both together one in 1 of 40; where one judge is biased, the others lean the other
way in the second one. And the opinion of the others is no covariate of the first: it tells what a text is worth with errors,
so that length stands for the rest, and what it does tell makes odds larger (the log odds of a judge with a bias of 1 were 1.05
without it, 2.58 with the mean opinion, 2.16 with the plurality). More figures stand in ``docs/judges.md``.

What cannot be told: that all judges favour length from that longer texts are better. So nobody is named where most do, nor
without two other judges of the same cases. Where better texts are longer *and* one judge is strongly biased to the shorter ones,
others may seem to favour the longer ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rating.statistics.beyond_others import Beside, beyond_others
from rating.statistics.estimates import Estimate, rate_estimate
from rating.statistics.firth import stratified_effect

_FEWEST_CASES = 20
"""Cases below which nothing is said of odds."""

_FEWEST_OF_PAIR = 4
"""Decided verdicts on two players below which they are left out of the odds, which many small strata draw to 0."""


class Measured(NamedTuple):
    """A verdict on two texts.

    Attributes:
        players: whose text is shown first and whose second; empty if it is not known.
        score: of the first one: 1, 0, or 0.5 for a tie.
        more: how many words more that has.
        others: mean scores that two groups of other judges of the case give it; ``None`` if there are no two groups.
    """

    players: tuple[str, str]
    score: float
    more: float
    others: tuple[float, float] | None


class LengthBias(NamedTuple):
    """How a judge's verdicts go with length.

    Attributes:
        longer: how often it decides for the longer side, which may be the better one.
        log_odds: by how many logits 100 words more raise the chance of a side, between the same two players; ``None`` where
            players are not known, and where cases are few or all alike.
        beyond: by how much being the longer one adds to the score of a side, -1 to 1, beyond what the other judges think of it;
            ``None`` without two of them, and where cases are few or all alike.
        p: the larger one of the p-values of both, 1 where they have different signs; ``None`` where one of them is.
    """

    longer: Estimate | None
    log_odds: Estimate | None
    beyond: Estimate | None
    p: float | None


def length_bias(verdicts: Sequence[Measured]) -> LengthBias:
    """Returns how a judge's verdicts go with length.

    Args:
        verdicts: of one judge, on texts that differ; of texts shown in both orders, one verdict.
    """
    decided = [verdict for verdict in verdicts if verdict.more and verdict.score != 0.5]
    longer = rate_estimate(sum((one.score > 0.5) == (one.more > 0) for one in decided), len(decided))
    log_odds, own_p = _log_odds(verdicts)
    beyond = beyond_others([Beside(one.score, int(np.sign(one.more)), one.others) for one in verdicts])
    if log_odds is None or own_p is None or beyond is None:
        return LengthBias(longer, log_odds, beyond and beyond.effect, None)
    p = max(own_p, beyond.p) if log_odds.value * beyond.effect.value > 0 else 1.0
    return LengthBias(longer, log_odds, beyond.effect, p)


def _log_odds(verdicts: Sequence[Measured]) -> tuple[Estimate | None, float | None]:
    """Returns log odds per 100 words between the same players, and the p-value of the test that they are 0."""
    rows, pairs = [], []
    for one in verdicts:
        if all(one.players) and one.score != 0.5:
            pair = min(one.players), max(one.players)
            place = 1 if one.players == pair else -1
            rows.append(((one.score > 0.5) == (place > 0), place, place * one.more / 100))
            pairs.append(pair)
    numbers = {pair: number for number, pair in enumerate(sorted(set(pairs)))}
    strata = np.array([numbers[pair] for pair in pairs], dtype=np.int64)
    told = np.bincount(strata)[strata] >= _FEWEST_OF_PAIR if rows else np.zeros(0, dtype=bool)
    n = int(np.count_nonzero(told))
    if n < _FEWEST_CASES:
        return None, None
    data = np.array(rows, dtype=float)[told]
    effect = stratified_effect(data[:, 0] == 1, data[:, 1:], strata[told])
    if effect is None:
        return None, None
    return Estimate(effect.value, effect.low, effect.high, n, n), effect.p
