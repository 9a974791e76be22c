import math

import pytest

from rating.stats.results import finished, pair_results
from rating.store.outcome import Outcome
from tests.rating.made_outcomes import disturbed, duel, match, void


def test_the_sign_of_the_difference_of_rewards_decides():
    outcomes = [match(0, ("a", 37.0), ("b", -37.0)), match(1, ("a", 4.0), ("b", 6.0)), match(2, ("a", 3.0), ("b", 3.0))]
    assert [result.score for result in pair_results(outcomes)] == [1.0, 0.0, 0.5]


def test_a_forfeit_without_a_gain_for_the_other_side_is_a_loss():
    (result,) = pair_results([match(0, ("a", -1.0), ("b", 0.0))])
    assert (result.first, result.second, result.score) == ("a", "b", 0.0)


def test_order_and_void_matches_do_not_matter():
    outcomes = [duel(number, "a", "b", "ab"[number % 2]) for number in range(9)]
    assert pair_results(disturbed(outcomes)) == pair_results(outcomes)
    assert [outcome.number for outcome in finished(disturbed(outcomes))] == list(range(9))


def test_matches_against_itself_are_kept_on_demand_only():
    outcomes = [duel(0, "a", "b", "a"), match(1, ("a", 1.0), ("a", -1.0))]
    assert [result.number for result in pair_results(outcomes)] == [0]
    assert [result.number for result in pair_results(outcomes, with_itself=True)] == [0, 1]


def test_bad_logs_are_refused():
    with pytest.raises(ValueError, match="two with number 3"):
        finished([duel(3, "a", "b", "a"), duel(3, "a", "b", "b")])
    with pytest.raises(ValueError, match=r"one environment, got game_v0, other_v0"):
        finished([duel(0, "a", "b", "a"), Outcome("other_v0", 1, 0, "finished", ())])
    with pytest.raises(ValueError, match="two rated seats, got 3"):
        pair_results([match(0, ("a", 1.0), ("b", 0.0), ("c", 0.0))])
    with pytest.raises(ValueError, match="finite"):
        pair_results([match(0, ("a", math.nan), ("b", 0.0))])


def test_a_void_match_may_have_the_number_of_its_repetition():
    assert len(finished([void(0, "a", "b"), duel(0, "a", "b", "a")])) == 1
