"""Transitivity test: whether one ranking explains all results, the cycles if not, and the Nash average.

The advantage of one policy over another is the rating difference plus a correction from the results of the pair. The correction
is shrunk by a normal prior with a width estimated from all pairs, so pairs with few games do not create cycles.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from rating.stats.bradley_terry import ELO_PER_NAT, MEAN_RATING, Comparisons, Floats, standings, totals
from rating.stats.lack_of_fit import LackOfFit, lack_of_fit
from rating.stats.nash import nash_average

LEVEL = 0.01
"""Significance level; small, because every leaderboard is tested."""

_WEAK = 0.05
"""Largest p-value for reporting a weak sign."""

_CYCLES = 3
"""Maximum number of reported cycles."""


class Beat(NamedTuple):
    """Score of one policy against another."""

    winner: str
    loser: str
    score: float
    games: float


@dataclass(frozen=True)
class NashRow:
    """A policy in the Nash average.

    Attributes:
        policy: its name.
        weight: its share in the equilibrium mix, 0 to 1.
        skill: its advantage over this mix, in Elo, at most 0.
        rating: its Bradley-Terry rating, in Elo, as in ``standings``.
    """

    policy: str
    weight: float
    skill: float
    rating: float


@dataclass(frozen=True)
class Diagnosis:
    """Result of the transitivity test.

    Attributes:
        fit: the goodness-of-fit test of one scale.
        flagged: whether results of pairs deviate from one scale by more than chance and deals explain.
        cycles: cycles of three policies, the best established one first; empty unless flagged.
        nash: best first, ties by rating and name.
    """

    fit: LackOfFit
    flagged: bool
    cycles: tuple[tuple[Beat, ...], ...]
    nash: tuple[NashRow, ...]

    def notes(self) -> list[str]:
        """Returns the findings as sentences."""
        chance = f"p = {self.fit.p_value:.3f}, {len(self.fit.policies)} policies"
        if not self.flagged and self.fit.p_value <= _WEAK:
            return [
                f"a sign that who wins depends on who meets whom, but too weak a one ({chance}; {LEVEL:g} would do, as every"
                " leaderboard is tested)"
            ]
        if not self.flagged:
            return [f"no sign that who wins depends on who meets whom ({chance}); few games would not show it"]
        cycles = ["cycle: " + ", ".join(map(_in_words, cycle)) for cycle in self.cycles]
        return [
            f"results of pairs are further from one scale than chance and deals explain ({chance}, by {self.fit.scatter:.0f} "
            "Elo a pair): who wins depends on who meets whom, and ratings on who is in the pool",
            *(cycles or ["no three policies of it beat each other in a circle"]),
        ]


def diagnose(comparisons: Comparisons) -> Diagnosis | None:
    """Tests whether one ranking explains the results.

    Args:
        comparisons: any.

    Returns:
        ``None`` if no test is possible (``lack_of_fit``).
    """
    tested = lack_of_fit(comparisons)
    if tested is None:
        return None
    advantage, precision, ratings = _advantages(comparisons, tested)
    average = nash_average(advantage)
    rows = [
        NashRow(policy, float(weight), float(skill), float(rating))
        for policy, weight, skill, rating in zip(comparisons.policies, *average, ratings, strict=True)
    ]
    flagged = tested.p_value <= LEVEL
    return Diagnosis(
        tested,
        flagged,
        _cycles(comparisons, advantage * np.sqrt(precision)) if flagged else (),
        tuple(sorted(rows, key=lambda row: (-round(row.skill, 6), -round(row.rating, 6), row.policy))),
    )


def against_one_scale(comparisons: Comparisons) -> list[str]:
    """Returns warnings for a leaderboard if one ranking does not explain the results; empty otherwise."""
    tested = lack_of_fit(comparisons)
    if tested is None or tested.p_value > LEVEL:
        return []  # the usual case; the diagnosis takes longer than the test
    found = diagnose(comparisons)
    return found.notes() if found is not None else []


def _advantages(comparisons: Comparisons, tested: LackOfFit) -> tuple[Floats, Floats, Floats]:
    """Returns the advantage of the row over the column policy in Elo and its precision, shape (n, n) each, and the ratings."""
    fitted = standings(comparisons).fitted
    x, seat = (fitted.ratings - MEAN_RATING) / ELO_PER_NAT, fitted.seat_advantage / ELO_PER_NAT
    lead = x[:, None] - x
    wins, games = totals(comparisons)
    score, most = wins + (games - wins).T, games + games.T
    # If chance explains everything, the correction is 0.
    dispersion = max(tested.dispersion, 1e-9)
    prior = dispersion * (ELO_PER_NAT / max(tested.scatter, 1e-3)) ** 2
    low, high = -most / prior, most / prior
    for _ in range(100):
        added = (low + high) / 2
        expected = games * expit(lead + seat + added) + games.T * expit(lead - seat + added)
        above = score - expected > prior * added
        low, high = np.where(above, added, low), np.where(above, high, added)
    added = (low + high) / 2
    added = (added - added.T) / 2
    rate = expit(lead + added)
    precision = (most * rate * (1 - rate) + prior) / dispersion
    return (lead + added) * ELO_PER_NAT, precision, fitted.ratings


def _cycles(comparisons: Comparisons, evidence: Floats) -> tuple[tuple[Beat, ...], ...]:
    """Returns the cycles with the best established weakest link; ``evidence`` is the advantage in standard deviations."""
    names, size = comparisons.policies, len(comparisons.policies)
    wins, games = totals(comparisons)
    score, most = wins + (games - wins).T, games + games.T
    links = np.where(score > most / 2, evidence, 0.0)
    found: list[tuple[float, tuple[int, int, int]]] = []
    for a in range(size):
        weakest = np.minimum(np.minimum(links[a][:, None], links), links[:, a])
        weakest[: a + 1] = weakest[:, : a + 1] = 0.0  # each cycle once, from its first name
        best = np.argsort(-weakest, axis=None, kind="stable")[:_CYCLES]
        found += [(-float(weakest.flat[at]), (a, *divmod(int(at), size))) for at in best if weakest.flat[at] > 0]
    return tuple(
        tuple(
            Beat(names[one], names[other], float(score[one, other]), float(most[one, other]))
            for one, other in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        )
        for _, cycle in sorted(found)[:_CYCLES]
    )


def _in_words(beat: Beat) -> str:
    return f"{beat.winner} beats {beat.loser} ({beat.score:g} of {beat.games:g})"
