"""A rule about hidden information: ``Game.resample`` redraws all of it."""

import copy
import itertools
from typing import Any

import numpy as np

from llmarena_envs.core.game import Game
from llmarena_envs.testing.transcript import plain
from llmarena_envs.testing.trial import Trial

DEALS = 300
"""Number of deals compared with each other."""

ALIKE = 5
"""Minimum number of pairs of deals, equal for an agent but different for others, for information to count as unknown."""

SHARE = 0.1
"""Minimum share of these pairs with a difference."""

REDRAWS = 100
"""Number of redraws; information that differs in ``SHARE`` of the pairs never changes with a probability of 3 in 100 000."""


def what_others_know_is_redrawn(trial: Trial) -> None:
    """Others' information that an agent cannot know at the beginning of a match sometimes changes with ``resample``.

    If deals look the same to an agent, with the same agents to move, but differ for others, the agent cannot know the others'
    information. If redrawing for the agent never changes it, ``resample`` is incomplete, and no rule would find a text that
    leaks it.
    """
    raw = trial.make().unwrapped
    if not hasattr(raw, "game") or raw.game.perfect_information:
        return
    game, positions = raw.game, []
    trial.seed, trial.turn = trial.seeds[0], 0
    for deal in range(DEALS):
        game.reset(np.random.default_rng([trial.seeds[0], deal]))
        positions.append(copy.copy(game))
    for agent in game.agents:
        _check_what_is_unknown(trial, positions, agent)


def _check_what_is_unknown(trial: Trial, positions: list[Game[Any, Any]], agent: str) -> None:
    alike: dict[str, list[Game[Any, Any]]] = {}
    for position in positions:
        alike.setdefault(repr((position.to_move, plain(position.view(agent)))), []).append(position)
    pairs = [(left, right) for group in alike.values() for left, right in itertools.pairwise(group)]
    seen = [(_seen_by_others(left, agent), _seen_by_others(right, agent)) for left, right in pairs]
    unknown = set()
    for fact in seen[0][0] if seen else ():
        differ = sum(left[fact] != right[fact] for left, right in seen)
        if differ >= max(ALIKE, SHARE * len(seen)):
            unknown.add(fact)
    rng = np.random.default_rng([trial.seeds[0], 1])
    for turn in range(REDRAWS):
        if not unknown:
            return
        position, _ = pairs[turn % len(pairs)]
        before, twin = seen[turn % len(pairs)][0], copy.copy(position)
        twin.resample(agent, rng)
        after = _seen_by_others(twin, agent)
        unknown = {fact for fact in unknown if before[fact] == after[fact]}
    told = sorted(f"{field} of {other}" for other, field in unknown)
    trial.fail(
        "resample(agent, rng) to redraw what others see in other deals that look the same to the agent",
        f"never another value of: {', '.join(told)}",
        agent,
    )


def _seen_by_others(game: Game[Any, Any], agent: str) -> dict[tuple[str, str], str]:
    """Returns the views of the other agents, by agent and field."""
    views = [game.view(other) for other in game.agents if other != agent]
    return {(view.agent, field): repr(plain(getattr(view, field))) for view in views for field in view._fields}


RULES = (what_others_know_is_redrawn,)
