"""Every kind of response of a server, and what it counts as."""

import asyncio
import json
import socket
import ssl
from pathlib import Path

import pytest

from agents.errors import TransientError
from agents.models.calls import CallStatus
from agents.models.server.client import Client
from agents.models.server.connection import MAX_BODY
from agents.models.server.endpoint import Endpoint
from llmarena_envs.core.failures import Failure
from tests.agents.llm_calls import SECRET
from tests.agents.models.server.asking_clients import REQUEST, TALK, complete, refuse, respond
from tests.support.hostile_server import Answer, completion, error, hostile_server, html, json_answer, say

pytestmark = pytest.mark.usefixtures("own_environment")

S = CallStatus
CERTIFICATE = Path(__file__).parents[3] / "support" / "self_signed.pem"  # and its key, for the tests only


def told(http_status, message, **fields):
    return json_answer({"error": {"message": message, **fields}}, status=http_status)


def inside(**fields):
    return json_answer({"error": fields})


VLLM_TOO_LONG = (
    "This model's maximum context length is 100 tokens. However, you requested 140 tokens (40 in the messages, 100 in the"
    " completion). Please reduce the length of the messages or completion."
)
MODEL_OF_VLLM = "The model `mock` does not exist."

FATAL = {
    "401": (error(401, "invalid_api_key"), S.AUTHENTICATION),
    "401 page": (html(401), S.AUTHENTICATION),
    "403": (error(403), S.AUTHENTICATION),
    "Google's refused key": (told(400, "API key not valid. Please pass a valid API key."), S.AUTHENTICATION),
    "402": (error(402), S.QUOTA),
    "429 insufficient_quota": (error(429, "insufficient_quota"), S.QUOTA),
    "403 without money": (told(403, "no money", code="insufficient_balance"), S.QUOTA),
    "400 without credit": (told(400, "Your credit balance is too low to use this."), S.QUOTA),
    "quota inside a 200": (inside(message="pay", code="insufficient_quota"), S.QUOTA),
    "quota by type": (told(500, "pay", type="insufficient_quota"), S.QUOTA),
    "quota in a word": (json_answer({"error": "insufficient_quota", "message": "pay"}, status=429), S.QUOTA),
    "401 inside a 200": (inside(message="who?", code=401), S.AUTHENTICATION),
    "404": (error(404), S.UNKNOWN_MODEL),
    "404 page": (html(404), S.UNKNOWN_MODEL),
    "400 model_not_found": (error(400, "model_not_found"), S.UNKNOWN_MODEL),
    "400 of an old vLLM": (
        json_answer({"object": "error", "message": MODEL_OF_VLLM, "code": 400}, status=400),
        S.UNKNOWN_MODEL,
    ),
    "400 about the model": (told(400, "no", param="model"), S.UNKNOWN_MODEL),
    "400 in one word": (json_answer({"error": "unknown model: mock"}, status=400), S.UNKNOWN_MODEL),
    "redirect to a login": (Answer(302, headers={"Location": "https://login.example/in?session=1"}), S.REJECTED),
    "endless redirects": (Answer(307, headers={"Location": "/v1/chat/completions"}), S.REJECTED),
}

FINAL = {
    "400": (error(400), S.REJECTED),
    "400 with a detail": (json_answer({"detail": "no"}, status=400), S.REJECTED),
    "400 inside a 200": (inside(message="no", code=400), S.REJECTED),
    "403 by country": (told(403, "no", code="unsupported_country_region_territory"), S.REJECTED),
    "403 by moderation": (told(403, "Your input was flagged"), S.REJECTED),
    "422": (json_answer({"detail": [{"loc": ["body", "n"], "msg": "too many", "type": "x"}]}, status=422), S.REJECTED),
    "418": (Answer(418), S.REJECTED),
    "context code": (error(400, "context_length_exceeded"), S.CONTEXT_LENGTH),
    "context of vLLM": (json_answer({"message": VLLM_TOO_LONG, "code": 400}, status=400), S.CONTEXT_LENGTH),
    "context of llama.cpp": (
        told(500, "the request exceeds the available context size", type="exceed_context_size_error"),
        S.CONTEXT_LENGTH,
    ),
    "context inside a 200": (
        inside(message="request (9 tokens) exceeds the available context size", code=400),
        S.CONTEXT_LENGTH,
    ),
    "prompt is too long": (told(400, "prompt is too long: 9 tokens > 8 maximum"), S.CONTEXT_LENGTH),
    "413": (html(413), S.CONTEXT_LENGTH),
}

