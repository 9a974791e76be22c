"""Tests whether one policy is better than another, valid at any stopping time.

Each comparison is two bets (``rating.stats.betting``) on the scores of the same units (``rating.stats.units``): one
that the first policy is better, one that the second is. Each bet has half of the level. If neither policy is better, the
probability of calling one better is at most the level, over all looks.

*Equal within a margin* is two one-sided tests, each at the full level: the first policy is not better by the margin or more,
and neither is the second. This uses no further share of the level: if the policies are not equal within the margin, calling the
wrong one better refutes the same null hypotheses, so the probability of any wrong claim is at most the level. A policy can be
better *and* equal within a margin: better by less than the margin.

Assumption: the expected score of a unit does not depend on whether it is observed. So units come in the order of the schedule,
not in the order in which matches ended (wins may be shorter than losses), and units after an unfinished match wait. Units with
no result, e.g. after a provider failure, are left out, which is valid if failures are independent of the winner. The expected
score may change between units; the test then refutes that it is at most the bound for all units.

The largest e-value up to now counts, so a decision is final. For a log whose order may depend on the results only the last
e-value counts, which does not depend on the order.

Further units until a decision are forecast from simulated continuations.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from llmarena_envs.core.options import OptionError
from rating.stats import betting
from rating.stats.betting import e_value, final_log_evidence, log_evidence, log_stakes, log_wealth
from rating.stats.estimates import Floats
from rating.stats.simultaneous import holm
from rating.stats.units import ROUNDS, SHARED, Units

LIMIT = 2_000
"""Maximum number of further units in a simulation."""

CONTINUATIONS = 100
_CHUNK = 50

_UNSEEN = ((0.0, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 3))
"""Possible scores that may not have been observed, with their weights; together they count as one observed score."""

LEVEL = 0.05

_GROWING = "weights differ: the level holds for one look at this log, not for looks at it while it grows"
"""Weights are relative to the largest one, and a larger one can still arrive."""


class Bet(NamedTuple):
    """A bet against a bound on the mean score of a policy.

    Attributes:
        mean: the bound.
        needed: the e-value that refutes it.
        of_second: whether to use the scores of the second policy.
    """

    mean: float
    needed: float
    of_second: bool = False


class UnitsForecast(NamedTuple):
    """Result of the simulated continuations.

    Attributes:
        decided: share of continuations that reach a decision within ``limit`` further units.
        median: further units until half of them have a decision; ``None`` if fewer than half do within the limit.
        most: further units until 90 % have a decision; ``None`` if fewer do.
        limit: maximum number of further units.
    """

    decided: float
    median: int | None
    most: int | None
    limit: int


def forecast(units: Units, decisions: Sequence[Sequence[Bet]], *, seed: int = 0) -> UnitsForecast:
    """Simulates the number of further units until a decision.

    Each continuation draws scores from the observed ones with random weights (the Bayesian bootstrap), so with few units the
    continuations vary widely.

    Args:
        units: observed units; at least one.
        decisions: alternatives that end a comparison; each is reached when all its bets are won.
        seed: seed of the simulation.
    """
    rng = np.random.default_rng(seed)
    scores, weights, drawn = _draws(units, rng)
    bets = list(dict.fromkeys(bet for decision in decisions for bet in decision))
    ended = {bet: _first_reached(units, _stakes(scores, weights, bet)[drawn], bet) for bet in bets}
    ends = np.min([np.max([ended[bet] for bet in decision], axis=0) for decision in decisions], axis=0)
    return UnitsForecast(float(np.mean(ends <= LIMIT)), _quantile(ends, 0.5), _quantile(ends, 0.9), LIMIT)


def _draws(units: Units, rng: np.random.Generator) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Returns possible scores, their weights, and the index of each drawn score, shape (continuations, limit)."""
    unseen, counts = np.array(_UNSEEN).T
    own = np.ones(len(units.scores)) if units.weights is None else units.weights
    seen, multiplicity = np.unique(np.stack([units.scores, own], axis=1), axis=0, return_counts=True)
    scores = np.concatenate([seen[:, 0], unseen])
    weights = np.concatenate([seen[:, 1], np.full(len(unseen), own.mean())])
    shares = np.cumsum(rng.gamma(np.concatenate([multiplicity, counts]), size=(CONTINUATIONS, len(scores))), axis=1)
    points = rng.random((CONTINUATIONS, LIMIT)) * shares[:, -1:]
    drawn = [np.searchsorted(share, point, side="right") for share, point in zip(shares, points, strict=True)]
    return scores, weights, np.minimum(drawn, len(scores) - 1)


def _stakes(scores: Floats, weights: Floats | None, bet: Bet) -> Floats:
    return log_stakes(1 - scores if bet.of_second else scores, bet.mean, weights)


