"""Is one policy better than another? An answer that holds whenever one stops, at the level asked.

Every comparison is two bets (``rating.statistics.betting``) on the scores of the same units (``rating.statistics.units``):
one that the first policy is better, one that the second is. Each has half of the level, so that one of both is called better
though neither is with a probability of at most the level, over all looks together.

*Equal within a margin* is two bets as well, each with the whole level: that the first is not better by the margin or more,
and that the second is not (two one-sided tests). No further share of the level is lost to it: where the policies are not
equal within the margin, calling the wrong one better refutes the same null hypotheses, so at most one mistake in 1 / level is
made by all claims together. A policy may be better *and* equal within a margin: better by less than that.

What the claims rest on: that the next unit's expected score does not depend on whether it is seen. Units come in the order of
the schedule, never in that in which matches ended (wins may be shorter than losses), and what is behind an unfinished match
waits. Units without a result, as when a provider failed, are left out, which is right if failing has nothing to do with who
would have won. The expectation may change from unit to unit; what is refuted then is that it is at most the bound all the
time.

The e-value that counts is the largest so far: what was decided stays decided. Of a log whose order may depend on results it
is the last one alone, which is the same in any order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from llmarena_envs.core.options import OptionError
from rating.statistics import betting
from rating.statistics.betting import Floats, e_value, final_log_evidence, log_evidence
from rating.statistics.further import Bet, UnitsForecast, forecast
from rating.statistics.simultaneous import holm
from rating.statistics.units import ROUNDS, SHARED, Units

LEVEL = 0.05

_GROWING = "weights differ: the level holds for one look at this log, not for looks at it while it grows"
"""The heaviest result says what a part of a stake is, and a heavier one may come."""


@dataclass(frozen=True)
class EValue:
    """What speaks for a policy being better by more than the margin.

    Attributes:
        e: the e-value now: what a wealth of 1 has become that was bet on it; 1 for no evidence, below 1 for evidence to the
            contrary.
        peak: the largest so far, which counts; that of now where units have no order.
        p: the p-value it amounts to, 1 / peak, at most 1; valid whenever one stops.
    """

    e: float
    peak: float
    p: float


@dataclass(frozen=True)
class Interval:
    """A value with a confidence sequence: it covers the true value at all times at once with probability 1 - level.

    Attributes:
        value: the estimate; ``None`` if there is none, or it is infinite.
        low: the lower end; ``None`` if there is no bound.
        high: the upper end; ``None`` if there is no bound.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PolicyComparison:
    """What may be said of two policies.

    Attributes:
        a: the first policy.
        b: the second one.
        level: probability of a wrong claim, at most, over all looks.
        margin: by how much a policy has to be better, as a difference of its win rate from a half.
        equal_margin: within which they are called equal, as the margin; ``None`` if that was not asked.
        units: number of units seen.
        unit: what a unit is: ``pairs`` (a deal from both seats), ``matched pairs``, ``deals``, ``battles``, ``shared deals`` or
            ``rounds``.
        left_out: battles that are part of no unit: the one with the seats exchanged is missing; or such deals.
        needed: the e-value from which a policy is called better.
        a_better: the evidence that the first policy is better.
        b_better: the evidence that the second one is.
        better: the policy that is better by more than the margin, or ``None``.
        after: units after which that was decided; ``None`` if it is not.
        equal: whether they are equal within ``equal_margin``; ``None`` if that was not asked.
        equal_evidence: the lesser of the two e-values that speak for it, at their peaks; ``None`` if that was not asked.
        equal_needed: what both must reach.
        win_rate: of the first policy, ties as halves; of shared deals, the share on which it is ahead.
        elo: the same as a difference of ratings; all ``None`` of shared deals.
        more: what more units would likely tell; ``None`` if all is decided or nothing was seen.
        notes: what does not hold as usual.
    """

    a: str
    b: str
    level: float
    margin: float
    equal_margin: float | None
    units: int
    unit: str
    left_out: int
    needed: float
    a_better: EValue
    b_better: EValue
    better: str | None
    after: int | None
    equal: bool | None
    equal_evidence: float | None
    equal_needed: float
    win_rate: Interval
    elo: Interval
    more: UnitsForecast | None
    notes: tuple[str, ...]

    @property
    def p(self) -> float:
        """The p-value of either policy being better, valid whenever one stops."""
        return min(1.0, 2 * min(self.a_better.p, self.b_better.p))