TRANSIENT = {
    "408": (error(408), S.UNAVAILABLE),
    "409": (error(409), S.UNAVAILABLE),
    "425": (error(425), S.UNAVAILABLE),
    "429": (error(429), S.RATE_LIMITED),
    "429 with the words of a quota": (
        told(429, "You exceeded your current quota", status="RESOURCE_EXHAUSTED"),
        S.RATE_LIMITED,
    ),
    "500": (error(500), S.UNAVAILABLE),
    "502 page": (html(502), S.UNAVAILABLE),
    "529": (error(529), S.UNAVAILABLE),
    "429 inside a 200": (inside(message="slow down", code=429), S.RATE_LIMITED),
    "502 inside a 200": (inside(message="upstream", code="502"), S.UNAVAILABLE),
    "error without a code": (inside(message="upstream"), S.MALFORMED),
    "error in a word": (json_answer({"error": "upstream"}), S.MALFORMED),
    "error in the choice": (
        json_answer(completion({}, choices=[{"message": {"content": "X: 1"}, "error": {"code": 503}}])),
        S.UNAVAILABLE,
    ),
    "error in the message": (json_answer(completion({"content": "X: 1", "error": {"code": 503}})), S.UNAVAILABLE),
    "error without a wrapping": (json_answer({"message": "busy", "code": 503}), S.UNAVAILABLE),
    "page": (html(200), S.MALFORMED),
    "204": (Answer(204), S.MALFORMED),
    "broken JSON": (Answer(body=b'{"choices": ['), S.MALFORMED),
    "no choices": (json_answer(completion({}, choices=[])), S.MALFORMED),
    "unknown finish reason": (say("X: 1", "gremlins"), S.MALFORMED),
    "finish reason abort": (say("X: 1", "abort"), S.MALFORMED),
    "finish reason of another type": (say("X: 1", 7), S.MALFORMED),
    "too deep": (Answer(body=b"[" * 200_000), S.MALFORMED),
    "too deep an error": (Answer(500, b"[" * 200_000), S.UNAVAILABLE),
    "no UTF-8": (Answer(body=b'{"id": "\xff"}'), S.MALFORMED),
    "gzip that is none": (Answer(body=b"{}", headers={"Content-Encoding": "gzip"}), S.UNAVAILABLE),
    "no HTTP": (Answer(body=b"SSH-2.0-OpenSSH_9.2\r\n", behaviour="raw"), S.UNAVAILABLE),
}


@pytest.mark.parametrize("name", FATAL)
def test_what_makes_every_further_request_useless(name):
    answer, status = FATAL[name]
    failure = refuse(answer, answer, answer)
    assert (failure.fatal, failure.final, failure.status) == (True, True, status)
    assert str(answer.status) in str(failure) or failure.http_status is None or answer.status == 200


@pytest.mark.parametrize("name", FINAL)
def test_what_makes_this_request_useless(name):
    answer, status = FINAL[name]
    failure = refuse(answer)
    assert not isinstance(failure, TransientError)
    assert (failure.fatal, failure.final, failure.status) == (False, True, status)


def test_a_body_that_is_no_json_is_shown():
    assert "'<html>please log in" in str(refuse(Answer(body=b"<html>please log in" + b"." * 1000)))


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_may_be_over_at_the_next_attempt(name):
    answer, status = TRANSIENT[name]
    failure = refuse(answer)
    assert isinstance(failure, TransientError)
    assert (failure.fatal, failure.final, failure.status) == (False, False, status)


@pytest.mark.parametrize("name", [name for name, (_, status) in FINAL.items() if status is S.CONTEXT_LENGTH])
def test_a_context_that_the_model_has_filled_itself_is_its_own_failure(name):
    answer, _ = FINAL[name]
    response = respond(answer, request={**REQUEST, "messages": TALK})
    assert (response.reply.kind, response.reply.text) == (Failure.TRUNCATED, "")
    assert response.reply.detail == {"finish_reason": "context_length"}
    assert response.http_status == answer.status


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation", "invalid_prompt"])
def test_a_filtered_prompt_is_a_refusal(code):
    for answer in (error(400, code), inside(message="no", code=code)):
        response = respond(answer)
        assert (response.reply.kind, response.reply.detail) == (Failure.REFUSAL, {"finish_reason": "content_filter"})


