"""Search for every game whose actions are enumerated, with hidden information and simultaneous moves."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from agents.policy import ScriptedPolicy
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import check_int

EXPLORATION = 1.4
"""Weight of rarely tried actions, in standard deviations of the returns."""

WIDENING = 2.0
"""A node tries at most ``WIDENING * sqrt(n)`` actions in ``n`` visits: with many actions, each of these is tried repeatedly."""

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
        self.visits, self.available = 0, 1
        self.total = 0.0


class _Node:
    """A sequence of actions from the root, in any of the sampled positions.

    Attributes:
        visits: how often an action was chosen here.
        arms: results by agent and action.
        children: next nodes by the actions of a stage.
    """

    __slots__ = ("arms", "children", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.arms: dict[str, dict[Any, _Arm]] = {}
        self.children: dict[tuple[Any, ...], _Node] = {}


class _Spread:
    """Standard deviation of each agent's returns in the search."""

    def __init__(self, agents: tuple[str, ...]) -> None:
        self._count = 0
        self._means = dict.fromkeys(agents, 0.0)
        self._squares = dict.fromkeys(agents, 0.0)

    def add(self, returns: dict[str, float]) -> None:
        self._count += 1
        for agent, value in returns.items():
            before = value - self._means[agent]
            self._means[agent] += before / self._count
            self._squares[agent] += before * (value - self._means[agent])

    def of(self, agent: str) -> float:
        return math.sqrt(self._squares[agent] / max(1, self._count))


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
        legal = game.legal_actions(self.agent)
        if len(legal) == 1:
            return legal[0]
        root, spread = _Node(), _Spread(game.agents)
        for _ in range(self._simulations):
            self._simulate(position(self.rng), root, spread)
        arms = root.arms[self.agent]
        tried = [action for action in legal if action in arms]
        return max(tried, key=lambda action: (arms[action].visits, arms[action].total))

    def _simulate(self, game: AnyGame, node: _Node, spread: _Spread) -> None:
        """Plays one simulation and adds its returns to the nodes on its path."""
        returns = dict.fromkeys(game.agents, 0.0)
        path: list[tuple[str, _Arm]] = []
        is_new = False
        while game.to_move and not is_new:
            actions = tuple([self._select(node, agent, game, path, spread) for agent in game.to_move])
            is_new = actions not in node.children
            node = node.children.setdefault(actions, _Node())
            _apply(game, actions, returns)
        for _ in range(self._playout):
            if not game.to_move:
                break
            _apply(game, tuple([game.random_action(agent, self.rng) for agent in game.to_move]), returns)
        spread.add(returns)
        for agent, arm in path:
            arm.visits += 1
            arm.total += returns[agent]

    def _select(self, node: _Node, agent: str, game: AnyGame, path: list[tuple[str, _Arm]], spread: _Spread) -> Any:
        """Returns the action of an agent: one that was never tried, or the one with the highest upper bound."""
        arms = node.arms.setdefault(agent, {})
        node.visits += 1
        legal = game.legal_actions(agent)
        tried = [action for action in legal if action in arms]
        for action in tried:
            arms[action].available += 1
        if len(tried) < len(legal) and len(tried) < WIDENING * math.sqrt(node.visits):
            chosen = self.choose([action for action in legal if action not in arms])
            arms[chosen] = _Arm()
        else:
            scale = spread.of(agent)
            chosen = max(tried, key=lambda action: _upper_bound(arms[action], scale))
        path.append((agent, arms[chosen]))
        return chosen


def _upper_bound(arm: _Arm, scale: float) -> float:
    return arm.total / arm.visits + EXPLORATION * scale * math.sqrt(math.log(arm.available) / arm.visits)


def _apply(game: AnyGame, actions: tuple[Any, ...], returns: dict[str, float]) -> None:
    game.apply(actions)
    for agent, reward in zip(game.agents, game.rewards, strict=True):
        returns[agent] += reward
