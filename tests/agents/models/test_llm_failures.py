"""LLMPolicy against a server that does everything wrong."""

import asyncio
import re
import socket

import pytest

from agents.errors import ProviderError
from agents.models.llm import LLMPolicy
from agents.models.server.rate_headers import read_retry_after
from agents.models.service import ModelService
from tests.agents.llm_calls import OBSERVATION, ask_once, fail
from tests.support.hostile_server import HANG, RESET, Answer, completion, error, html, json_answer, say

pytestmark = pytest.mark.usefixtures("own_environment")

PAST, FUTURE = "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2415 07:28:00 GMT"

TRANSIENT = {
    "429": error(429, **{"Retry-After": "0"}),
    "429 with a date": error(429, **{"Retry-After": PAST}),
    "429 with an unreadable wait": error(429, **{"Retry-After": "soon"}),
    "429 page": html(429),
    "408": error(408),
    "409": error(409),
    "500": error(500),
    "500 with a list": json_answer([1], status=500),
    "501 page": html(501),
    "reset": RESET,
    "no HTTP": Answer(body=b"SSH-2.0-OpenSSH_9.2\r\n", behaviour="raw"),
    "cut off": Answer(body=b'{"id": "a"', promised=100),
    "truncated JSON": Answer(body=b'{"id": "a", "choi'),
    "no JSON": Answer(body=b"hello", headers={"Content-Type": "text/plain"}),
    "nothing": Answer(),
    "no content": Answer(204),
    "page": html(200),
    "bad encoding": Answer(body=b'{"id": "\xff"}'),
    "bad compression": Answer(body=b"{}", headers={"Content-Type": "application/json", "Content-Encoding": "gzip"}),
    "too deep": Answer(body=b"[" * 200_000),
    "too long a number": Answer(body=b'{"id": ' + b"9" * 5_000 + b"}"),
    "list": json_answer([1, 2]),
    "null": json_answer(None),
    "error in a good status": json_answer({"error": {"message": "upstream is down", "code": 502}}),
    "choices null": json_answer(completion({}, choices=None)),
    "choices empty": json_answer(completion({}, choices=[])),
    "choices of another type": json_answer(completion({}, choices=[7])),
    "message null": json_answer(completion({}, choices=[{"message": None}])),
    "finish reason error": say("X: (1,", "error"),
    "finish reason abort": say("X: 1", "abort"),
    "finish reason of DeepSeek": say("X:", "insufficient_system_resource"),
    "finish reason nobody knows": say("", "gremlins"),
    "finish reason of another type": say(None, 7),
    "error of the choice": json_answer(
        completion({}, choices=[{"message": {"content": "X:"}, "finish_reason": "stop", "error": {"code": 502}}])
    ),
    "error beside the choice": json_answer(completion({"content": "X: 1"}, error={"message": "upstream is down"})),
    "content of another type": json_answer(completion({"content": {"text": "X: 1"}})),
    "part of another type": json_answer(completion({"content": [7]})),
    "neither text nor finish reason": say("", None),
    "finish reason nobody knows, with text": say("X: 1", "gremlins"),
}

OUTAGES = {"502 page": html(502), "503": error(503), "504 page": html(504), "529": error(529)}


@pytest.mark.parametrize("name", [*TRANSIENT, *OUTAGES])
def test_a_passing_failure_is_asked_again(name):
    reply, requests = ask_once({**TRANSIENT, **OUTAGES}[name], say("X: 1"))
    assert (reply.text, reply.calls, len(requests)) == ("X: 1", 2, 2)


@pytest.mark.parametrize("name", TRANSIENT)
def test_a_lasting_failure_is_given_up(name):
    failure, requests = fail(*[TRANSIENT[name]] * 3, max_attempts=3)
    assert len(requests) == 3
    assert not failure.fatal
    assert "mock" in str(failure)
    assert "gave up after 3 attempts" in str(failure)
    assert len(str(failure)) < 500


@pytest.mark.parametrize("slow", [HANG, Answer(body=b" " * 1000, drip=0.05)], ids=["hang", "drip"])
def test_an_attempt_takes_no_longer_than_its_timeout(slow):
    reply, requests = ask_once(slow, say("X: 1"), timeout=0.3)
    assert (reply.text, len(requests)) == ("X: 1", 2)


