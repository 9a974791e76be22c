"""Asking scripted players without the loop that plays matches."""

from typing import Any


def answer(policy: Any, game: Any, agent: str) -> Any:
    """Returns the reply of a policy, as ``agent``, at the present position of a game or an environment."""
    if policy.reads == "draw":
        return policy(lambda rng: game.random_action(agent, rng))
    if policy.reads == "position":
        return policy(lambda rng: game.sampled(agent, rng))
    return policy(game.view(agent))
