"""Pools of made-up policies of known strength, and matches between them: what simulations of ratings are played with."""

import math
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

ELO_PER_NAT = 400 / math.log(10)


def pool(name: str, seed: int = 0) -> NDArray[np.float64]:
    """Returns the strengths of a pool, in Elo.

    Args:
        name: ``A`` (14, quantiles of a normal distribution, sd 200), ``B`` (14, even steps of 60), ``C`` (14 drawn at random, sd
            200), ``D`` (14: three weak, nine close at steps of 30, two strong), ``outlier`` (5 at steps of 30 and one at +900),
            or ``wide`` (40, quantiles, sd 200).
        seed: of what is drawn.
    """
    match name:
        case "A":
            return 200 * np.array([NormalDist().inv_cdf((rank + 0.5) / 14) for rank in range(14)])
        case "B":
            return np.arange(14) * np.float64(60)
        case "C":
            return np.random.default_rng([2026, seed]).normal(0, 200, 14)
        case "D":
            return np.array([-560.0, -480, -400, *(30.0 * np.arange(-4, 5)), 360, 460])
        case "outlier":
            return np.array([*(30.0 * np.arange(5)), 900.0])
        case "wide":
            return 200 * np.array([NormalDist().inv_cdf((rank + 0.5) / 40) for rank in range(40)])
    raise ValueError(f"pool: expected A, B, C, D, outlier or wide, got {name!r}")


@dataclass
class Duellists:
    """Players of known strength; every duel is drawn from the Bradley-Terry model.

    Attributes:
        strengths: in Elo, shape (n,).
        rng: of the results.
        seat: advantage of the first seat, in Elo.
        ties: share of ties, whatever the strengths.
    """

    strengths: NDArray[np.float64]
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    seat: float = 0.0
    ties: float = 0.0

    def play(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the scores of the first players, 1, 0.5 or 0; shape (m,) for two arrays of indices of that shape."""
        lead = (self.strengths[first] - self.strengths[second] + self.seat) / ELO_PER_NAT
        score = (self.rng.random(len(first)) < 1 / (1 + np.exp(-lead))).astype(float)
        score[self.rng.random(len(first)) < self.ties] = 0.5
        return score
