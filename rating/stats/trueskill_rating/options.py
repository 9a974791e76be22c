"""TrueSkill parameters and ratings."""

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple


@dataclass(frozen=True)
class TrueSkillOptions:
    """Parameters of the model, in units of skill.

    Attributes:
        mu: mean of a new policy's skill.
        sigma: its standard deviation.
        beta: standard deviation of the performance in one match.
        tau: standard deviation of the skill drift between matches; 0 suits policies that do not learn. With drift, sigma never
            falls below a floor, for any number of matches.
        draw_probability: draw probability of two equally strong policies; at least 0 and below 1.
    """

    mu: float = 25.0
    sigma: float = 25.0 / 3
    beta: float = 25.0 / 6
    tau: float = 25.0 / 300
    draw_probability: float = 0.10

    def __post_init__(self) -> None:
        if not math.isfinite(self.mu):
            raise ValueError(f"mu: expected a finite number, got {self.mu}")
        for name in ("sigma", "beta"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name}: expected a positive number, got {getattr(self, name)}")
        if not 0 <= self.tau < math.inf:
            raise ValueError(f"tau: expected a number of 0 or more, got {self.tau}")
        if not 0 <= self.draw_probability < 1:
            raise ValueError(f"draw_probability: expected 0 or more and less than 1, got {self.draw_probability}")

    @cached_property
    def draw_margin(self) -> float:
        """Difference of two performances below which a match is a draw."""
        return NormalDist().inv_cdf((self.draw_probability + 1) / 2) * math.sqrt(2) * self.beta


class TrueSkillRating(NamedTuple):
    """A belief about a policy's skill: mean and standard deviation."""

    mu: float
    sigma: float
