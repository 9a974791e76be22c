"""Rendering of go: the board with coordinates as in GTP, e.g. D4, without the column I."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from llmarena_envs.aec.rendering.rendering import Rendering
from llmarena_envs.core.grid import Grid, Part

_COLUMNS = "ABCDEFGHJKLMNOPQRST"
_STONES = {0: ".", 1: "X", -1: "O"}
_lock = threading.RLock()


@contextmanager
def _guard(env: Any) -> Iterator[None]:
    """Sets the board size of PettingZoo's go, a variable of its module, to the size of this environment."""
    from pettingzoo.classic.go import go_base

    with _lock:
        if env is not None and go_base.N != env._N:
            env._overwrite_go_global_variables(board_size=env._N)
        yield


def _render(env: Any, agent: str) -> tuple[Part, ...]:
    size, position = env._N, env._go
    rows = tuple([tuple([_STONES[int(stone)] for stone in row]) for row in position.board])
    black, white = env.possible_agents
    captured = position.caps
    return (
        Grid(rows, tuple(map(str, range(size, 0, -1))), tuple(_COLUMNS[:size])),
        f"{black} plays black (X), {white} plays white (O). Komi: {env._komi:g}.",
        f"Stones captured by {black}: {captured[0]}, by {white}: {captured[1]}.",
    )


def _names(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    size = env._N
    return tuple(
        ["pass" if action == size * size else f"{_COLUMNS[action % size]}{size - action // size}" for action in actions]
    )


RENDERINGS: Mapping[str, Rendering] = {
    "pettingzoo.classic.go_v5": Rendering(_render, _names, guard=_guard),
}
