"""Schedules that end: matches depend on the added outcomes only."""

import itertools

import pytest

from rating.schedules.batches import UNLIMITED, Stop
from rating.schedules.round_robin import round_robin
from rating.schedules.until import Until
from rating.schemes.stopping import CountRule, SettlingRule, StopRule
from tests.rating.made_outcomes import Players, play_out, small_contest

STRENGTHS = {"a": 0.0, "b": 150.0, "c": 80.0}


def schedule(rule, lag, contest=None):
    contest = contest or small_contest("game_v0", tuple(STRENGTHS))
    return Until(contest, round_robin(contest), rule.begin(contest.policies), lag)


@pytest.mark.parametrize("lag", [1, 2, 3])
@pytest.mark.parametrize(
    ("rule", "reason", "number"),  # twelve matches of each in a batch of a round robin of three
    [(CountRule(matches=24, max_matches=1000), "count", 2), (StopRule(max_matches=30, min_matches=30), "cap", 3)],
)
def test_until_count_and_cap_are_exact_at_any_lag(rule, reason, number, lag):
    batches, found = play_out(schedule(rule, lag), Players(STRENGTHS))
    assert (len(batches), found) == (number, reason)


def test_until_lag_adds_at_most_one_batch():
    rule = StopRule(rule="trueskill", sigma=0.0, max_matches=10_000)
    (one, first), (two, second) = (play_out(schedule(rule, lag), Players(STRENGTHS)) for lag in (1, 2))
    assert first == second == "mu_stable"
    matches = [[outcome.number for outcome in itertools.chain(*batches)] for batches in (one, two)]
    assert matches[1][: len(matches[0])] == matches[0]
    assert len(two) == len(one) + 1


@pytest.mark.slow_except(3)
@pytest.mark.parametrize("ahead", [1, 2, 3])
@pytest.mark.parametrize(
    "rule",
    [
        StopRule(min_matches=45, rule="trueskill", eps=1000.0, max_matches=1000),
        StopRule(min_matches=45, max_matches=300),
        CountRule(matches=60, max_matches=1000),
        SettlingRule(0.2, lambda outcome: outcome.seats[:1], min_matches=20),
        SettlingRule(0.2, lambda outcome: outcome.seats, min_matches=16),
    ],
)
def test_until_known_batches_have_no_lag_limit(rule, ahead):
    early = schedule(rule, ahead)
    lags = []

    class Recorded:
        lag = property(lambda self: lags.append(early.lag) or lags[-1])
        add, next_batch = early.add, early.next_batch

    class Patient:
        lag = ahead
        add, next_batch = (patient := schedule(rule, ahead)).add, patient.next_batch

    assert play_out(Recorded(), Players(STRENGTHS)) == play_out(Patient(), Players(STRENGTHS))
    assert lags[0] == UNLIMITED
    known = lags.count(UNLIMITED)
    if isinstance(rule, CountRule):
        assert known == len(lags)
    else:
        # Batches of twelve matches of each; one is known beforehand if those that it depends on are too few to stop.
        least = rule.begin(tuple(STRENGTHS)).least
        assert lags.index(ahead) == -(-least // 12) + ahead - 2


def test_until_stays_stopped():
    stopped = schedule(StopRule(max_matches=1), 1)
    batch = stopped.next_batch()
    stopped.add(Players(STRENGTHS).play(batch))
    assert stopped.next_batch() == stopped.next_batch() == Stop("cap")


def test_until_staff_seats_do_not_count():
    judged = small_contest("game_v0", tuple(STRENGTHS), staff={2: "a"})
    begun = schedule(StopRule(max_matches=36), 9, judged)
    batches = [begun.next_batch() for _ in range(4)]
    # Three batches of twelve matches of each; serving in every match of the others as well does not count for "a".
    assert [len(batch) for batch in batches[:3]] == [18] * 3 and batches[3] == Stop("cap")
