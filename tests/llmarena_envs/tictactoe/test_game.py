import copy
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.options import OptionError
from llmarena_envs.tictactoe.game import LINES, TicTacToe, from_pettingzoo, has_line, to_pettingzoo
from tests.llmarena_envs.random_games import diagram, play_beside_open_spiel


def _start() -> TicTacToe:
    game = TicTacToe()
    game.reset(np.random.default_rng(0))
    return game


def _after(*moves: int) -> TicTacToe:
    game = _start()
    for move in moves:
        assert game.why_illegal(game.to_move[0], move) is None
        game.apply((move,))
    return game


def _result(game: TicTacToe) -> str:
    return {(1.0, -1.0): "X", (-1.0, 1.0): "O", (0.0, 0.0): "draw"}[game.rewards]


def _children(game: TicTacToe) -> list[TicTacToe]:
    children = []
    for cell in game.view(game.to_move[0]).legal if game.to_move else ():
        child = copy.copy(game)
        child.apply((cell,))
        children.append(child)
    return children


def test_all_positions() -> None:
    known = {_start().board: _start()}
    layer = list(known.values())
    while layer:
        layer = [child for game in layer for child in _children(game)]
        layer = list({child.board: child for child in layer}.values())
        known |= {child.board: child for child in layer}
    ends = Counter(_result(game) for game in known.values() if not game.to_move)
    assert len(known) == 5478
    assert ends == {"X": 626, "O": 316, "draw": 16}


def test_all_games_by_their_result() -> None:
    @cache
    def continuations(board: str) -> Counter[str]:
        game = known[board]
        if not game.to_move:
            return Counter([_result(game)])
        total: Counter[str] = Counter()
        for child in _children(game):
            known[child.board] = child
            total += continuations(child.board)
        return total

    known = {_start().board: _start()}
    counts = continuations(_start().board)
    assert counts == {"X": 131_184, "O": 77_904, "draw": 46_080}
    assert counts.total() == 255_168


def test_best_play_is_a_draw() -> None:
    @cache
    def value(board: str) -> float:
        game = known[board]
        if not game.to_move:
            return game.rewards[0]
        children = _children(game)
        known.update((child.board, child) for child in children)
        best = max if game.to_move == ("player_0",) else min
        return best(value(child.board) for child in children)

    known = {_start().board: _start()}
    assert value(_start().board) == 0
    assert all(value(_after(cell).board) == 0 for cell in range(9))


@pytest.mark.needs("pyspiel")
def test_open_spiel_plays_the_same_game() -> None:
    plies = play_beside_open_spiel(TicTacToe(), "tic_tac_toe", games=3000, seed=1)
    assert plies > 3000 * 7


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("winner", [0, 1])
def test_every_line_wins_for_either_player(line: tuple[int, int, int], winner: int) -> None:
    others = [cell for cell in range(9) if cell not in line]
    loser = next(
        cells
        for cells in ((a, b, c) for a in others for b in others for c in others if a < b < c)
        if not any(set(known) <= set(cells) for known in LINES)
    )
    if winner == 0:
        moves = (line[0], loser[0], line[1], loser[1], line[2])
    else:
        moves = (loser[0], line[0], loser[1], line[1], loser[2], line[2])
    game = _after(*moves)
    assert game.to_move == ()
    assert game.rewards == ((1.0, -1.0) if winner == 0 else (-1.0, 1.0))


def test_a_full_board_without_a_line_is_a_draw() -> None:
    game = _after(0, 1, 2, 4, 3, 5, 7, 6, 8)
    assert game.board == diagram("XOX", "XOO", "OXX")
    assert (game.to_move, game.rewards) == ((), (0.0, 0.0))


def test_a_line_with_the_last_move_wins() -> None:
    game = _after(0, 1, 2, 3, 4, 5, 7, 6, 8)
    assert "_" not in game.board
    assert game.rewards == (1.0, -1.0)


def test_rows_and_columns_count_from_the_top_left() -> None:
    game = _after(2, 3)
    assert game.board == diagram("..X", "O..", "...")
    assert game.why_illegal("player_0", 3) == Reason("taken", {"row": 2, "column": 1})
    assert game.why_illegal("player_0", -1) == game.why_illegal("player_0", 9) == Reason("off_board")


@pytest.mark.parametrize("plies", range(5))
def test_random_openings(plies: int) -> None:
    game, boards = TicTacToe(plies), set()
    for seed in range(200):
        game.reset(np.random.default_rng(seed))
        assert len(game.moves) == plies
        assert game.to_move == (f"player_{plies % 2}",)
        assert game.rewards == (0.0, 0.0)
        assert not has_line(game.board)
        boards.add(game.board)
    assert len(boards) >= [1, 9, 60, 100, 100][plies]
    game.reset(np.random.default_rng(7))
    first = game.moves
    game.reset(np.random.default_rng(7))
    assert game.moves == first


@pytest.mark.parametrize("value", [-1, 5, 1.0, True, "2"])
def test_wrong_openings(value: Any) -> None:
    with pytest.raises(OptionError, match="random_opening: expected an integer from 0 to 4"):
        TicTacToe(value)


def test_conversion_to_pettingzoo_counts_down_the_columns() -> None:
    assert [to_pettingzoo(cell) for cell in range(9)] == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert all(from_pettingzoo(to_pettingzoo(cell)) == cell for cell in range(9))
