"""Policies for every game."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from agents.baselines.search import MonteCarloTreeSearch
from agents.policy import ScriptedPolicy


class Random(ScriptedPolicy):
    """Plays a random legal action, uniform if actions are enumerated, else as drawn by the game."""

    reads: ClassVar[str] = "draw"

    def __call__(self, draw: Callable[[np.random.Generator], Any]) -> Any:
        """Returns a legal action drawn with the policy's own generator."""
        return draw(self.rng)


class FirstLegal(ScriptedPolicy):
    """Plays the legal action with the smallest number, if actions are enumerated."""

    def __call__(self, view: Any) -> Any:
        """Returns the first legal action."""
        return view.legal[0]


BASELINES = {"random": Random, "first_legal": FirstLegal, "mcts": MonteCarloTreeSearch}