def test_the_deadline_ends_an_attempt():
    failure, requests = fail(HANG, deadline=0.3)
    assert len(requests) == 1
    assert "0.3 s" in str(failure)
    assert not failure.fatal


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTAGES)
def test_a_server_that_is_out_for_too_long_is_given_up(name):
    failure, requests = fail(*[OUTAGES[name]] * 10_000, outage=0.6, max_attempts=3)
    assert len(requests) > 3  # attempts in an outage do not count
    assert failure.fatal
    assert "mock at http://127.0.0.1" in str(failure)
    (seconds,) = re.findall(r"has been out for (\S+) s", str(failure))
    assert float(seconds) >= 0.6


@pytest.mark.parametrize("wait", ["3601", FUTURE])
def test_a_wait_beyond_what_an_outage_may_last_is_not_begun(wait):
    failure, requests = fail(error(429, **{"Retry-After": wait}))
    assert len(requests) == 1
    assert failure.fatal
    assert "asks to wait" in str(failure)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "inf"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": PAST}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00"}, 0.0),
        ({"retry-after": "9", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "9", "retry-after-ms": "?"}, 9.0),
    ],
)
def test_how_long_a_server_asks_to_wait(headers, seconds):
    assert read_retry_after(headers) == seconds


def test_a_date_to_wait_for():
    assert read_retry_after({"retry-after": FUTURE}) > 300 * 365 * 86400


def test_a_date_to_wait_for_goes_by_the_clock_of_the_server():
    assert read_retry_after({"retry-after": PAST, "date": "Wed, 21 Oct 2015 07:27:30 GMT"}) == 30.0
    assert read_retry_after({"retry-after": FUTURE, "date": FUTURE}) == 0.0
    assert read_retry_after({"retry-after": PAST, "date": "yesterday"}) == 0.0


def test_the_servers_own_words_stand_in_the_error():
    openai_like, _ = fail(error(400, message="This model takes\n2 tokens"))
    fastapi_like, _ = fail(json_answer({"detail": "no such model"}, status=400))
    assert "This model takes 2 tokens" in str(openai_like)
    assert "no such model" in str(fastapi_like)


@pytest.mark.parametrize("transport", ["aiohttp", "httpx"])
def test_a_server_that_is_not_there(monkeypatch, transport):
    if transport == "httpx":
        import openai

        def missing(**options):
            raise RuntimeError

        monkeypatch.setattr(openai, "DefaultAioHttpClient", missing)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    policy = LLMPolicy("mock", base_url=url, max_attempts=2, outage=0.1)
    with pytest.raises(ProviderError) as raised:
        asyncio.run(policy(OBSERVATION))
    assert re.match(rf"mock at {re.escape(url)} has been out for [\d.]+ s: connection refused", str(raised.value))
    assert f"connection refused: no server listens at {url}/" in str(raised.value)
    assert raised.value.fatal


def test_an_error_says_who_failed_how_and_after_how_many_attempts():
    failure, _ = fail(error(500, message="overloaded"), error(500, message="still overloaded"), max_attempts=2)
    assert str(failure) == "mock: HTTP 500: still overloaded; gave up after 2 attempts"
    failure, _ = fail(error(429, message="overloaded", **{"Retry-After": "7200"}), outage=60)
    assert str(failure) == (
        "mock asks to wait 7200 s, which is longer than an outage may be (60 s): HTTP 429: overloaded"
    )
    failure, _ = fail(HANG, timeout=0.2, max_attempts=1)
    assert str(failure) == "mock: no complete reply within 0.2 s; gave up after 1 attempt"


def test_policy_gives_up_on_an_outage_sooner_outside_of_runs():
    alone = LLMPolicy("m", base_url="http://127.0.0.1:9/v1")
    in_a_run = LLMPolicy("m", base_url="http://127.0.0.1:9/v1", service=ModelService())
    assert (alone.target.limits.outage, in_a_run.target.limits.outage) == (25, 3600)
