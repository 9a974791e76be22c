import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs import connect_four_v0
from llmarena_envs.core.failures import Failure
from llmarena_envs.core.text_env import TextEnv
from tests.llmarena_envs.replies import LONG, outcome, wordy

EMPTY, UNPARSABLE, ILLEGAL = Failure.EMPTY, Failure.UNPARSABLE, Failure.ILLEGAL


def _env(**options: object) -> TextEnv:
    """Returns an environment where X is to move and column 7 is full."""
    env: TextEnv = connect_four_v0.env(**options).unwrapped
    env.reset(seed=0)
    for _ in range(6):
        env.step(6)
    return env


CORPUS = [
    # the published form, and how it may vary
    ("X: 4", 3),
    ("x:4", 3),
    ("X = 4", 3),
    ("X: column 4", 3),
    ("X: (4)", 3),
    ("X: [4]", 3),
    ("4", 3),
    ("4.", 3),
    (" 4 ", 3),
    ("[4]", 3),
    ("(4)", 3),
    ("(column 4)", 3),
    ("column 4", 3),
    ("Column: 4", 3),
    ("我选X：4。", 3),
    ("X：4列", 3),
    ("【4】", 3),
    ('{"column": 4}', 3),
    ('{"move": "X: 4"}', 3),
    # the last statement counts
    ("X: 1\nX: 4", 3),
    ("Column 3 and 5 are open.\nX: 4", 3),
    ("1 2 3 4 5 6 7\n_|_|_|_|_|_|O\nX: 4", 3),
    ("X: 4 takes the centre and leaves 3 in a row.", 3),
    ('{"column": 1} or rather X: 4', UNPARSABLE),
    ('X: 1, no: {"column": 4}', 3),
    ('{"why": "not [1]", "column": 4}', 3),
    ("X: 1" + " ." * LONG + " X: 4", 3),
    # remarks about other columns are no statements
    ("X: 4 (I looked at [3] too)", 3),
    ("(1) I could block.\n(2) I could wait.\nX: 4", 3),
    ("Action: 4", 3),
    ("第4列", 3),
    ('X: "4"', 3),
    # a move that is stated but not allowed
    ("X: 7", ILLEGAL),
    ("X: 0", ILLEGAL),
    ("X: 8", ILLEGAL),
    ("X: -1", ILLEGAL),
    ("X: 44", ILLEGAL),
    ("O: 4", ILLEGAL),
    ("我选O：4", ILLEGAL),
    ("[" + "9" * 500 + "]", ILLEGAL),
    ('{"column": 9}', ILLEGAL),
    ('{"mark": "O", "column": 4}', ILLEGAL),
    # no move
    ("", EMPTY),
    ("　\n", EMPTY),
    ("I resign.", UNPARSABLE),
    ("I drop it into column 4 of the board", UNPARSABLE),
    ("the fourth column", UNPARSABLE),
    ("X", UNPARSABLE),
    ("X:", UNPARSABLE),
    ("X: 4.5", UNPARSABLE),
    ("X: 1\nX: 4 or 5", UNPARSABLE),
    ("X: 3-4", UNPARSABLE),
    ("not [1] but [4]", UNPARSABLE),
    ("(1) I could block. (2) I could win.", UNPARSABLE),
    ("<think>X: 4</think>", UNPARSABLE),
    ("X: 4th", UNPARSABLE),
    ("max: 4", UNPARSABLE),
    ("4 or 5", UNPARSABLE),
    ("1 2 3 4 5 6 7", UNPARSABLE),
    ("第四列", UNPARSABLE),
    ('{"row": 4}', UNPARSABLE),
    ('{"column": 4', UNPARSABLE),
    ("\ud800", UNPARSABLE),
    ("a" * LONG, UNPARSABLE),
    ("X: " * (LONG // 3), UNPARSABLE),
    ("X:" + " " * 90_000 + "b", UNPARSABLE),
    ("X:" + "\n" * 90_000 + "b", UNPARSABLE),
]


@pytest.mark.parametrize(("reply", "expected"), CORPUS, ids=[repr(reply)[:50] for reply, _ in CORPUS])
def test_corpus(reply: str, expected: object) -> None:
    assert outcome(_env(), reply, "player_0") == expected


ENV = _env()


@pytest.mark.slow
@given(st.sampled_from(range(6)), wordy, wordy)
def test_a_move_in_prose_is_read(action: int, before: str, after: str) -> None:
    assert ENV.parse(f"{before} {ENV.format(action, 'player_0')} {after}", "player_0") == action


@pytest.mark.slow
@given(st.sampled_from(range(7)), wordy, st.sampled_from(range(6)))
def test_of_two_moves_the_last_counts_or_none(first: int, between: str, second: int) -> None:
    """Words between them may take the first one back, or explain it."""
    one, other = ENV.format(first, "player_0"), ENV.format(second, "player_0")
    assert ENV.parse(f"{one}\n{other}", "player_0") == second
    assert ENV.parse(f"{one}\nNo, wait.\n{between}\n{other}", "player_0") == second
    read = outcome(ENV, f"{one}\n{between}\n{other}", "player_0")
    assert read == second or (read is Failure.UNPARSABLE and between.strip())


def test_without_a_hint_the_columns_are_not_listed() -> None:
    with_hint, without = (_env(hint=hint).observe("player_0")["text"] for hint in (True, False))
    kept = [line for line in with_hint.splitlines() if not line.startswith("Columns that are not full")]
    assert kept == without.splitlines()
