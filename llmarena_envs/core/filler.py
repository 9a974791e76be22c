"""Placeholder texts, for random actions and redrawn messages."""

import numpy as np


def filler(what: str, number: int) -> str:
    """Returns a placeholder sentence.

    Args:
        what: kind of text, e.g. ``An answer``.
        number: distinguishes it from others.
    """
    return f"{what} without meaning, number {number}."


def drawn_filler(what: str, rng: np.random.Generator) -> str:
    """Returns one of a thousand placeholder sentences."""
    return filler(what, int(rng.integers(1000)))
