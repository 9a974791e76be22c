"""Solved play against OpenSpiel and unpruned search, and the known mistakes of weaker players."""

import copy

import numpy as np
import pytest

from agents.baselines.solved import DRAWN, LOST, WON, SolvedConnectFour, SolvedTicTacToe
from agents.registry import make_policy
from llmarena_envs.connect_four.game import ConnectFour, has_four
from llmarena_envs.core.board import BoardView
from llmarena_envs.core.options import OptionError


class Reference:
    """OpenSpiel's tic-tac-toe, solved by plain minimax."""

    def __init__(self):
        import pyspiel

        self.values = {}
        self.value(pyspiel.load_game("tic_tac_toe").new_initial_state())

    def value(self, state):
        """Returns the value of a state to the first player."""
        key = str(state)
        if key not in self.values:
            if state.is_terminal():
                value = int(state.returns()[0])
            else:
                values = [self.value(state.child(action)) for action in state.legal_actions()]
                value = max(values) if state.current_player() == 0 else min(values)
            self.values[key] = value, state
        return self.values[key][0]

    def positions(self):
        """Yields unfinished states with board, mark and the sign of the player to move."""
        for key, (_, state) in self.values.items():
            if not state.is_terminal():
                mover = state.current_player()
                yield state, key.upper().replace("\n", "").replace(".", "_"), "XO"[mover], 1 - 2 * mover


@pytest.fixture(scope="module")
def reference():
    return Reference()


@pytest.mark.slow
@pytest.mark.needs("pyspiel")
def test_solved_tictactoe_equals_openspiel_in_every_position(reference):
    solved = SolvedTicTacToe()
    assert len(reference.values) == 5478
    for state, board, mark, sign in reference.positions():
        for action in state.legal_actions():
            change = solved.change(board, mark, action)
            assert change.before == sign * reference.value(state), board
            assert change.after == sign * reference.value(state.child(action)), (board, action)


@pytest.mark.needs("pyspiel")
def test_tictactoe_chances_equal_openspiel_in_every_position(reference):
    solved = SolvedTicTacToe()
    kinds = set()
    for state, board, mark, sign in reference.positions():
        chances = solved.chances(board, mark)
        wins = [
            action
            for action in state.legal_actions()
            if state.child(action).is_terminal() and state.child(action).returns()[0] == sign
        ]
        assert list(chances.wins) == wins, board
        # What wins for the opponent after any other move is a threat now, if the move was none of the cells of a line.
        replies = {
            action: {
                reply
                for reply in state.child(action).legal_actions()
                if state.child(action).child(reply).is_terminal()
                and state.child(action).child(reply).returns()[0] == -sign
            }
            for action in state.legal_actions()
            if action not in wins
        }
        if not wins and len(replies) > 1:
            assert set(chances.threats) == set().union(*replies.values()), board
            stoppers = {action for action, lost in replies.items() if not lost}
            if chances.threats:
                assert stoppers == ({chances.block} if chances.block is not None else set()), board
                assert chances.unstoppable == (not stoppers)
        kinds.add((bool(wins), chances.block is not None, chances.unstoppable))
    assert kinds == {(True, False, False), (False, True, False), (False, False, True), (False, False, False)}


def position(*columns):
    game = ConnectFour()
    game.reset(np.random.default_rng(0))
    for column in columns:
        game = after(game, column)
    return game


def after(game, column):
    game = copy.copy(game)
    game.apply((column,))
    return game


def random_positions(seed, count, least, most):
    """Yields unfinished positions after random moves."""
    rng = np.random.default_rng(seed)
    while count:
        game, plies = position(), int(rng.integers(least, most))
        while game.to_move and len(game.moves) < plies:
            game = after(game, int(rng.choice(game.open_columns())))
        if game.to_move:
            count -= 1
            yield game, game.board, "XO"[len(game.moves) % 2]


def plain_worth(game, depth):
    """Returns a position's value for the player to move, by full search to ``depth`` plies; ``None`` if that leaves it open."""
    if not game.to_move:
        return LOST if any(game.rewards) else DRAWN
    if depth == 0:
        return None
    values = [plain_worth(after(game, column), depth - 1) for column in game.open_columns()]
    if LOST in values:
        return WON
    return None if None in values else -min(values)


@pytest.mark.slow
def test_late_positions_of_connect_four_are_solved_to_the_end():
    solved, seen = SolvedConnectFour(8), set()
    for game, board, mark in random_positions(1, 150, 34, 42):
        for column in game.open_columns():
            found = solved.change(board, mark, column)
            assert found == (plain_worth(game, 42), -plain_worth(after(game, column), 42)), (game.moves, column)
            seen.add(found)
    assert seen >= {(WON, WON), (WON, DRAWN), (WON, LOST), (DRAWN, DRAWN), (DRAWN, LOST), (LOST, LOST)}


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_connect_four_is_solved_within_the_search_depth(depth):
    solved, seen = SolvedConnectFour(depth), set()
    for game, board, mark in random_positions(depth, 60, 10, 36):
        before = plain_worth(game, depth)
        seen.add(before)
        for column in game.open_columns():
            theirs = plain_worth(after(game, column), depth - 1)
            found = solved.change(board, mark, column)
            assert found.before == before, game.moves
            if theirs is not None or before != WON:
                assert found.after == (None if theirs is None else -theirs), (game.moves, column)
    assert seen >= {WON, LOST, None}


