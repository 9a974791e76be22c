import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rating.records.outcome import BUG, FINISHED, VOID
from rating.schedules.schedule import schedule
from rating.schemes.stopping import CountRule, StopRule, stop_reason
from rating.statistics.trueskill_rating import rate
from tests.rating.made_outcomes import Players, disturbed, duel, match, void

NEVER = {"eps": 0.0, "sigma": 0.0}


def play_until_stop(strengths, rule, *, limit=100_000, **properties):
    players = Players(strengths, **properties)
    outcomes = []
    for batch in schedule("game_v0", list(strengths), {}, 0):
        outcomes += players.play(batch)
        if reason := stop_reason(outcomes, list(strengths), rule):
            return reason, outcomes
        assert len(outcomes) < limit
    raise AssertionError


def matches_of(outcomes, name):
    return sum(any(seat.policy == name for seat in outcome.seats) for outcome in outcomes)


def test_defaults_are_the_published_rule():
    rule = StopRule()
    assert (rule.min_matches, rule.window, rule.eps, rule.sigma, rule.max_matches) == (50, 20, 0.25, 1.0, 400)


def test_mu_stable_fires_when_it_holds_and_not_a_batch_before():
    strengths = {"a": 0.0, "b": 150.0, "c": 80.0, "d": -50.0}
    reason, outcomes = play_until_stop(strengths, StopRule(sigma=0.0, max_matches=100_000))
    assert reason == "mu_stable"
    batch = 24
    assert len(outcomes) > 5 * batch + batch  # both ends below are past the minimum of fifty matches each
    for end in (len(outcomes), len(outcomes) - batch):
        history = rate(outcomes[:end]).history.values()
        changes = [abs(steps[-1].mu - steps[-21].mu) for steps in history]
        assert (max(changes) < 0.25) == (end == len(outcomes))


def test_sigma_fires_when_every_sigma_is_small():
    strengths = dict.fromkeys("abcdef", 0.0)
    reason, outcomes = play_until_stop(strengths, StopRule(eps=0.0), seed=1)
    assert reason == "sigma"
    assert max(rating.sigma for rating in rate(outcomes).ratings.values()) < 1.0
    assert len(outcomes) > 180  # more than the minimum
    assert max(rating.sigma for rating in rate(outcomes[:-30]).ratings.values()) >= 1.0


def test_nothing_but_the_cap_stops_before_the_minimum():
    outcomes = [duel(number, "a", "b", None, seed=number // 2) for number in range(49)]
    assert stop_reason(outcomes, ["a", "b"], StopRule(eps=100.0)) is None
    assert stop_reason([*outcomes, duel(49, "a", "b", None)], ["a", "b"], StopRule(eps=100.0)) == "mu_stable"
    assert stop_reason([*outcomes, void(49, "a", "b")], ["a", "b"], StopRule(eps=100.0)) is None
    assert stop_reason(outcomes, ["a", "b"], StopRule(max_matches=49)) == "cap"
    assert stop_reason([], ["a", "b"]) is None


def test_every_policy_needs_the_minimum():
    outcomes = [duel(number, "a", "b", None) for number in range(60)]
    outcomes += [duel(number, "a", "c", None) for number in range(60, 100)]
    assert stop_reason(outcomes, ["a", "b", "c"], StopRule(eps=100.0)) is None
    assert stop_reason(outcomes, ["a", "b"], StopRule(eps=100.0)) == "mu_stable"


def test_a_window_longer_than_the_history_is_not_stable():
    outcomes = [duel(number, "a", "b", None) for number in range(60)]
    assert stop_reason(outcomes, ["a", "b"], StopRule(window=61, eps=100.0, sigma=0.0)) is None
    assert stop_reason(outcomes, ["a", "b"], StopRule(window=60, eps=100.0, sigma=0.0)) == "mu_stable"


def test_order_known():
    strengths = {"a": 0.0, "b": 400.0, "c": 800.0}
    rule = StopRule(min_matches=10, expected_order=0.99, max_matches=100_000, **NEVER)
    reason, outcomes = play_until_stop(strengths, rule)
    assert reason == "order_known"
    assert stop_reason(outcomes, list(strengths), StopRule(min_matches=10, **NEVER)) is None
    # Equals are told apart only by luck, and never with confidence.
    reason, _ = play_until_stop(dict.fromkeys("abc", 0.0), StopRule(expected_order=0.99, max_matches=100, **NEVER))
    assert reason == "cap"


def test_a_run_of_void_matches_ends():
    pool = ["a", "b", "c"]
    outcomes = []
    for batch in schedule("game_v0", pool, {}, 0):
        outcomes += [void(item.number, *item.policies, status=(VOID, BUG)[item.number % 2]) for item in batch]
        if reason := stop_reason(outcomes, pool):
            break
    assert reason == "cap"
    assert 400 <= matches_of(outcomes, "a") < 400 + 12  # a batch is twelve matches of each


def test_a_repeated_void_match_is_scheduled_once():
    outcomes = [void(number % 10, "a", "b") for number in range(1000)]
    assert stop_reason(outcomes, ["a", "b"]) is None


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 5),
    st.floats(0, 1),
    st.integers(1, 60),
    st.integers(1, 120),
    st.integers(0, 1000),
    st.booleans(),
)
def test_every_run_ends_within_a_batch_of_the_cap(count, share, min_matches, max_matches, seed, ordered):
    strengths = {f"p{index}": 40.0 * index for index in range(count)}
    rule = StopRule(
        min_matches=min_matches,
        max_matches=max_matches,
        eps=0.02,
        sigma=0.85,
        expected_order=0.999 if ordered else None,
    )
    players = Players(strengths, seed=seed, ties=0.2)
    outcomes = []
    for batch in schedule("game_v0", list(strengths), {}, seed):
        played = players.play(batch)
        lost = int(share * len(played))
        outcomes += played[lost:] + [void(item.number, *item.policies) for item in batch[:lost]]
        reason = stop_reason(outcomes, list(strengths), rule)
        if reason:
            break
    assert reason in {"mu_stable", "sigma", "order_known", "cap"}
    assert reason == stop_reason(outcomes[::-1], list(strengths), rule)
    longest_batch = 2 * 10
    assert matches_of(outcomes, "p0") < max_matches + longest_batch
    if reason != "cap":
        finished = [outcome for outcome in outcomes if outcome.status == FINISHED]
        assert min(matches_of(finished, name) for name in strengths) >= min_matches


