"""The limiter, and what it learns, driven by times."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ProviderError, TransientError
from agents.models.calls import CallStatus
from agents.models.limits import adaptive_limiter, retry
from agents.models.limits.adaptive_limiter import (
    FIRST_LIMIT,
    LONGEST_HEADER_PAUSE,
    AdaptiveLimiter,
    RequestLimits,
    per_minute,
)
from agents.models.limits.outage import ENOUGH, Outage, is_down
from agents.models.limits.retry import Attempts, RetryLimits
from agents.models.server.rate_headers import read_pause, read_retry_after

NOW = "Thu, 01 Jan 2026 00:00:00 GMT"


def enter_many(limiter, number, now=0.0):
    return [limiter.enter(now) for _ in range(number)]


def serve_ten_a_second(limiter, now):
    """Lets 100 requests through, one after the other without a gap; returns the time at the end."""
    for _ in range(100):
        ticket = limiter.enter(now)
        now += 0.1
        limiter.succeed(ticket, now)
    return now


def test_the_limit_doubles_from_reply_to_reply_until_the_first_refusal():
    limiter = AdaptiveLimiter()
    for ticket in enter_many(limiter, FIRST_LIMIT):
        limiter.succeed(ticket, 1.0)
        limiter.enter(1.0)  # what waits goes at once
    assert limiter.limit == 2 * FIRST_LIMIT


def test_a_limit_that_is_not_used_does_not_grow():
    limiter = AdaptiveLimiter()
    for second in range(100):
        limiter.succeed(limiter.enter(float(second)), second + 0.5)
    assert limiter.limit == FIRST_LIMIT


def test_requests_that_were_sent_before_a_decrease_decrease_no_further():
    limiter = AdaptiveLimiter()
    tickets = enter_many(limiter, FIRST_LIMIT)
    for ticket in tickets:
        limiter.refuse(ticket, 1.0)
    assert limiter.limit == int(FIRST_LIMIT * 0.8)
    limiter.refuse(limiter.enter(5.0), 6.0)
    assert limiter.limit == int(int(FIRST_LIMIT * 0.8) * 0.8)


def test_the_limit_never_falls_below_one_and_cool_downs_never_grow_beyond_their_bound():
    limiter = AdaptiveLimiter()
    now, pauses = 0.0, []
    for _ in range(40):
        limiter.refuse(limiter.enter(now), now)
        pauses.append(limiter.ready_at() - now)
        now = limiter.ready_at()
    assert limiter.limit == 1
    assert pauses[:4] == [1.0, 2.0, 4.0, 8.0]
    assert max(pauses) == adaptive_limiter.LONGEST_COOL_DOWN


def test_a_good_reply_resets_the_cool_down():
    limiter = AdaptiveLimiter()
    limiter.refuse(limiter.enter(0.0), 0.0)
    limiter.refuse(limiter.enter(1.0), 1.0)
    limiter.succeed(limiter.enter(3.0), 3.1)
    limiter.refuse(limiter.enter(4.0), 4.0)
    assert limiter.ready_at() == pytest.approx(5.0, abs=1.0)


def test_a_failure_of_the_server_only_pauses_growth():
    limiter = AdaptiveLimiter()
    limiter.refuse(limiter.enter(0.0), 0.0)
    limit = limiter.limit
    now = 10.0
    for _ in range(20):
        tickets = enter_many(limiter, limit, now)
        limiter.fail(tickets.pop(), now + 1)
        for ticket in tickets:
            limiter.succeed(ticket, now + 1)
        now += 2.0
    assert limiter.limit == limit


def test_a_refusal_teaches_a_pace_that_recovers():
    limiter = AdaptiveLimiter()
    now = serve_ten_a_second(limiter, 0.0)
    limiter.refuse(limiter.enter(now), now)
    assert limiter.learned_pace == pytest.approx(9.0, rel=0.05)
    now = limiter.ready_at()
    sent = 0
    while now < 20:
        limiter.succeed(limiter.enter(now), now + 0.01)
        now = max(limiter.ready_at(), now + 0.01)
        sent += 1
    assert 9 * 9 < sent < 9 * 100
    assert limiter.learned_pace > 15


def test_time_in_which_nobody_asked_is_no_measure_of_the_server():
    limiter = AdaptiveLimiter()
    limiter.succeed(limiter.enter(0.0), 0.1)
    now = serve_ten_a_second(limiter, 3600.0)
    limiter.refuse(limiter.enter(now), now)
    assert limiter.learned_pace == pytest.approx(9.0, rel=0.1)


def test_the_gate_closes_while_headers_say_that_nothing_is_left():
    limiter = AdaptiveLimiter()
    limiter.heed({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s"}, 100.0)
    assert limiter.ready_at() == 100.0 + LONGEST_HEADER_PAUSE
    limiter.heed({"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": "30d"}, 200.0)
    assert limiter.ready_at() <= 200.0


def test_the_strictest_limit_holds_and_is_told_once_when_it_binds(caplog):
    caplog.set_level("INFO", "agents.models")
    limiter = AdaptiveLimiter("m at h")
    limiter.restrict(RequestLimits(max_in_flight=25))
    limiter.restrict(RequestLimits())
    for _ in range(100):
        tickets = enter_many(limiter, limiter.limit)
        for ticket in tickets:
            limiter.succeed(ticket, 1.0)
    assert limiter.limit == 25
    assert [record.getMessage() for record in caplog.records] == [
        "m at h: 25 requests are in flight; no more are allowed (max_in_flight)"
    ]


@pytest.mark.slow
@given(st.integers(1, 5000), st.lists(st.floats(0, 30), max_size=50))
def test_a_limit_a_minute_holds_in_every_minute(limit, gaps):
    pace, now, times = per_minute(limit), 0.0, []
    for gap in [*gaps, *[0.0] * min(limit * 2, 500)]:
        now = max(now + gap, pace.ready_at)
        pace.take(now)
        times.append(now)
    assert all(times[i + limit] - times[i] >= 60 - 1e-6 for i in range(len(times) - limit))


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("20ms", 0.02),
        ("1m30s", 90.0),
        ("6m0s", 360.0),
        ("1h2m3.5s", 3723.5),
        ("12", 12.0),
        ("7.66s", 7.66),
        ("2026-01-01T00:00:09Z", 9.0),
        ("2025-01-01T00:00:00Z", 0.0),
        ("soon", 0.0),
        ("1m oops", 0.0),
        ("-5", 0.0),
        ("nan", 0.0),
        ("", 0.0),
    ],
)
@pytest.mark.parametrize(
    ("remaining_name", "reset_name"),
    [
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ],
)
def test_how_long_headers_say_that_nothing_is_left(remaining_name, reset_name, reset, seconds):
    headers = {remaining_name: "0", reset_name: reset, "date": NOW}
    assert read_pause(headers) == pytest.approx(seconds)
    assert read_pause({**headers, remaining_name: "1"}) == 0.0


HEADER = st.one_of(
    st.text(max_size=80),
    st.from_regex(r"[0-9]{1,30}(ms|s|m|h|d)?", fullmatch=True),
    st.sampled_from(["0", "-1", "1e308", "inf", NOW, "9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00Z"]),
)
NAMES = ["date", "retry-after", "retry-after-ms", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"]


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(NAMES), HEADER))
def test_hostile_headers_neither_break_anything_nor_stop_it(headers):
    limiter = AdaptiveLimiter()
    limiter.heed(headers, 100.0)
    assert limiter.ready_at() <= 100.0 + LONGEST_HEADER_PAUSE
    assert 0.0 <= read_retry_after(headers) < math.inf


def failed(status=500, retry_after=0.0):
    kind = CallStatus.RATE_LIMITED if status == 429 else CallStatus.UNAVAILABLE
    return TransientError(f"HTTP {status}", retry_after, status=kind, http_status=status)


def test_waits_between_attempts_grow_are_bounded_and_come_after_what_the_server_asked(monkeypatch):
    draws = []

    class Highest:
        def uniform(self, low, high):
            draws.append(low)
            return high

    monkeypatch.setattr(retry, "_jitter", Highest())
    attempts = Attempts(RetryLimits(11, 10.0, 10_000.0), "m")
    waits = [attempts.fail(failed(retry_after=10.0 if number == 2 else 0.0), 1.0) for number in range(10)]
    assert waits == [0.5, 1.0, 12.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    assert set(draws) == {0}
    assert attempts.seconds == 10_000.0 - 10 * 1.0 - (sum(waits) - 10.0)
    with pytest.raises(ProviderError, match="gave up after 11 attempts"):
        attempts.fail(failed(), 1.0)


def test_an_outage_is_seen_from_two_failures_of_a_lone_call_and_from_all_of_many():
    lone, many = Outage(), Outage()
    for number in range(2):
        assert lone.began is None
        lone.fail(float(number), 7, number=number, sent=number + 1, is_down=True, under_way=1)
    assert lone.began == 1.0
    for number in range(ENOUGH):
        assert many.began is None
        many.fail(0.0, number, number=number, sent=100, is_down=True, under_way=100 - number)
    assert many.began == 0.0


def test_now_and_then_a_failure_is_no_outage():
    outage = Outage()
    for number in range(1000):
        outage.fail(float(number), number, number=number, sent=number + 10, is_down=True, under_way=10)
        if number % 3 == 2:
            outage.end()
        assert outage.began is None


def test_probes_become_rarer_and_obey_the_server_within_a_bound():
    outage = Outage()
    for _ in range(2):
        outage.fail(0.0, 1, number=0, sent=1, is_down=True, under_way=1)
    assert 0.75 <= outage.probe_at <= 1.25
    waits, now = [], 0.0
    for _ in range(10):
        now = outage.probe_at
        outage.fail(now, 1, number=3, sent=4, is_down=True, under_way=1, is_probe=True)
        waits.append(outage.probe_at - now)
    assert 1.5 <= waits[0] <= 2.5
    assert 22.5 <= max(waits) <= 37.5
    outage.fail(now, 1, number=3, sent=4, is_down=True, under_way=1, is_probe=True, retry_after=1e9)
    assert outage.probe_at == now + 300.0


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (ConnectionRefusedError(), True),
        (OSError(113, "no route to host"), True),
        (ConnectionResetError(), False),
        (TimeoutError(), False),
        (None, False),
    ],
)
def test_what_says_that_nobody_else_would_be_served_either(cause, expected):
    error = TransientError("no connection", status=CallStatus.UNAVAILABLE)
    error.__cause__ = RuntimeError()
    error.__cause__.__cause__ = cause
    assert is_down(error) is expected
    assert [is_down(failed(status)) for status in (500, 502, 503, 504)] == [False, True, True, True]


def test_pace_is_back_soon_after_a_series_of_refusals():
    limiter, now = AdaptiveLimiter(), 0.0

    def ask(seconds, *, refused):
        nonlocal now
        end = now + seconds
        while now < end:
            now = max(now, limiter.ready_at())
            ticket = limiter.enter(now)
            now += 0.1
            (limiter.refuse if refused else limiter.succeed)(ticket, now)

    ask(20, refused=False)
    ask(0.1, refused=True)
    measured = limiter.learned_pace
    assert measured > 5
    ask(300, refused=True)
    assert limiter.learned_pace == pytest.approx(measured / 10)
    ask(60, refused=False)  # with the last pause of 30 s
    assert limiter.learned_pace >= measured