def winning(game, owner):
    """Returns the columns where a disc of ``owner`` makes a line, found by the rules."""
    return [
        column for column in game.open_columns() if has_four(game.discs[owner] | 1 << 7 * column + game.heights[column])
    ]


def test_chances_at_connect_four_are_found_by_playing_them():
    solved, kinds = SolvedConnectFour(2), set()
    for game, board, mark in random_positions(7, 400, 6, 42):
        mover = len(game.moves) % 2
        wins, threats = winning(game, mover), winning(game, 1 - mover)
        stoppers = [column for column in game.open_columns() if not winning(after(game, column), 1 - mover)]
        chances = solved.chances(board, mark)
        assert chances[:2] == (tuple(wins), tuple(threats)), game.moves
        if threats and not wins:
            assert stoppers == ([] if chances.block is None else [chances.block]), game.moves
            assert chances.unstoppable == (not stoppers)
        else:
            assert (chances.block, chances.unstoppable) == (None, False)
        kinds.add((bool(wins), len(threats), chances.block is not None))
    # A single threat can lose too: the opponent then wins on top of the block.
    assert kinds >= {(True, 1, False), (False, 1, True), (False, 1, False), (False, 2, False), (False, 0, False)}


@pytest.mark.parametrize(
    ("columns", "at_once", "later"),
    [((4, 2, 5, 0, 6, 0, 5, 0, 2), (0,), {3}), ((1, 0, 4, 0, 1, 4, 3, 1), (2,), {5, 6})],
)
def test_a_slower_win_is_still_a_win(columns, at_once, later):
    game, solved = position(*columns), SolvedConnectFour(2)
    mark = "XO"[len(columns) % 2]
    assert solved.chances(game.board, mark).wins == at_once
    changes = {column: solved.change(game.board, mark, column) for column in game.open_columns()}
    assert {column for column, change in changes.items() if change.after == WON} == {*at_once, *later}
    assert {column for column, change in changes.items() if not change.gives_away} == {*at_once, *later}
    assert {column for column in changes if plain_worth(after(game, column), 4) == LOST} == {*at_once, *later}


def test_a_won_position_is_given_away_and_a_drawn_one_lost():
    solved = SolvedTicTacToe()
    assert solved.change("XX_OO____", "X", 8) == (WON, LOST)
    assert solved.change("XX_OO____", "X", 8).gives_away
    assert solved.change("XX_OO____", "X", 8).loses
    assert solved.change("XX_OO____", "X", 2) == (WON, WON)
    lost = solved.change("X________", "O", 1)  # only the centre holds
    assert lost == (DRAWN, LOST)
    assert lost.loses
    assert not lost.gives_away
    already = solved.change("X_O_X____", "O", 3)
    assert (already.before, already.loses) == (DRAWN, True)
    assert not solved.change("XO__X____", "O", 8).loses  # it was lost before


def view(board, mark, plies, legal):
    return BoardView("player_0" if mark == "X" else "player_1", True, tuple(legal), mark, board, (0,) * plies)


def missed(solved, board, mark, action):
    chances = solved.chances(board, mark)
    return bool(chances.wins and action not in chances.wins), chances.block not in (None, action)


@pytest.mark.parametrize("name", ["greedy", "minimax"])
@pytest.mark.needs("pyspiel")
def test_greedy_and_minimax_miss_no_tactic_in_tictactoe(reference, name):
    policy, solved = make_policy(name, "tictactoe_v0"), SolvedTicTacToe()
    policy.reset("player_0", 0)
    for state, board, mark, _ in reference.positions():
        action = policy(view(board, mark, 9 - len(state.legal_actions()), state.legal_actions()))
        assert missed(solved, board, mark, action) == (False, False), board
        if name == "minimax":
            change = solved.change(board, mark, action)
            assert (change.gives_away, change.loses) == (False, False), board


@pytest.mark.parametrize("name", ["greedy", "minimax"])
def test_greedy_and_minimax_miss_no_tactic_in_connect_four(name):
    policy, solved = make_policy(name, "connect_four_v0"), SolvedConnectFour(5)
    policy.reset("player_0", 0)
    for game, board, mark in random_positions(11, 150, 4, 42):
        action = policy(game.view(game.to_move[0]))
        assert missed(solved, board, mark, action) == (False, False), game.moves
        if name == "minimax":  # which looks five plies ahead
            change = solved.change(board, mark, action)
            assert (change.gives_away, change.loses) == (False, False), game.moves


@pytest.mark.parametrize("depth", [1, 43, "8", True])
def test_a_bad_depth_is_refused(depth):
    with pytest.raises(OptionError, match="depth: expected an integer from 2 to 42"):
        SolvedConnectFour(depth)
