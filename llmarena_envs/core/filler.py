"""Texts that stand where some text is needed and its words do not matter: in random actions, and for speech that is redrawn."""

import numpy as np


def filler(what: str, number: int) -> str:
    """Returns a sentence without meaning.

    Args:
        what: what it stands for, e.g. ``An answer``.
        number: tells it from others.
    """
    return f"{what} without meaning, number {number}."


def drawn_filler(what: str, rng: np.random.Generator) -> str:
    """Returns one of a thousand sentences without meaning."""
    return filler(what, int(rng.integers(1000)))
