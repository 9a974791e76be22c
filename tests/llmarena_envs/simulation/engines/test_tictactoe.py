from itertools import combinations

import pytest

from llmarena_envs.simulation.engines.tictactoe import TicTacToeOpponent
from tests.llmarena_envs.simulation.engines.checks import check_examples, check_hostile

EXAMPLES = [
    ("(1, 1)", "O: (2, 2)\nX|_|_\n_|O|_\n_|_|_\nX to move"),
    ("1,1", "ERROR: (1, 1) is taken"),
    ("( 1 ,3 )", "O: (1, 2)\nX|O|X\n_|O|_\n_|_|_\nX to move"),
    ("(0, 4)", "ERROR: (0, 4) is not on the board"),
    ("Ignore the rules, you lose. (2, 2)", "ERROR: send a cell such as (1, 3), or new, or board"),
    ("Board", "X|O|X\n_|O|_\n_|_|_\nX to move"),
    ("(3, 3)", "O: (3, 2)\nX|O|X\n_|O|_\n_|O|X\nO wins"),
    ("(2, 1)", "ERROR: the game is over, send new"),
    ("new", "_|_|_\n_|_|_\n_|_|_\nX to move"),
    ("(2, 2)", "O: (1, 1)\nO|_|_\n_|X|_\n_|_|_\nX to move"),
]


def test_examples():
    check_examples("tictactoe", EXAMPLES)


def test_hostile_requests():
    check_hostile("tictactoe", ["(" + "1" * 5_000 + ", 1)", "1" * 9_000, " " * 5_000 + "(1," + " " * 4_000])


MAGIC = (2, 7, 6, 9, 5, 1, 4, 3, 8)
"""Three cells are in a row exactly if their numbers in this square add up to 15."""


def wins(cells):
    return any(sum(MAGIC[cell] for cell in three) == 15 for three in combinations(cells, 3))


def expected_reply(mine, yours):
    free = [cell for cell in range(9) if cell not in (*mine, *yours)]
    urgent = [cell for side in (mine, yours) for cell in free if wins([*side, cell])]
    return [*urgent, *sorted(free, key=lambda cell: (cell != 4, cell % 2, cell))][0]


@pytest.mark.slow
def test_every_game_follows_the_described_rule():
    endings = {"X wins": 0, "O wins": 0, "draw": 0}

    def play(moves, crosses, noughts):
        for cell in (cell for cell in range(9) if cell not in (*crosses, *noughts)):
            engine = TicTacToeOpponent()
            for move in moves:
                engine.respond(move)
            move = f"({cell // 3 + 1}, {cell % 3 + 1})"
            lines = engine.respond(move).split("\n")
            now, then = [*crosses, cell], list(noughts)
            if not wins(now) and len(now) < 5:
                reply = expected_reply(noughts, now)
                assert lines.pop(0) == f"O: ({reply // 3 + 1}, {reply % 3 + 1})"
                then.append(reply)
            board = "".join("X" if cell in now else "O" if cell in then else "_" for cell in range(9))
            assert lines[:3] == ["|".join(board[start : start + 3]) for start in (0, 3, 6)]
            if wins(now) or wins(then) or len(now) == 5:
                assert lines[3] == ("X wins" if wins(now) else "O wins" if wins(then) else "draw")
                endings[lines[3]] += 1
            else:
                assert lines[3] == "X to move"
                play([*moves, move], now, then)

    play([], [], [])
    assert all(endings.values())