@dataclass(frozen=True)
class Champion:
    """Many challengers against one policy, with all claims held to one level.

    Attributes:
        champion: the policy that all are compared with.
        level: probability of any wrong claim among all of them, at most, over all looks.
        comparisons: one for each challenger, who is the first policy of it; ``better`` and ``after`` are those of the
            comparison alone.
        p: for each the p-value corrected for their number (Holm).
        better: for each who is better at the level of all together, or ``None``.
    """

    champion: str
    level: float
    comparisons: tuple[PolicyComparison, ...]
    p: tuple[float, ...]
    better: tuple[str | None, ...]


def compare_units(
    units: Units,
    a: str,
    b: str,
    *,
    level: float = LEVEL,
    margin: float = 0.0,
    equal: float | None = None,
    ahead: bool = True,
    seed: int = 0,
) -> PolicyComparison:
    """Compares two policies by the units of their battles.

    Args:
        units: of the two; see ``rating.statistics.units.units_of``.
        a: name of the first policy.
        b: name of the second one.
        level: probability of a wrong claim, at most, over all looks.
        margin: a policy is better if its win rate is above a half by more than this, 0 or more and below a half;
            ``elo_margin`` says it in Elo.
        equal: margin within which they are called equal, above ``margin`` and below a half; leave it out not to ask.
        ahead: whether to say what more units would tell.
        seed: of that forecast.

    Raises:
        OptionError: if a number is out of its range.
    """
    _check("level", level, 0.0, 1.0, open_low=True)
    _check("margin", margin, 0.0, 0.5, open_low=False)
    if equal is not None:
        _check("equal", equal, margin, 0.5, open_low=True)
    needed = 2 / level
    for_a, for_b = (_log_evidence(units, bet) for bet in _bets_of_better(margin, needed))
    after, better = min(
        (reached, name)
        for reached, name in ((_reached(for_a, needed), a), (_reached(for_b, needed), b), (math.inf, ""))
        if reached is not None
    )
    bets_of_equal = () if equal is None else _bets_of_equal(equal, 1 / level)
    peaks = [_evidence(_log_evidence(units, bet)).peak for bet in bets_of_equal]
    is_equal = None if equal is None else min(peaks) >= 1 / level
    win_rate, notes = _win_rate(units, level)
    settled = not ahead or not len(units.scores) or (better and equal is None) or is_equal
    decisions = [[bet] for bet in ([] if better else _bets_of_better(margin, needed))]
    return PolicyComparison(
        a=a,
        b=b,
        level=level,
        margin=margin,
        equal_margin=equal,
        units=len(units.scores),
        unit=units.kind,
        left_out=units.left_out,
        needed=needed,
        a_better=_evidence(for_a),
        b_better=_evidence(for_b),
        better=better or None,
        after=None if not better else int(after) if units.ordered else len(units.scores),
        equal=is_equal,
        equal_evidence=min(peaks) if peaks else None,
        equal_needed=1 / level,
        win_rate=win_rate,
        elo=_elo(win_rate) if units.kind != SHARED else Interval(None, None, None),
        more=None if settled else forecast(units, [*decisions, *([bets_of_equal] if equal else [])], seed=seed),
        notes=(*notes, *([_GROWING] if units.weights is not None and not units.ordered else [])),
    )


def compare_champion(comparisons: Sequence[PolicyComparison]) -> Champion:
    """Holds the comparisons of challengers with one champion to their level together.

    Every comparison asks two things: is the challenger better, is the champion? Holm's correction of the p-values of all of
    them keeps the probability of *any* wrong answer at the level (the family-wise error), however they depend on each other,
    and they do: all meet the same champion. As every p-value holds at any time, so does what is made of them.

    Args:
        comparisons: with the champion as the second policy, at one level; one or more.

    Raises:
        ValueError: if the second policies or the levels differ.
    """
    champions, levels = {item.b for item in comparisons}, {item.level for item in comparisons}
    if len(champions) != 1 or len(levels) != 1:
        raise ValueError(f"expected one champion and one level, got {sorted(champions)} and {sorted(levels)}")
    level = levels.pop()
    corrected = holm([p for item in comparisons for p in (item.a_better.p, item.b_better.p)])
    pairs = list(zip(corrected[::2], corrected[1::2], strict=True))
    better = tuple(
        item.better if item.better and min(pair) <= level else None
        for item, pair in zip(comparisons, pairs, strict=True)
    )
    return Champion(champions.pop(), level, tuple(comparisons), tuple(map(min, pairs)), better)


