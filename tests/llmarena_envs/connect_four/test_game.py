import copy
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from llmarena_envs import connect_four_v0
from llmarena_envs.connect_four.game import COLUMNS, ROWS, ConnectFour, has_four
from llmarena_envs.core.failures import Reason
from llmarena_envs.core.options import OptionError
from tests.llmarena_envs.random_games import diagram, play_beside_open_spiel

POSITIONS = (1, 7, 49, 238, 1120, 4263, 16422, 54859)
"""Distinct positions by number of discs; with seven discs 728 of them are won."""
WON = (0, 0, 0, 0, 0, 0, 0, 728)
FIRST_WINS, SECOND_WINS, DRAW = (1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)


def _after(moves: str) -> ConnectFour:
    """Plays columns counted from 1, as people write them."""
    game = ConnectFour()
    game.reset(np.random.default_rng(0))
    for move in moves:
        assert game.why_illegal(game.to_move[0], int(move) - 1) is None
        game.apply((int(move) - 1,))
    return game


@pytest.mark.slow
def test_positions_per_ply() -> None:
    layer = {(0, 0): _after("")}
    counts, won = [1], [0]
    for _ in POSITIONS[1:]:
        following: dict[tuple[int, int], ConnectFour] = {}
        for game in layer.values():
            for column in game.open_columns() if game.to_move else ():
                child = copy.copy(game)
                child.apply((column,))
                following[child.discs] = child
        layer = following
        counts.append(len(layer))
        won.append(sum(not game.to_move for game in layer.values()))
    assert tuple(counts) == POSITIONS
    assert tuple(won) == WON
    assert len({game.board for game in layer.values()}) == len(layer)


@pytest.mark.needs("pyspiel")
def test_open_spiel_plays_the_same_game() -> None:
    plies = play_beside_open_spiel(ConnectFour(), "connect_four", games=2000, seed=1)
    assert plies > 2000 * 18


LINES = tuple(
    tuple((column + count * right, height + count * up) for count in range(4))
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1))
    for column in range(COLUMNS)
    for height in range(ROWS)
    if column + 3 * right < COLUMNS and 0 <= height + 3 * up < ROWS
)


def _bits(cells: Iterable[tuple[int, int]]) -> int:
    return sum(1 << (ROWS + 1) * column + height for column, height in cells)


def test_the_69_lines_win_and_their_parts_do_not() -> None:
    assert len(LINES) == 69
    for line in LINES:
        assert has_four(_bits(line))
        assert not any(has_four(_bits(part)) for part in combinations(line, 3))


def test_four_in_a_line_are_found_among_any_discs() -> None:
    rng = np.random.default_rng(0)
    cells = [(column, height) for column in range(COLUMNS) for height in range(ROWS)]
    found = 0
    for _ in range(3000):
        some = {cells[index] for index in rng.permutation(len(cells))[: rng.integers(4, 20)]}
        expected = any(some.issuperset(line) for line in LINES)
        assert has_four(_bits(some)) == expected, some
        found += expected
    assert 500 < found < 2500


@pytest.mark.parametrize(
    ("moves", "rewards", "board"),
    [
        ("1122334", FIRST_WINS, ("OOO....", "XXXX...")),
        ("1212121", FIRST_WINS, ("X......", "XO.....", "XO.....", "XO.....")),
        ("71212121", SECOND_WINS, ("O......", "OX.....", "OX.....", "OX....X")),
        ("1222333454464", FIRST_WINS, ("...X...", ".OXX...", ".XOO...", "XOXOXO.")),
        ("7666555434424", FIRST_WINS, ("...X...", "...XXO.", "...OOX.", ".OXOXOX")),
        ("7162534", FIRST_WINS, ("OOOXXXX",)),
    ],
)
def test_hand_made_games(moves: str, rewards: tuple[float, float], board: tuple[str, ...]) -> None:
    game = _after(moves)
    empty = (".......",) * (ROWS - len(board))
    assert game.board == diagram(*empty, *board)
    assert (game.to_move, game.rewards) == ((), rewards)
    assert game.moves == tuple(int(move) - 1 for move in moves)


@pytest.mark.parametrize(
    ("moves", "rewards"),
    [("666165577462463234152541333211132724554777", DRAW), ("452122443333557614475355231164712717276666", SECOND_WINS)],
)
def test_a_full_board_is_a_draw_unless_the_last_disc_makes_a_line(moves: str, rewards: tuple[float, float]) -> None:
    before = _after(moves[:-1])
    assert (before.to_move, before.board.count("_")) == (("player_1",), 1)
    game = _after(moves)
    assert (game.to_move, game.rewards, game.board.count("_")) == ((), rewards, 0)


def test_lines_do_not_run_on_in_the_next_column() -> None:
    assert not has_four(_bits([(0, 3), (0, 4), (0, 5), (1, 0)]))
    assert not has_four(_bits([(0, 5), (2, 0), (3, 1), (4, 2)]))


def test_a_full_column_is_closed() -> None:
    game = _after("111111")
    assert game.why_illegal("player_0", 0) == Reason("full", {"column": 1})
    assert game.view("player_0").legal == (1, 2, 3, 4, 5, 6)
    assert game.why_illegal("player_0", 7) == game.why_illegal("player_0", -1) == Reason("off_board", {"columns": 7})


@pytest.mark.parametrize("plies", range(7))
def test_random_openings(plies: int) -> None:
    game, openings = ConnectFour(plies), set()
    for seed in range(200):
        game.reset(np.random.default_rng(seed))
        assert (len(game.moves), game.to_move) == (plies, (f"player_{plies % 2}",))
        assert game.rewards == (0.0, 0.0)
        openings.add(game.moves)
    assert len(openings) >= min(7**plies, 150)
    game.reset(np.random.default_rng(7))
    first = game.moves
    game.reset(np.random.default_rng(7))
    assert game.moves == first


@pytest.mark.parametrize("value", [-1, 7, 1.0, True, "2"])
def test_wrong_openings(value: Any) -> None:
    with pytest.raises(OptionError, match="random_opening: expected an integer from 0 to 6"):
        ConnectFour(value)


def test_the_board_is_as_in_pettingzoo() -> None:
    env = connect_four_v0.env()
    env.reset(seed=0)
    for column in (3, 3, 0):
        env.step(column)
    top, bottom = env.board[:28], env.board[28:]
    assert top == [0] * 28
    assert bottom == [*(0, 0, 0, 2, 0, 0, 0), *(1, 0, 0, 1, 0, 0, 0)]
