"""Redraws a user's hidden strategies."""

import numpy as np

from llmarena_envs.simulation.actions import OTHER, STRATEGIES, Utterance


def other_strategy(message: Utterance, rng: np.random.Generator) -> Utterance:
    """Returns a request with another strategy if it has one."""
    if not message.strategy:
        return message
    strategy = STRATEGIES[int(rng.integers(len(STRATEGIES)))]
    return message._replace(strategy=strategy, unformatted=strategy == OTHER and bool(rng.integers(2)))
