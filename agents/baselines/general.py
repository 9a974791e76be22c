"""Players of every game."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from agents.policy import ScriptedPolicy


class Random(ScriptedPolicy):
    """Plays a random legal action: each as likely as the others where they are enumerated, else as the game draws them."""

    reads: ClassVar[str] = "draw"

    def __call__(self, draw: Callable[[np.random.Generator], Any]) -> Any:
        """Returns a legal action drawn with the policy's own generator."""
        return draw(self.rng)


class FirstLegal(ScriptedPolicy):
    """Plays the legal action with the smallest number, where actions are enumerated."""

    def __call__(self, view: Any) -> Any:
        """Returns the first legal action."""
        return view.legal[0]


BASELINES = {"random": Random, "first_legal": FirstLegal}
