import pytest

from rating.stats.trueskill import elo
from tests.rating.made_outcomes import disturbed, duel


def test_one_win_and_one_tie_by_hand():
    assert elo([duel(0, "a", "b", "a")]) == {"a": 1002.0, "b": 998.0}
    after = elo([duel(0, "a", "b", "a"), duel(1, "b", "a", None)])
    expected = 1 / (1 + 10 ** (-4 / 400))
    assert after["a"] == pytest.approx(1002 - 4 * (expected - 0.5), abs=1e-12)
    assert sum(after.values()) == pytest.approx(2000)


def test_match_numbers_give_the_order():
    outcomes = [duel(number, *pair, pair[number % 2]) for number, pair in enumerate(["ab", "bc", "ca", "ab", "ac"])]
    assert elo(disturbed(outcomes)) == elo(outcomes)


def test_options():
    assert elo([duel(0, "a", "b", "b")], k=32, start=1500) == {"a": 1484.0, "b": 1516.0}
    assert elo([]) == {}