def average_units(units: Mapping[str, Units]) -> Units | None:
    """Returns units of several environments in which each counts alike: the mean of one unit of each.

    As many as there are of the environment with the fewest. Their scores have the mean over the environments of the win rates
    as their expectation: what a comparison of them says holds for the average, not for any one environment.

    Args:
        units: by environment.

    Returns:
        ``None`` if there are fewer than two environments, one is without a unit, or units have weights.
    """
    parts = list(units.values())
    least = min((len(part.scores) for part in parts), default=0)
    if len(parts) < 2 or not least or any(part.weights is not None for part in parts):
        return None
    scores = np.mean([part.scores[:least] for part in parts], axis=0)
    kinds = {part.kind for part in parts}
    kind = kinds.pop() if len(kinds) == 1 else ROUNDS
    return Units(scores, None, kind, 0, all(part.ordered for part in parts))


def elo_margin(elo: float) -> float:
    """Returns a difference in Elo as that of the expected score from a half: 50 Elo is .0715."""
    return 1 / (1 + 10 ** (-elo / 400)) - 0.5


def elo_of(win_rate: float | None) -> float | None:
    """Returns the difference in Elo at which a win rate is expected; ``None`` where it is infinite."""
    if win_rate is None or not 0 < win_rate < 1:
        return None
    return 400 * math.log10(win_rate / (1 - win_rate))


def _elo(win_rate: Interval) -> Interval:
    return Interval(*map(elo_of, (win_rate.value, win_rate.low, win_rate.high)))


def _check(name: str, value: float, low: float, high: float, *, open_low: bool) -> None:
    if not isinstance(value, Real) or not low <= value < high or (open_low and value == low):
        raise OptionError(
            f"{name}: expected a number {f'above {low:g}' if open_low else f'of {low:g} or more'}, below {high:g}; got {value!r}"
        )


def _bets_of_better(margin: float, needed: float) -> tuple[Bet, Bet]:
    return Bet(0.5 + margin, needed), Bet(0.5 + margin, needed, of_second=True)


def _bets_of_equal(margin: float, needed: float) -> tuple[Bet, Bet]:
    """Returns the bets against "worse by the margin or more" of both policies."""
    return Bet(0.5 - margin, needed), Bet(0.5 - margin, needed, of_second=True)


def _log_evidence(units: Units, bet: Bet) -> Floats:
    scores = 1 - units.scores if bet.of_second else units.scores
    if units.ordered or not len(scores):
        return log_evidence(scores, bet.mean, units.weights)
    return np.array([final_log_evidence(scores, bet.mean, units.weights)])


def _evidence(logs: Floats) -> EValue:
    """Returns the evidence after the last unit; without a unit it is 1."""
    now, peak = (float(logs[-1]), max(0.0, float(logs.max()))) if len(logs) else (0.0, 0.0)
    return EValue(e_value(now), e_value(peak), math.exp(-peak))


def _reached(logs: Floats, needed: float) -> int | None:
    """Returns the number of units after which an e-value was reached first."""
    above = np.flatnonzero(logs >= math.log(needed))
    return int(above[0]) + 1 if len(above) else None


def _win_rate(units: Units, level: float) -> tuple[Interval, tuple[str, ...]]:
    if not len(units.scores):
        return Interval(None, None, None), ()
    value = float(np.average(units.scores, weights=units.weights))
    low, high = _bounds(units, level, ever=units.ordered)
    if low <= high:
        return Interval(value, low, high), ()
    note = "no constant win rate agrees with all results: something has changed on the way; the interval is that of the last look"
    return Interval(value, *_bounds(units, level, ever=False)), (note,)


def _bounds(units: Units, level: float, *, ever: bool) -> tuple[float, float]:
    low = betting.lower_bound(units.scores, level / 2, units.weights, ever=ever)
    return low, 1 - betting.lower_bound(1 - units.scores, level / 2, units.weights, ever=ever)
