"""The mean score of duels, `score, %`: pools whose true scores are known; rows of ``coverage``."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from rating.stats.bradley_terry import ELO_PER_NAT, Comparisons, fit
from rating.stats.bradley_terry.model import BradleyTerryOptions
from rating.stats.design import Design
from rating.stats.expected_scores import met_scores
from research.trials import Setting, Trial

Floats = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(20)


def rows() -> tuple[Setting, ...]:
    """Returns every row."""
    return (
        *(
            Setting(f"score, 8 policies, sd {sd}, {deals} deals a pair", partial(scores, sd=sd, deals=deals))
            for sd in (0, 100, 300, 800)
            for deals in (10, 3)
        ),
        *(
            Setting(f"score, {size} policies, sd {sd}, 4 deals a pair", partial(scores, size=size, sd=sd, deals=4))
            for size, sd in ((14, 300), (4, 300), (4, 800))
        ),
        *(
            Setting(f"score, 8 policies, sd {sd}, {ties:.0%} ties", partial(scores, sd=sd, deals=10, ties=ties))
            for sd in (0, 300)
            for ties in (0.5, 0.9)
        ),
        Setting(
            "score, 6 policies, sd 200, 6 deals common to all, which suit by 150 Elo",
            partial(scores, size=6, sd=200, suit=150),
        ),
        *(
            Setting(f"score, adaptive play, 8 policies, sd {sd}, 300 games", partial(adaptive, sd=sd), share=0.5)
            for sd in (0, 300)
        ),
    )


def scores(
    rng: np.random.Generator, *, sd: float, size: int = 8, deals: int = 6, ties: float = 0.0, suit: float = 0.0
) -> Iterator[Trial]:
    """A round robin from both seats, on deals of each pair, or, if deals suit a policy more or less, on the same for all."""
    strengths, (one, other) = rng.normal(0, 1, size) * sd, np.triu_indices(size, 1)
    suits = rng.normal(0, 1, (deals, size)) * suit
    first, second = np.repeat(one, deals), np.repeat(other, deals)
    deal = np.tile(np.arange(deals), len(one))
    lead = strengths[first] - strengths[second] + suits[deal, first] - suits[deal, second]
    chance = 1 / (1 + np.exp(-np.tile(lead, 2) / ELO_PER_NAT))
    score = np.where(rng.random(len(chance)) < ties, 0.5, rng.random(len(chance)) < chance)
    score[len(first) :] = 1 - score[len(first) :]  # the first seat is the other one's
    cluster = np.tile(deal if suit else np.arange(len(first)), 2)
    names = tuple(f"{index:02}" for index in range(size))
    data = Comparisons(names, np.append(first, second), np.append(second, first), score, cluster)
    apart = strengths[:, None, None] - strengths[:, None] + _NODES * np.sqrt(2) * suit
    expected = (1 - ties) * (1 / (1 + np.exp(-apart / ELO_PER_NAT))) @ _WEIGHTS / _WEIGHTS.sum() + ties / 2
    np.fill_diagonal(expected, 0)
    return trials(data, expected.sum(axis=1) / (size - 1))


def adaptive(rng: np.random.Generator, *, sd: float, size: int = 8, games: int = 300) -> Iterator[Trial]:
    """Pairs chosen by the results so far; the truth is the mean expected score against those whom a policy met."""
    strengths = rng.normal(0, 1, size) * sd
    chance = 1 / (1 + np.exp(-(strengths[:, None] - strengths) / ELO_PER_NAT))
    design = Design(size, seed=int(rng.integers(2**32)))
    first, second = np.empty((2, games), dtype=np.int64)
    score = np.empty(games)
    for begin in range(0, games, 2):
        one, other = np.unravel_index(int(design.draw().argmax()), (size, size))
        both = slice(begin, begin + 2)
        first[both], second[both] = (one, other), (other, one)
        score[both] = rng.random(2) < chance[first[both], second[both]]
        wins, played = np.zeros((2, size, size))
        np.add.at(wins, (first[both], second[both]), score[both])
        np.add.at(played, (first[both], second[both]), 1)
        design.add(wins, played)
    names = tuple(f"{index:02}" for index in range(size))
    policy = np.append(first, second)
    met = np.bincount(policy, np.append(chance[first, second], chance[second, first]), size) / np.bincount(
        policy, minlength=size
    )
    return trials(Comparisons(names, first, second, score, np.arange(games) // 2), met)


def trials(data: Comparisons, truth: Floats) -> Iterator[Trial]:
    """Compares the intervals that are printed with the true mean scores."""
    fitted = fit(data, BradleyTerryOptions(prior_sd="fitted"))
    for name, estimate in met_scores(data, fitted).items():
        if estimate.low is not None and estimate.high is not None:
            true = float(truth[int(name)])
            half = (estimate.high - estimate.low) / 2
            yield Trial(estimate.low <= true <= estimate.high, half, abs(estimate.value - true))
