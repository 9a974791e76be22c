"""Renderings of tic-tac-toe, connect four, and rock, paper, scissors."""

from collections.abc import Mapping
from typing import Any

from llmarena_envs.aec.rendering.rendering import Rendering
from llmarena_envs.core.grid import Grid, Part

MARKS = ".XO"
"""An empty cell, and the marks of the two players."""


def _marks(env: Any) -> str:
    first, second = env.possible_agents
    return f"{first} plays {MARKS[1]}, {second} plays {MARKS[2]}."


def _tictactoe(env: Any, agent: str) -> tuple[Part, ...]:
    squares = env.board.squares  # column by column
    rows = tuple([tuple([MARKS[squares[3 * column + row]] for column in range(3)]) for row in range(3)])
    return (Grid(rows, ("3", "2", "1"), ("a", "b", "c")), _marks(env))


def _squares(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([f"{'abc'[action // 3]}{3 - action % 3}" for action in actions])


def _connect_four(env: Any, agent: str) -> tuple[Part, ...]:
    rows = tuple([tuple([MARKS[cell] for cell in env.board[7 * row : 7 * row + 7]]) for row in range(6)])
    return (Grid(rows, (), tuple("1234567")), _marks(env))


def _columns(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([str(action + 1) for action in actions])


def _rps(env: Any, agent: str) -> tuple[Part, ...]:
    """Returns the last rounds; the first choice of a round is not among them before the second one is made."""
    names = [name.lower() for name in env._moves]
    first, second = env.possible_agents
    last: list[Part] = [
        f"Round {env.num_moves - index}: {first} {names[env.history[2 * index]]}, {second} {names[env.history[2 * index + 1]]}"
        for index in reversed(range(min(env.num_moves, len(env.history) // 2)))
    ]
    return (*last, f"Rounds played: {env.num_moves} of {env.max_cycles}.")


def _choices(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([env._moves[action].lower() for action in actions])


def _beaten(env: Any) -> dict[str, object]:
    """Returns the choices that each choice beats: lower ones of the other parity, higher ones of the same."""
    names = [name.lower() for name in env._moves[:-1]]
    lines = []
    for number, name in enumerate(names):
        beaten = [
            other
            for index, other in enumerate(names)
            if index != number and ((index - number) % 2 == 0) == (number < index)
        ]
        lines.append(f"{name} beats {', '.join(beaten)}")
    return {"beaten": "; ".join(lines)}


RENDERINGS: Mapping[str, Rendering] = {
    "pettingzoo.classic.tictactoe_v3": Rendering(_tictactoe, _squares),
    "pettingzoo.classic.connect_four_v3": Rendering(_connect_four, _columns),
    "pettingzoo.classic.rps_v2": Rendering(_rps, _choices, facts=_beaten),
}