def test_void_matches_and_order_do_not_change_the_answer():
    reason, outcomes = play_until_stop({"a": 0.0, "b": 100.0, "c": 20.0}, StopRule(), seed=2)
    assert stop_reason(disturbed(outcomes), ["a", "b", "c"]) == reason


def undercover(number, seat, name, status=FINISHED):
    seats = [("f", -1.0)] * 5
    seats[seat] = (name, 1.0)
    return match(number, *seats, status=status)


def test_count_does_not_take_the_field_for_a_player():
    rule = CountRule(matches=10, max_matches=30, opponent="f")
    numbers = itertools.count()
    outcomes = [undercover(next(numbers), seat % 5, "a") for seat in range(25)]
    assert stop_reason(outcomes, ["a", "f"], rule) is None  # f has only filled the table
    outcomes += [undercover(next(numbers), seat % 5, "f") for seat in range(10)]
    assert stop_reason(outcomes, ["a", "f"], rule) == "count"
    assert stop_reason(outcomes, ["a"], rule) == "count"


def test_count_counts_finished_matches_and_the_cap_scheduled_ones():
    rule = CountRule(matches=10, max_matches=30)
    outcomes = [match(number, ("a", 1.0), ("a", 1.0)) for number in range(9)]
    assert stop_reason(outcomes, ["a"], rule) is None
    outcomes += [void(number, "a", "a") for number in range(9, 29)]
    assert stop_reason(outcomes, ["a"], rule) is None
    assert stop_reason([*outcomes, void(29, "a", "a")], ["a"], rule) == "cap"
    assert stop_reason([*outcomes, match(29, ("a", 1.0), ("a", 1.0))], ["a"], rule) == "count"


@pytest.mark.parametrize(
    ("kind", "seats", "details"), [("self_play", 2, {}), ("cross_play", 2, {}), ("field", 5, {"opponent": "f"})]
)
def test_count_ends_every_schedule(kind, seats, details):
    rule = CountRule(matches=100, opponent=details.get("opponent", ""))
    outcomes = []
    for batch in schedule("game_v0", ["a", "b", "f"], {}, 0, kind=kind, seats=seats, **details):
        outcomes += [match(item.number, *((name, 0.0) for name in item.policies)) for item in batch]
        if stop_reason(outcomes, ["a", "b", "f"], rule):
            break
    assert stop_reason(outcomes, ["a", "b", "f"], rule) == "count"
    if kind != "cross_play":
        assert matches_of(outcomes, "a") == 100


def test_bad_rules_are_refused():
    for wrong in ({"min_matches": 0}, {"window": 0}, {"max_matches": 0}, {"expected_order": 1.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            StopRule(**wrong)
    with pytest.raises(ValueError, match="matches"):
        CountRule(matches=0)
