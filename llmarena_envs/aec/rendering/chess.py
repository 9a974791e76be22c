"""Rendering of chess: the board, its FEN, and moves in standard algebraic notation; UCI is read as well."""

from collections.abc import Mapping
from typing import Any

from llmarena_envs.aec.rendering.rendering import Rendering
from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.core.named_moves import Spellings


def _render(env: Any, agent: str) -> tuple[Part, ...]:
    rows = tuple([tuple(line.split(" ")) for line in str(env.board).splitlines()])
    white, black = env.possible_agents
    return (
        Grid(rows, tuple("87654321"), tuple("abcdefgh")),
        f"{white} plays White (capitals), {black} plays Black.",
        f"FEN: {env.board.fen()}",
    )


def _moves(env: Any, agent: str, actions: tuple[int, ...]) -> list[Any]:
    from pettingzoo.classic.chess.chess_utils import action_to_move

    player = env.possible_agents.index(agent)
    return [action_to_move(env.board, action, player) for action in actions]


def _names(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([env.board.san(move) for move in _moves(env, agent, actions)])


def _spellings(env: Any, agent: str, actions: tuple[int, ...], names: tuple[str, ...]) -> Spellings:
    """Returns each move in UCI, and without the mark of check or mate."""
    found = []
    for index, (move, name) in enumerate(zip(_moves(env, agent, actions), names, strict=True)):
        found += [(text, index) for text in (move.uci(), name.rstrip("+#")) if text != name]
    return tuple(found)


RENDERINGS: Mapping[str, Rendering] = {
    "pettingzoo.classic.chess_v6": Rendering(_render, _names, _spellings),
}