def test_a_response_says_what_a_gate_needs():
    limits = {"X-RateLimit-Remaining-Requests": "3", "retry-after-ms": "5", "anthropic-ratelimit-tokens-reset": "now"}
    headers = {"Content-Type": "application/json", "X-Request-Id": "req_1", "Set-Cookie": "a=b", **limits}
    lowered = {name.lower(): value for name, value in limits.items()}
    response = respond(say("hm", headers=headers))
    assert (response.http_status, response.request_id, dict(response.headers)) == (200, "req_1", lowered)
    failure = refuse(error(429, **{**headers, "Retry-After": "7", "retry-after-ms": ""}))
    assert (failure.http_status, failure.request_id, failure.retry_after) == (429, "req_1", 7.0)
    assert failure.headers == {**lowered, "retry-after": "7", "retry-after-ms": ""}


def test_a_permanent_redirect_is_followed_with_the_request():
    moved = Answer(308, headers={"Location": "/v2/chat/completions"})
    with hostile_server(moved, say("hm")) as server:
        (response,) = complete(server)
    assert response.reply.text == "hm"
    assert server.requests[1].path == "/v2/chat/completions"
    assert server.requests[1].body == REQUEST


def test_a_body_beyond_the_bound_is_not_read(monkeypatch):
    monkeypatch.setattr("agents.models.server.connection.MAX_BODY", 10_000)
    for status in (200, 400):
        failure = refuse(Answer(status, b" " * 9_000 + b"{}" * 2_000, promised=MAX_BODY))
        assert "more than 10000 bytes" in str(failure)
        assert failure.status is S.MALFORMED


def test_text_that_is_hard_to_store_survives():
    text = "X: 1\x00 \u202e 井 " + chr(0xD800)
    response = respond(Answer(body=json.dumps(completion({"content": text})).encode()))
    assert response.reply.text == text[:-1] + "?"


def test_a_message_holds_nothing_that_a_terminal_obeys():
    assert "?[2J red ??" in str(refuse(told(400, "\x1b[2J\nred \u202e\x00")))


ECHO = f"Authorization: Bearer {SECRET}"


@pytest.mark.parametrize("padding", [60, 72, 90])
@pytest.mark.parametrize("status", [200, 400, 403, 500])
def test_the_key_is_in_no_message_wherever_it_stands(padding, status):
    escaped = SECRET.replace("-", "\\u002d")
    for body in (
        json.dumps({"error": "x" * 3 * padding + ECHO, "more": [ECHO] * 50}),
        json.dumps({"error": {"message": "x" * 3 * padding + ECHO, "code": 400}}),
        json.dumps(completion({"content": {"echo": "y" * 2 * padding + SECRET}})),
        "z" * 4 * padding + ECHO,
        '{"error": {"message": "' + escaped + '"}}',
    ):
        failure = refuse(Answer(status, body.encode()))
        assert not any(SECRET[start : start + 8] in str(failure) for start in range(len(SECRET) - 7))
        assert len(str(failure)) <= 300


def test_the_key_is_in_no_reply():
    said = {"content": f"my key is {SECRET}", "reasoning_content": SECRET}
    reply = respond(json_answer(completion(said, model=SECRET))).reply
    assert (reply.text, reply.reasoning, reply.detail["model"]) == ("my key is ***", "***", "***")


def fail_at(url):
    async def run():
        client = Client(Endpoint(url, "OPENAI_API_KEY"))
        await client.open()
        try:
            with pytest.raises(Exception) as raised:
                await client.complete(REQUEST)
            return raised.value
        finally:
            await client.close()

    return asyncio.run(run())


def test_a_host_that_is_not_known_is_called_so():
    failure = fail_at("http://no-such-host.invalid/v1")
    assert isinstance(failure, TransientError)
    assert failure.status is S.UNAVAILABLE
    assert "host" in str(failure)
    assert "no-such-host.invalid" in str(failure)


def fail_at_server(greet, **options):
    """Asks a server that speaks first by ``https``."""

    async def run():
        async with await asyncio.start_server(greet, "127.0.0.1", 0, **options) as server:
            port = server.sockets[0].getsockname()[1]
            return await asyncio.to_thread(fail_at, f"https://127.0.0.1:{port}/v1")

    return asyncio.run(run())


def test_a_server_without_tls_is_called_so():
    def greet(reader, writer):
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    failure = fail_at_server(greet)
    assert isinstance(failure, TransientError)
    assert "TLS" in str(failure)


def test_a_certificate_that_nobody_signed_is_fatal():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    failure = fail_at_server(lambda reader, writer: writer.close(), ssl=context)
    assert failure.fatal
    assert "certificate" in str(failure)


def test_nobody_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    failure = fail_at(f"http://127.0.0.1:{port}/v1")
    assert failure.status is S.UNAVAILABLE
    assert "connection refused" in str(failure)