def _first_reached(units: Units, stakes: Floats, bet: Bet) -> NDArray[np.int64]:
    """Returns the further units until each continuation wins a bet; 0 if it is already won, ``LIMIT`` + 1 for never.

    Args:
        units: observed units.
        stakes: log factors of the continuations, shape (continuations, limit, players).
        bet: the bet.
    """
    needed = np.log(bet.needed)
    so_far = np.cumsum(_stakes(units.scores, units.weights, bet), axis=0)
    reached = np.full(len(stakes), LIMIT + 1)
    if log_wealth(so_far if units.ordered else so_far[-1:]).max() >= needed:
        return np.zeros_like(reached)
    wealth = np.repeat(so_far[-1:], len(stakes), axis=0)
    for start in range(0, LIMIT, _CHUNK):
        going = np.flatnonzero(reached > LIMIT)
        if not len(going):
            break
        course = wealth[going, None] + np.cumsum(stakes[going, start : start + _CHUNK], axis=1)
        wealth[going] = course[:, -1]
        near = np.flatnonzero(
            course.max(axis=(1, 2)) >= needed
        )  # the total wealth is at most the largest wealth of a player
        passed = log_wealth(course[near]) >= needed
        hit = passed.any(axis=1)
        reached[going[near[hit]]] = start + 1 + passed[hit].argmax(axis=1)
    return reached


def _quantile(ends: NDArray[np.int64], share: float) -> int | None:
    """Returns the further units until a share of the continuations has ended; ``None`` beyond the limit."""
    end = int(np.sort(ends)[int(np.ceil(share * len(ends))) - 1])
    return end if end <= LIMIT else None


@dataclass(frozen=True)
class EValue:
    """Evidence that a policy is better by more than the margin.

    Attributes:
        e: current e-value: the wealth of a bet that started with 1; 1 for no evidence, below 1 for evidence to the contrary.
        peak: largest e-value up to now, which decides; the current one for units without an order.
        p: p-value, min(1, 1 / peak); valid at any stopping time.
    """

    e: float
    peak: float
    p: float


@dataclass(frozen=True)
class ConfidenceSequence:
    """A value with a confidence sequence, which covers the true value at all times with probability 1 - level.

    Attributes:
        value: the estimate; ``None`` if missing or infinite.
        low: the lower end; ``None`` without a bound.
        high: the upper end; ``None`` without a bound.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PolicyComparison:
    """Comparison of two policies.

    Attributes:
        a: the first policy.
        b: the second policy.
        level: maximum probability of a wrong claim, over all looks.
        margin: lead required to be better, as a difference of the win rate from one half.
        equal_margin: margin for equality, in the same unit; ``None`` if not tested.
        units: number of observed units.
        unit: kind of unit: ``pairs`` (a deal from both seats), ``matched pairs``, ``deals``, ``battles``, ``shared deals`` or
            ``rounds``.
        left_out: battles in no unit because the battle with exchanged seats is missing; for ``shared deals``, incomplete deals.
        needed: e-value required to call a policy better.
        a_better: evidence that the first policy is better.
        b_better: evidence that the second policy is better.
        better: the policy that is better by more than the margin, or ``None``.
        after: number of units at this decision; ``None`` without a decision.
        equal: whether they are equal within ``equal_margin``; ``None`` if not tested.
        equal_evidence: smaller of the two peak e-values for equality; ``None`` if not tested.
        equal_needed: e-value required of both.
        win_rate: win rate of the first policy, with ties as halves; for shared deals, the share on which it leads.
        elo: the win rate as an Elo difference; all ``None`` for shared deals.
        more: forecast for further units; ``None`` if everything is decided or no unit was observed.
        notes: warnings about assumptions that do not hold.
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
    win_rate: ConfidenceSequence
    elo: ConfidenceSequence
    more: UnitsForecast | None
    notes: tuple[str, ...]

    @property
    def p(self) -> float:
        """P-value for either policy being better, valid at any stopping time."""
        return min(1.0, 2 * min(self.a_better.p, self.b_better.p))


