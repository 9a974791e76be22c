"""Policies for OpenSpiel's games: OpenSpiel's tree searches, and exact play of small games."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from agents.policy import ScriptedPolicy
from llmarena_envs.core.options import check_int
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.openspiel.env import SpielEnv
from llmarena_envs.openspiel.game import SpielGame, import_pyspiel

EXPLORATION = 1.4
"""Weight of rarely tried moves, in units of the highest reward."""

_MEMORY = 1000
"""Maximum size of a search tree, in megabytes."""

SOLVABLE = ("dots_and_boxes", "nim", "tic_tac_toe")
"""Games that ``minimax`` searches to the end."""


class Search(ScriptedPolicy):
    """Chooses by OpenSpiel's Monte Carlo tree search with random playouts, in games without hidden information.

    OpenSpiel's search over information sets does not repeat its choices with the same seed; the general ``mcts`` does.

    Args:
        simulations: number of simulations per move, 1 to 1,000,000.
    """

    reads: ClassVar[str] = "position"

    def __init__(self, simulations: int = 200) -> None:
        check_int("simulations", simulations, 1, 1_000_000)
        self._simulations = simulations

    def __call__(self, position: Callable[[np.random.Generator], SpielGame]) -> int:
        """Returns the move of the search."""
        game = position(self.rng)
        legal = game.view(self.agent).legal
        if len(legal) == 1:
            return legal[0]
        spiel, seed = import_pyspiel(), int(self.rng.integers(2**31))
        evaluator = spiel.RandomRolloutEvaluator(1, seed)
        scale = EXPLORATION * game.spiel_game.max_utility()
        bot = spiel.MCTSBot(game.spiel_game, evaluator, scale, self._simulations, _MEMORY, False, seed, False)
        return int(bot.step(game.state))


class Minimax(ScriptedPolicy):
    """Plays a best move of a small game, drawn from equally good ones, by a search to the end."""

    reads: ClassVar[str] = "position"

    def __init__(self) -> None:
        self._values: dict[str, float] = {}

    def __call__(self, position: Callable[[np.random.Generator], SpielGame]) -> int:
        """Returns a best move."""
        state = position(self.rng).state
        player = state.current_player()
        values = {action: self._value(state.child(action), player) for action in state.legal_actions()}
        best = max(values.values())
        return int(self.choose([action for action, value in values.items() if value == best]))

    def _value(self, state: Any, player: int) -> float:
        """Returns the value of a position for a player, with best play of both sides."""
        if state.is_terminal():
            return float(state.returns()[player])
        mover = state.current_player()
        key = f"{player} {mover} {state}"
        if key not in self._values:
            values = [self._value(state.child(action), player) for action in state.legal_actions()]
            self._values[key] = max(values) if mover == player else min(values)
        return self._values[key]


def baselines(raw_env: type[TextEnv]) -> dict[str, Callable[..., ScriptedPolicy]]:
    """Returns the policies of a game besides the general ones."""
    assert issubclass(raw_env, SpielEnv)
    policies: dict[str, Callable[..., ScriptedPolicy]] = {}
    if raw_env.is_public and not raw_env.listed.simultaneous:
        policies["mcts"] = Search
    if raw_env.listed.name in SOLVABLE:
        policies["minimax"] = Minimax
    return policies
