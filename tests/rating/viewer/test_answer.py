"""The lines that say how much was played and which policy is best."""

import pytest

from rating.cli import main
from rating.schemes.leaderboard import Ranks
from rating.viewer.answer import best


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([(1, 1), (2, 2)], "a is best (95 % confidence)"),
        ([(1, 3), (2, 4), (2, 4), (2, 4)], "a is best (95 % confidence)"),
        ([(1, 2), (1, 2), (3, 3)], "a or b is best; their order is not established yet (95 % confidence)"),
        ([(1, 3)] * 3 + [(4, 4)], "a, b or c is best; their order is not established yet (95 % confidence)"),
        ([(1, 4)] * 4 + [(5, 5)], "4 of 5 policies can be the best; their order is not established yet"),
        ([(1, 3)] * 3, "no difference between the 3 policies is established yet (95 % confidence)"),
    ],
)
def test_best_names_policies_that_can_have_rank_1(ranks, expected):
    assert best([(name, Ranks(*own)) for name, own in zip("abcde", ranks, strict=False)]) == expected


@pytest.mark.slow
def test_demo_output_fits_one_screen(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30 and max(map(len, lines[:-1])) <= 100
    assert lines[:2] == ["4 policies, 2 games, 128 matches", "Over all games, minimax is best (95 % confidence)"]
