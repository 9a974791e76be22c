import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs import tictactoe_v0
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.tictactoe.game import TicTacToe
from llmarena_envs.tictactoe.text import CELL_NAMES, TicTacToeCodec
from tests.llmarena_envs.replies import LONG, outcome, wordy

EMPTY, UNPARSABLE, ILLEGAL = Failure.EMPTY, Failure.UNPARSABLE, Failure.ILLEGAL


def _env(**options: object) -> TextEnv:
    """Returns an environment where X is to move, with X on (2, 2) and O on (3, 3)."""
    env: TextEnv = tictactoe_v0.env(**options).unwrapped
    env.reset(seed=0)
    env.step(4)
    env.step(8)
    return env


CORPUS = [
    # the published form, and how it may vary
    ("X: (1, 3)", 2),
    ("x: (1, 3)", 2),
    ("X:(1,3)", 2),
    ("X (1, 3)", 2),
    ("X(1,3)", 2),
    ("X = (1, 3)", 2),
    ("(1, 3)", 2),
    ("( 1 , 3 )", 2),
    ("[1, 3]", 2),
    ("(1; 3)", 2),
    ("(1 3)", 2),
    ("(row 1, column 3)", 2),
    ("(row 1, col 3)", 2),
    ("1, 3", 2),
    ("1 3.", 2),
    ("X: 1, 3", 2),
    ("\n\n  X: (1, 3)  \n", 2),
    ("我下X：（1，3）。", 2),
    ("【1，3】", 2),
    ('{"row": 1, "column": 3}', 2),
    ('{"mark": "X", "row": 1, "column": 3}', 2),
    ('{"move": "X: (1, 3)"}', 2),
    # the last statement counts
    ("X: (1, 1)\nX: (1, 3)", 2),
    ("X: (1, 1) loses.\n(1, 3)", 2),
    ("I first thought of (1, 1), which blocks nothing. X: (1, 3)", 2),
    ("O has (3, 3), I have (2, 2), so X: (1, 3)", 2),
    ('{"row": 1, "column": 1}\nNo: X: (1, 3)', 2),
    ('X: (1, 1), no: {"row": 1, "column": 3}', 2),
    ('{"why": "not (1, 1)", "row": 1, "column": 3}', 2),
    ("System: the player said (1, 1).\nHuman: ok\nAssistant: X: (1, 3)", 2),
    ("X: (1, 1)" + " ." * LONG + " X: (1, 3)", 2),
    # remarks about other cells are no statements
    ("X: (1, 3) because it is better than (1, 1).", 2),
    ("X: (1, 3)\n\nThis blocks O at (2, 1) and answers O (3, 3).", 2),
    ("Move: (1, 3)", 2),
    ('{"row": 1, "col": 3}', 2),
    # a move that is stated but not allowed
    ("X: (2, 2)", ILLEGAL),
    ("X: (3, 3)", ILLEGAL),
    ("O: (1, 3)", ILLEGAL),
    ("我下O：（1，3）", ILLEGAL),
    ("X: (1, 3). Then O: (1, 1)", 2),
    ("X: (0, 1)", ILLEGAL),
    ("X: (4, 1)", ILLEGAL),
    ("X: (1, 10)", ILLEGAL),
    ("X: (-1, 1)", ILLEGAL),
    ("(" + "9" * 500 + ", 1)", ILLEGAL),
    ('{"row": 4, "column": 1}', ILLEGAL),
    ('{"mark": "O", "row": 1, "column": 3}', ILLEGAL),
    # no move
    ("", EMPTY),
    (" \t\n ", EMPTY),
    ("　", EMPTY),
    ("I resign.", UNPARSABLE),
    ("I take the centre.", UNPARSABLE),
    ("I should avoid (1, 1).", UNPARSABLE),
    ("not (1,1) but (1,3)", UNPARSABLE),
    ("If I take (1, 1), O wins at (1, 3).", UNPARSABLE),
    ("<think>X: (1, 3)</think>", UNPARSABLE),
    ("<think>perhaps X: (1, 3), or", UNPARSABLE),
    ("row one, column three", UNPARSABLE),
    ("the cell in row 1 and column 3", UNPARSABLE),
    ("X", UNPARSABLE),
    ("X: 5", UNPARSABLE),
    ("X: ()", UNPARSABLE),
    ("(1.5, 3)", UNPARSABLE),
    ("(1, 2, 3)", UNPARSABLE),
    ("1\n3", UNPARSABLE),
    ("13", UNPARSABLE),
    ("It is 1, 3 or so", UNPARSABLE),
    ("_|_|X\n_|X|_\n_|_|O", UNPARSABLE),
    ("（一，三）", UNPARSABLE),
    ('{"row": 1}', UNPARSABLE),
    ('{"row": 1, "column": 3', UNPARSABLE),
    ("[[1, 3, 5]]", UNPARSABLE),
    ("\ud800", UNPARSABLE),
    ("a" * LONG, UNPARSABLE),
    ("(1, " * (LONG // 4), UNPARSABLE),
    ("X" + " " * 90_000 + "b", UNPARSABLE),
    ("1" * LONG, UNPARSABLE),
]


@pytest.mark.parametrize(("reply", "expected"), CORPUS, ids=[repr(reply)[:50] for reply, _ in CORPUS])
def test_corpus(reply: str, expected: object) -> None:
    assert outcome(_env(), reply, "player_0") == expected


ENV = _env()


@given(st.sampled_from(ENV.view("player_0").legal), wordy, wordy)
def test_a_move_in_prose_is_read(action: int, before: str, after: str) -> None:
    assert ENV.parse(f"{before} {ENV.format(action, 'player_0')} {after}", "player_0") == action


@given(st.sampled_from(range(9)), wordy, st.sampled_from(ENV.view("player_0").legal))
def test_of_two_moves_the_last_counts_or_none(first: int, between: str, second: int) -> None:
    """Words between them may take the first one back, or explain it."""
    one, other = ENV.format(first, "player_0"), ENV.format(second, "player_0")
    assert ENV.parse(f"{one}\n{other}", "player_0") == second
    assert ENV.parse(f"{one}\nNo, wait.\n{between}\n{other}", "player_0") == second
    read = outcome(ENV, f"{one}\n{between}\n{other}", "player_0")
    assert read == second or (read is Failure.UNPARSABLE and between.strip())


def test_the_move_named_in_the_feedback_is_legal() -> None:
    env = tictactoe_v0.raw_env()
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(InvalidReply, match=r"in the form O: \(1, 3\)$"):
        env.parse("?", "player_1")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_worked_game_in_the_rules_is_a_real_one(language: str) -> None:
    codec = TicTacToeCodec(language, hint=True)
    blocks = codec.rules("player_0").split("\n")
    start = next(index for index, line in enumerate(blocks) if line.startswith("X: "))
    game = TicTacToe()
    game.reset(np.random.default_rng(0))
    lines = blocks[start:]
    while game.to_move:
        mark, name = lines[0].split(": ")
        assert mark == "XO"[len(game.moves) % 2]
        action = CELL_NAMES.index(name)
        assert game.why_illegal(game.to_move[0], action) is None
        game.apply((action,))
        assert "\n".join(lines[1:4]) == codec.board_text(game.board)
        lines = lines[4:]
    assert game.rewards == (1.0, -1.0)
    assert len(lines) == 1
