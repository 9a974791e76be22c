from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs import connect_four_v0
from llmarena_envs.connect_four.game import COLUMNS, ROWS, ConnectFour, has_four
from llmarena_envs.connect_four.scored_game import ScoredConnectFour
from llmarena_envs.connect_four.strategy import (
    COUNTS,
    REWARD_MODES,
    match_reward,
    maximal_rows,
    position_value,
    strategic_reward,
    values_of,
    windows,
)
from llmarena_envs.core.options import OptionError
from tests.llmarena_envs.random_games import diagram

CELLS = [(column, height) for column in range(COLUMNS) for height in range(ROWS)]
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))

cell_sets = st.sets(st.sampled_from(CELLS))
columns = st.lists(st.integers(0, COLUMNS - 1), max_size=80)


def _bits(cells: set[tuple[int, int]]) -> int:
    return sum(1 << (ROWS + 1) * column + height for column, height in cells)


def _discs(*rows: str) -> tuple[int, int]:
    """Returns both players' discs of the lowest rows of a board."""
    board = diagram(*["......."] * (ROWS - len(rows)), *rows)
    x, o = (
        {(index % COLUMNS, ROWS - 1 - index // COLUMNS) for index, cell in enumerate(board) if cell == mark}
        for mark in "XO"
    )
    return _bits(x), _bits(o)


def _run_lengths(cells: set[tuple[int, int]]) -> list[int]:
    """Returns the length of every maximal row, found cell by cell; a lone disc is a row of one in every direction."""
    lengths = []
    for right, up in DIRECTIONS:
        for column, height in cells:
            if (column - right, height - up) not in cells:
                length = 1
                while (column + length * right, height + length * up) in cells:
                    length += 1
                lengths.append(length)
    return lengths


def _play(game: ConnectFour, moves: list[int]) -> list[int]:
    """Plays the legal ones of some columns until the match is over; returns the seat of every mover."""
    movers = []
    for column in moves:
        if game.to_move and not game.why_illegal(game.to_move[0], column):
            movers.append(game.agents.index(game.to_move[0]))
            game.apply((column,))
    return movers


def _scored(mode: str, count: str = "windows", opening: int = 0, seed: int = 0) -> ScoredConnectFour:
    game = ScoredConnectFour(opening, mode, count)
    game.reset(np.random.default_rng(seed))
    return game


def _totals(game: ConnectFour) -> tuple[float, float]:
    first, second = (game.statistics(agent)["strategic_reward"] for agent in game.agents)
    return first, second


@pytest.mark.parametrize(
    ("rows", "in_windows", "in_rows"),
    [
        (["......."], (0, 0, 0), (0, 0, 0)),
        (["...X..."], (0, 0, 0), (0, 0, 0)),
        (["X.X.X.X"], (0, 0, 0), (0, 0, 0)),
        (["XX....."], (1, 0, 0), (1, 0, 0)),
        (["XX.XX.."], (2, 0, 0), (2, 0, 0)),
        (["XXX...."], (2, 1, 0), (0, 1, 0)),
        ([".XXXX.."], (3, 2, 1), (0, 0, 1)),
        (["XXXXX.."], (4, 3, 2), (0, 0, 1)),
        (["XXXXXX."], (5, 4, 3), (0, 0, 1)),
        (["XXXXXXX"], (6, 5, 4), (0, 0, 1)),
        (["X......", "X......", "X......"], (2, 1, 0), (0, 1, 0)),
        (["...X...", "...X...", "...X...", "...X..."], (3, 2, 1), (0, 0, 1)),
        (["..XO...", ".XOO...", "XOOX..."], (2, 1, 0), (0, 1, 0)),
        (["X......", "OX.....", "OOX....", "XOOX..."], (3, 2, 1), (0, 0, 1)),
        # two rows, two columns and two diagonals
        (["XX.....", "XX....."], (6, 0, 0), (6, 0, 0)),
        # three rows, three columns, the two long diagonals, and four short ones
        (["XXX....", "XXX....", "XXX...."], (20, 8, 0), (4, 8, 0)),
        (["X......", "XXO...."], (3, 0, 0), (3, 0, 0)),
    ],
)
def test_rows_in_hand_made_positions(
    rows: list[str], in_windows: tuple[int, int, int], in_rows: tuple[int, int, int]
) -> None:
    mine, _ = _discs(*rows)
    assert (windows(mine), maximal_rows(mine)) == (in_windows, in_rows)


def test_rows_do_not_run_on_over_the_edge() -> None:
    top_and_next_bottom = {(0, 5), (1, 0)}
    right_and_left = {(6, 2), (0, 2)}
    right_and_next_left = {(6, 2), (0, 3)}
    corners = {(0, 0), (0, 5), (6, 0), (6, 5)}
    for cells in (top_and_next_bottom, right_and_left, right_and_next_left, corners):
        assert windows(_bits(cells)) == maximal_rows(_bits(cells)) == (0, 0, 0)


def test_number_of_windows_matches_the_board() -> None:
    assert windows(_bits(set(CELLS))) == (36 + 35 + 2 * 30, 30 + 28 + 2 * 20, 69)
    # 6 rows, 7 columns and 2 * 6 diagonals of four and more; two diagonals of three and of two at either side
    assert maximal_rows(_bits(set(CELLS))) == (4, 4, 6 + 7 + 12)


@pytest.mark.slow
@given(cell_sets)
def test_rows_among_any_discs(cells: set[tuple[int, int]]) -> None:
    lengths = _run_lengths(cells)
    expected = tuple(sum(max(length - size + 1, 0) for length in lengths) for size in (2, 3, 4))
    assert windows(_bits(cells)) == expected
    assert maximal_rows(_bits(cells)) == (lengths.count(2), lengths.count(3), sum(n >= 4 for n in lengths))
    assert (windows(_bits(cells))[2] > 0) == (maximal_rows(_bits(cells))[2] > 0) == has_four(_bits(cells))


@pytest.mark.parametrize(
    ("rows", "of_windows", "of_rows"),
    [
        (["......."], 0, 0),
        (["XXO...."], 2, 2),
        (["XXX.OO."], 2 * 2 + 5 - 2, 5 - 2),
        (["OOO....", "XXXX..."], (10 + 2 * 5 + 3 * 2) - (5 + 2 * 2), 10 - 5),
        (["X......", "OO.....", "XXX.OOO"], 1 * 5 + 2 * 2 - (5 + 3 * 2), 5 - (5 + 2)),
    ],
)
def test_values_of_hand_made_positions(rows: list[str], of_windows: int, of_rows: int) -> None:
    mine, theirs = _discs(*rows)
    assert position_value(mine, theirs, "windows") == of_windows
    assert position_value(mine, theirs, "maximal") == of_rows


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("count", COUNTS)
@given(mine=cell_sets, theirs=cell_sets)
def test_values_are_symmetric(count: str, mine: set[tuple[int, int]], theirs: set[tuple[int, int]]) -> None:
    theirs = theirs - mine
    value = position_value(_bits(mine), _bits(theirs), count)
    assert position_value(_bits(theirs), _bits(mine), count) == -value
    for move in (lambda cell: (COLUMNS - 1 - cell[0], cell[1]), lambda cell: (cell[0], ROWS - 1 - cell[1])):
        assert position_value(_bits(set(map(move, mine))), _bits(set(map(move, theirs))), count) == value


@pytest.mark.parametrize(
    ("mode", "first", "second"),
    [
        ("between_turns", 4 - 1, 12 - 1),
        ("own_move", (2 - 1) + (4 - 7), (7 - 2) + (12 - 4)),
        ("cumulative_value", 2 + 4, 7 + 12),
    ],
)
def test_what_moves_earn(mode: str, first: int, second: int) -> None:
    values = [1, 2, 7, 4, 12]
    assert strategic_reward(values, 1, mode) == first
    assert strategic_reward(values, 2, mode) == second
    assert strategic_reward(values[:1], 1, mode) == strategic_reward(values[:2], 2, mode) == 0


# X plays 1, 2, 3, 4 and O on top of its discs; the values of player_0 after every move, with windows:
# 0; X 0; O 0; X 2; O 0; X 7; O 0; X 17.
@pytest.mark.parametrize(
    ("mode", "totals"),
    [("between_turns", (17.0 - 0.0, 0.0)), ("own_move", (26.0, 9.0)), ("cumulative_value", (26.0, 0.0))],
)
def test_a_hand_made_game(mode: str, totals: tuple[float, float]) -> None:
    moves = [0, 0, 1, 1, 2, 2, 3]
    game = _scored(mode)
    assert _totals(game) == (0.0, 0.0)
    _play(game, moves)
    assert game.rewards == (1.0, -1.0)
    assert _totals(game) == totals


def test_modes_differ_as_soon_as_the_opponent_gains() -> None:
    # X 1, O 7, X 3, O 6 (two), X 5: worth -2 to X, who made no row itself
    moves = [0, 6, 2, 5, 4]
    expected = {"between_turns": (-2.0, 2.0), "own_move": (0.0, 2.0), "cumulative_value": (-2.0, 2.0)}
    for mode, totals in expected.items():
        game = _scored(mode)
        _play(game, moves)
        assert _totals(game) == totals


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("count", COUNTS)
@given(moves=columns, opening=st.integers(0, 6), seed=st.integers(0, 2**32))
def test_own_move_value_is_never_negative(count: str, moves: list[int], opening: int, seed: int) -> None:
    game = _scored("own_move", count, opening, seed)
    before = _totals(game)
    assert before == (0.0, 0.0)
    for column in moves:
        movers = _play(game, [column])
        after = _totals(game)
        for seat in (0, 1):
            assert after[seat] >= before[seat] if seat in movers else after[seat] == before[seat]
        before = after


@pytest.mark.slow
@given(mine=cell_sets, theirs=cell_sets, cell=st.sampled_from(CELLS))
def test_one_more_disc_never_lowers_the_value_in_windows(
    mine: set[tuple[int, int]], theirs: set[tuple[int, int]], cell: tuple[int, int]
) -> None:
    before = position_value(_bits(mine), _bits(theirs), "windows")
    assert position_value(_bits(mine | {cell}), _bits(theirs), "windows") >= before


def test_maximal_value_drops_only_when_rows_of_four_merge() -> None:
    worth = {0: 0, 1: 0, 2: 2, 3: 5, 4: 10}
    for left in range(COLUMNS):
        for right in range(COLUMNS - left):
            apart, _ = _discs(("X" * left + "." + "X" * right).ljust(COLUMNS, "."))
            joined, _ = _discs(("X" * (left + 1 + right)).ljust(COLUMNS, "."))
            gain = position_value(joined, 0, "maximal") - position_value(apart, 0, "maximal")
            assert gain == worth[min(left + 1 + right, 4)] - worth[min(left, 4)] - worth[min(right, 4)]
            assert gain >= 0 or max(left, right) >= 4


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("mode", REWARD_MODES)
@pytest.mark.parametrize("count", COUNTS)
@given(moves=columns, opening=st.integers(0, 6), seed=st.integers(0, 2**32))
def test_any_match_is_the_sum_of_its_moves(mode: str, count: str, moves: list[int], opening: int, seed: int) -> None:
    game = _scored(mode, count, opening, seed)
    plain = ConnectFour(opening)
    plain.reset(np.random.default_rng(seed))

    def value(seat: int) -> int:
        return position_value(plain.discs[seat], plain.discs[1 - seat], count)

    sums, previous = [0, 0], [value(0), value(1)]
    for column in moves:
        before = [value(0), value(1)]
        for seat in _play(plain, [column]):
            base = {"between_turns": previous[seat], "own_move": before[seat], "cumulative_value": 0}[mode]
            sums[seat] += value(seat) - base
            previous[seat] = value(seat)
    _play(game, moves)
    assert _totals(game) == tuple(sums)
    assert (game.board, game.moves, game.to_move, game.rewards) == (
        plain.board,
        plain.moves,
        plain.to_move,
        plain.rewards,
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", REWARD_MODES)
@pytest.mark.parametrize("count", COUNTS)
@given(moves=columns, opening=st.integers(0, 6), seed=st.integers(0, 2**32))
def test_strategy_values_of_moves_equal_the_reported_ones(
    mode: str, count: str, moves: list[int], opening: int, seed: int
) -> None:
    game = _scored(mode, count, opening, seed)
    _play(game, moves)
    values = values_of(game.moves, count)
    assert tuple(match_reward(values, seat, opening, mode) for seat in (0, 1)) == _totals(game)


@pytest.mark.parametrize("moves", [[0] * 7, [7], [-1], [0, 0, 1, 1, 2, 2, 3, 3]])
def test_unplayable_moves_have_no_value(moves: list[int]) -> None:
    with pytest.raises(ValueError, match="legal"):
        values_of(moves, "windows")


def test_infos_hold_the_strategic_reward_and_rewards_do_not() -> None:
    env = connect_four_v0.raw_env(reward_mode="own_move")
    env.reset(seed=0)
    assert env.infos == {agent: {"illegal": 0, "strategic_reward": 0.0} for agent in env.agents}
    for column in (0, 0, 1, 1, 2, 2):
        env.step(column)
        assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
    assert {agent: info["strategic_reward"] for agent, info in env.infos.items()} == {"player_0": 9.0, "player_1": 9.0}
    env.step(3)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.infos["player_0"] == {"illegal": 0, "strategic_reward": 26.0}
    env.reset(seed=0)
    assert env.infos["player_0"]["strategic_reward"] == 0.0


def test_illegal_move_has_no_strategic_reward() -> None:
    env = connect_four_v0.raw_env(reward_mode="between_turns")
    env.reset(seed=0)
    for column in (0, 6, 1, 7):
        env.step(column)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.infos["player_0"] == {"illegal": 0, "strategic_reward": 2.0}
    assert env.infos["player_1"]["illegal"] and env.infos["player_1"]["strategic_reward"] == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"reward_mode": "own"},
            "reward_mode: expected one of 'between_turns', 'own_move', 'cumulative_value', got 'own'",
        ),
        ({"reward_mode": True}, "reward_mode: expected one of"),
        ({"reward_mode": "own_move", "count": "window"}, "count: expected .* did you mean 'windows'"),
        ({"count": None}, "count: expected one of 'windows', 'maximal', got None"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        connect_four_v0.raw_env(**options)
