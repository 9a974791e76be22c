"""Results of matches as input of the statistics."""

import math

import pytest

from rating.stats.results import finished, pair_results
from rating.store.records import Outcome
from tests.rating.made_outcomes import disturbed, duel, match, void


def test_pair_results_order_and_void_have_no_effect():
    outcomes = [duel(number, "a", "b", "ab"[number % 2]) for number in range(9)]
    assert pair_results(disturbed(outcomes)) == pair_results(outcomes)
    assert [outcome.number for outcome in finished(disturbed(outcomes))] == list(range(9))


def test_pair_results_self_matches_only_on_demand():
    outcomes = [duel(0, "a", "b", "a"), match(1, ("a", 1.0), ("a", -1.0))]
    assert [result.number for result in pair_results(outcomes)] == [0]
    assert [result.number for result in pair_results(outcomes, with_itself=True)] == [0, 1]


def test_finished_bad_logs_are_refused():
    with pytest.raises(ValueError, match="two with number 3"):
        finished([duel(3, "a", "b", "a"), duel(3, "a", "b", "b")])
    with pytest.raises(ValueError, match=r"one environment, got game_v0, other_v0"):
        finished([duel(0, "a", "b", "a"), Outcome("other_v0", 1, 0, "finished", ())])
    with pytest.raises(ValueError, match="two rated seats, got 3"):
        pair_results([match(0, ("a", 1.0), ("b", 0.0), ("c", 0.0))])
    with pytest.raises(ValueError, match="finite"):
        pair_results([match(0, ("a", math.nan), ("b", 0.0))])


def test_finished_void_match_may_repeat_a_number():
    assert len(finished([void(0, "a", "b"), duel(0, "a", "b", "a")])) == 1