@dataclass(frozen=True)
class Champion:
    """Comparisons of challengers with one champion, at one family-wise level.

    Attributes:
        champion: the policy compared with all others.
        level: maximum probability of any wrong claim, over all looks.
        comparisons: one per challenger, with the challenger as the first policy; ``better`` and ``after`` are not corrected for
            multiple comparisons.
        p: p-value per challenger, corrected by Holm's method.
        better: better policy per challenger at the family-wise level, or ``None``.
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
        units: units of the two policies; see ``rating.stats.units.units_of``.
        a: name of the first policy.
        b: name of the second policy.
        level: maximum probability of a wrong claim, over all looks.
        margin: required lead of the win rate over one half, 0 or more and below 0.5; ``elo_margin`` converts it from Elo.
        equal: margin for equality, above ``margin`` and below 0.5; ``None`` to skip the test.
        ahead: whether to forecast further units.
        seed: seed of the forecast.

    Raises:
        OptionError: if a number is out of range.
    """
    _check("level", level, 0.0, 1.0, open_low=True)
    _check("margin", margin, 0.0, 0.5, open_low=False)
    if equal is not None:
        _check("equal", equal, margin, 0.5, open_low=True)
    needed = 2 / level
    for_a, for_b = (_log_evidence(units, bet) for bet in _bets(0.5 + margin, needed))
    after, better = min(
        (reached, name)
        for reached, name in ((_reached(for_a, needed), a), (_reached(for_b, needed), b), (math.inf, ""))
        if reached is not None
    )
    bets_of_equal = () if equal is None else _bets(0.5 - equal, 1 / level)
    peaks = [_evidence(_log_evidence(units, bet)).peak for bet in bets_of_equal]
    is_equal = None if equal is None else min(peaks) >= 1 / level
    win_rate, notes = _win_rate(units, level)
    settled = not ahead or not len(units.scores) or (better and equal is None) or is_equal
    decisions = [[bet] for bet in ([] if better else _bets(0.5 + margin, needed))]
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
        elo=_elo(win_rate) if units.kind != SHARED else ConfidenceSequence(None, None, None),
        more=None if settled else forecast(units, [*decisions, *([bets_of_equal] if equal else [])], seed=seed),
        notes=(*notes, *([_GROWING] if units.weights is not None and not units.ordered else [])),
    )


def compare_champion(comparisons: Sequence[PolicyComparison]) -> Champion:
    """Corrects the comparisons of challengers with one champion for multiple comparisons.

    Each comparison tests two hypotheses: the challenger is better, the champion is better. Holm's correction of all p-values
    keeps the family-wise error at the level under any dependence, such as the common champion. The corrected p-values are valid
    at any stopping time, like the original ones.

    Args:
        comparisons: one or more at one level, each with the champion as the second policy.

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
    """Returns units that average one unit of each environment.

    Their number is the smallest number of units of any environment. Their expected score is the mean win rate over the
    environments, so a comparison of them applies to the average, not to any one environment.

    Args:
        units: by environment.

    Returns:
        ``None`` for fewer than two environments, an environment without units, or weighted units.
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
    """Returns the lead of the expected score over one half for an Elo difference: 0.0715 for 50 Elo."""
    return 1 / (1 + 10 ** (-elo / 400)) - 0.5


def elo_of(win_rate: float | None) -> float | None:
    """Returns the Elo difference for a win rate; ``None`` if it is infinite."""
    if win_rate is None or not 0 < win_rate < 1:
        return None
    return 400 * math.log10(win_rate / (1 - win_rate))


def _elo(win_rate: ConfidenceSequence) -> ConfidenceSequence:
    return ConfidenceSequence(*map(elo_of, (win_rate.value, win_rate.low, win_rate.high)))


def _check(name: str, value: float, low: float, high: float, *, open_low: bool) -> None:
    if not isinstance(value, Real) or not low <= value < high or (open_low and value == low):
        raise OptionError(
            f"{name}: expected a number {f'above {low:g}' if open_low else f'of {low:g} or more'}, below {high:g}; got {value!r}"
        )


def _bets(mean: float, needed: float) -> tuple[Bet, Bet]:
    """Returns the bets of both policies against a mean score of at most ``mean``."""
    return Bet(mean, needed), Bet(mean, needed, of_second=True)


def _log_evidence(units: Units, bet: Bet) -> Floats:
    scores = 1 - units.scores if bet.of_second else units.scores
    if units.ordered or not len(scores):
        return log_evidence(scores, bet.mean, units.weights)
    return np.array([final_log_evidence(scores, bet.mean, units.weights)])


def _evidence(logs: Floats) -> EValue:
    """Returns the evidence after the last unit; the e-value is 1 without units."""
    now, peak = (float(logs[-1]), max(0.0, float(logs.max()))) if len(logs) else (0.0, 0.0)
    return EValue(e_value(now), e_value(peak), math.exp(-peak))


def _reached(logs: Floats, needed: float) -> int | None:
    """Returns the number of units until the e-value first reached ``needed``; ``None`` if it did not."""
    above = np.flatnonzero(logs >= math.log(needed))
    return int(above[0]) + 1 if len(above) else None


def _win_rate(units: Units, level: float) -> tuple[ConfidenceSequence, tuple[str, ...]]:
    if not len(units.scores):
        return ConfidenceSequence(None, None, None), ()
    value = float(np.average(units.scores, weights=units.weights))
    low, high = _bounds(units, level, ever=units.ordered)
    if low <= value <= high:
        return ConfidenceSequence(value, low, high), ()
    note = "no constant win rate agrees with all results: they changed during the run; the interval is that of the last look"
    return ConfidenceSequence(value, *_bounds(units, level, ever=False)), (note,)


def _bounds(units: Units, level: float, *, ever: bool) -> tuple[float, float]:
    low = betting.lower_bound(units.scores, level / 2, units.weights, ever=ever)
    return low, 1 - betting.lower_bound(1 - units.scores, level / 2, units.weights, ever=ever)
