"""Bounds of the listed games: the number of turns and the lowest total of a player."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Limits(NamedTuple):
    """Bounds of a match.

    Attributes:
        max_turns: number of turns after which a match ends with the rewards so far.
        lowest: lowest total reward of a player.
    """

    max_turns: int
    lowest: float = -1.0


_CHESS_TURNS = 1000
# Those of chess and go are not part of the rules; they are longer than matches of random moves.
_LIMITS: Mapping[str, Callable[[Any], Limits]] = {
    "pettingzoo.classic.chess_v6": lambda env: Limits(_CHESS_TURNS),
    "pettingzoo.classic.go_v5": lambda env: Limits(3 * env._N**2 + 100),
    "pettingzoo.classic.tictactoe_v3": lambda env: Limits(9),
    "pettingzoo.classic.connect_four_v3": lambda env: Limits(42),
    "pettingzoo.classic.rps_v2": lambda env: Limits(2 * env.max_cycles, -env.max_cycles),
    # In a betting round every raise lets each player act once more.
    "pettingzoo.classic.leduc_holdem_v4": lambda env: Limits(2 * 3 * env.num_players, -7.0),
    "pettingzoo.classic.texas_holdem_v4": lambda env: Limits(4 * 5 * env.num_players, -25.0),
    # A raise is at least half the pot, so there are at most 16 before all chips are in.
    "pettingzoo.classic.texas_holdem_no_limit_v6": lambda env: Limits((4 + 16) * env.num_players, -100.0),
    "pettingzoo.classic.hanabi_v5": lambda env: Limits(env.hanabi_env._env.max_game_length(), 0.0),
}
_OTHER_TURNS = 1000


def _other(env: Any) -> Limits:
    return Limits(_OTHER_TURNS)


def limits_of(module: str, env: Any) -> Limits:
    """Returns the bounds of a game; a module that is not listed has a default number of turns."""
    return _LIMITS.get(module, _other)(env)
