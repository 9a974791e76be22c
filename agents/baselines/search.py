"""Search for every game whose actions are enumerated, with hidden information and simultaneous moves."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from agents.policy import ScriptedPolicy
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import check_int

EXPLORATION = 0.7
"""Weight of rarely tried actions, for returns scaled to 0..1."""

AnyGame = Game[Any, Any]


class _Arm:
    """Results of one action of one agent at a node.

    Attributes:
        visits: how often it was chosen.
        total: sum of the agent's returns.
        available: how often it was legal.
    """

    __slots__ = ("available", "total", "visits")

    def __init__(self) -> None:
        self.visits = self.available = 0
        self.total = 0.0


class _Node:
    """A sequence of actions from the root, in any of the sampled positions.

    Attributes:
        arms: results by agent and action.
        children: next nodes by the actions of a stage.
    """

    __slots__ = ("arms", "children")

    def __init__(self) -> None:
        self.arms: dict[str, dict[Any, _Arm]] = {}
        self.children: dict[tuple[Any, ...], _Node] = {}


class _Scale:
    """Lowest and highest return of each agent in the search."""

    def __init__(self, agents: tuple[str, ...]) -> None:
        self._low = dict.fromkeys(agents, math.inf)
        self._high = dict.fromkeys(agents, -math.inf)

    def add(self, agent: str, value: float) -> None:
        self._low[agent] = min(self._low[agent], value)
        self._high[agent] = max(self._high[agent], value)

    def scaled(self, agent: str, value: float) -> float:
        low, high = self._low[agent], self._high[agent]
        return (value - low) / (high - low) if high > low else 0.5


class MonteCarloTreeSearch(ScriptedPolicy):
    """Chooses by information-set Monte Carlo tree search with random playouts.

    Each simulation draws a position that the agent cannot tell from the present one, follows the tree, adds one node and plays on
    at random. In the tree every agent chooses by UCB1; agents that move at once choose independently.

    Source: Cowling, Powley and Whitehouse, Information Set Monte Carlo Tree Search (2012), single observer.

    Args:
        simulations: number of simulations per move, 1 to 1,000,000.
        playout: maximum number of stages played at random after the new node; later rewards are not counted.
    """

    reads: ClassVar[str] = "position"

    def __init__(self, simulations: int = 200, playout: int = 200) -> None:
        check_int("simulations", simulations, 1, 1_000_000)
        check_int("playout", playout, 0, 1_000_000)
        self._simulations = simulations
        self._playout = playout

    def __call__(self, position: Callable[[np.random.Generator], AnyGame]) -> Any:
        """Returns the action with the most visits."""
        game = position(self.rng)
        legal = game.view(self.agent).legal
        if len(legal) == 1:
            return legal[0]
        root, scale = _Node(), _Scale(game.agents)
        for _ in range(self._simulations):
            self._simulate(position(self.rng), root, scale)
        arms = root.arms[self.agent]
        return max(legal, key=lambda action: (arms[action].visits, arms[action].total) if action in arms else (0, 0.0))

    def _simulate(self, game: AnyGame, node: _Node, scale: _Scale) -> None:
        """Plays one simulation and adds its returns to the nodes on its path."""
        returns = [0.0] * len(game.agents)
        path: list[tuple[str, _Arm]] = []
        is_new = False
        while game.to_move and not is_new:
            actions = tuple([self._select(node, agent, game, path, scale) for agent in game.to_move])
            is_new = actions not in node.children
            node = node.children.setdefault(actions, _Node())
            _apply(game, actions, returns)
        for _ in range(self._playout):
            if not game.to_move:
                break
            _apply(game, tuple([game.random_action(agent, self.rng) for agent in game.to_move]), returns)
        for agent, value in zip(game.agents, returns, strict=True):
            scale.add(agent, value)
        for agent, arm in path:
            arm.visits += 1
            arm.total += returns[game.agents.index(agent)]

    def _select(self, node: _Node, agent: str, game: AnyGame, path: list[tuple[str, _Arm]], scale: _Scale) -> Any:
        """Returns the action of an agent: one that was never tried, or the one with the highest upper bound."""
        arms = node.arms.setdefault(agent, {})
        legal = game.view(agent).legal
        for action in legal:
            arms.setdefault(action, _Arm()).available += 1
        untried = [action for action in legal if not arms[action].visits]
        chosen = self.choose(untried or [max(legal, key=lambda action: _upper_bound(arms[action], agent, scale))])
        path.append((agent, arms[chosen]))
        return chosen


def _upper_bound(arm: _Arm, agent: str, scale: _Scale) -> float:
    mean = scale.scaled(agent, arm.total / arm.visits)
    return mean + EXPLORATION * math.sqrt(math.log(arm.available) / arm.visits)


def _apply(game: AnyGame, actions: tuple[Any, ...], returns: list[float]) -> None:
    game.apply(actions)
    for seat, reward in enumerate(game.rewards):
        returns[seat] += reward
