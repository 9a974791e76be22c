"""Redraws passages hidden from an agent."""

import numpy as np

from llmarena_envs.core.filler import drawn_filler
from llmarena_envs.debate.actions import Passage


def other_words(passage: Passage, rng: np.random.Generator) -> Passage:
    """Returns a passage with other words, or an empty one unchanged."""
    words = drawn_filler("Words", rng)
    return passage._replace(text=words if passage.text else "", truncated=False)
