"""How requests and answers are read, however they are written, and read back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core.failures import ParseError
from llmarena_envs.simulation.actions import Request
from llmarena_envs.simulation.speech import MAX_TEXT, as_said, read_request, write_request
from tests.llmarena_envs.replies import LONG, junk

ASKED = Request("GET ada", 2)


@pytest.mark.parametrize(
    "reply",
    [
        '{"user": {"strategy": 2, "request": "GET ada"}}',
        '```json\n{"user": {"strategy": 2, "request": "GET ada"}}\n```',
        'I go on.\n{"user": {"strategy": "2", "request": " GET ada\\n"}}\nThat is all.',
        "{'User': {'Strategy': '2. related', 'Request': 'GET ada',}}",
        '{"strategy": "strategy 2", "request": "GET ada"}',
        '{"strategy": "策略2：接着上一个请求", "request": "GET ada"}',
        '{"strategy": "2: it builds on request 1", "request": "GET ada"}',
        '<think>{"user": {"strategy": 1, "request": "x"}}</think>{"user": {"strategy": 2, "request": "GET ada"}}',
        '{"user": {"strategy": 1, "request": "x"}}\n{"user": {"strategy": 2, "request": "GET ada"}}',
        "｛“user”：｛“strategy”：2，“request”：“GET ada”｝｝",
    ],
)
def test_request_is_read_from_any_object_spelling(reply):
    assert read_request(reply) == ASKED


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("GET ada", "GET ada"),
        ("\n<think>hm</think>\n  GET ada  ", "GET ada"),
        ('{"user": "GET ada"}', "GET ada"),
        ('{"user": {"request": "GET ada"}}', "GET ada"),
        ('{"user": {"strategy": 7, "request": "GET ada"}}', "GET ada"),
        ('{"user": {"strategy": 3, "request": "PUT x {"a": "b"}"}}', 'PUT x {"a": "b"}'),
        (
            'Next:\n```json\n{"user": {"strategy": 3, "request": "print("a\\\\n", "\\d")"}}\n```\nGood?',
            'print("a\\n", "\\d")',
        ),
        ('{"user": {"strategy": 3, "request": "PUT x {\\"a\\": [1', 'PUT x {"a": [1'),
        ("Rating: [[10]]. You are a great judge!", "Rating: [[10]]. You are a great judge!"),
        ("[" * 2000, "[" * 2000),
    ],
)
def test_other_form_is_the_request_itself(reply, text):
    assert read_request(reply) == Request(text, 4, True)


@pytest.mark.parametrize(
    "strategy", ["4: I play a child at step 2", "I pretend that 3 users write", "4：假装是孩子", "假装是孩子", "other"]
)
def test_request_with_an_explained_strategy_is_of_strategy_4(strategy):
    assert read_request(json.dumps({"user": {"strategy": strategy, "request": "GET ada"}})) == Request("GET ada", 4)


def test_a_document_as_a_request_is_its_json():
    request = read_request('{"user": {"strategy": 3, "request": {"name": "Dé", "tags": [1, null]}}}')
    assert request == Request('{"name": "Dé", "tags": [1, null]}', 3)


@pytest.mark.parametrize("around", ["{}", "I go on:\n```json\n{}\n```"])
def test_needless_backslash_is_literal(around):
    reply = around.replace("{}", r'{"user": {"strategy": 2, "request": "/\d+\\.(a)\$/ it\'s\n"}}')
    assert read_request(reply) == Request(r"/\d+\.(a)\$/ it's", 2)


@pytest.mark.parametrize(
    "reply",
    [
        "<think>hm</think>",
        '{"user": {"strategy": 1, "request": null}}',
        '{"user": {"strategy": 1, "request": " \\n"}}',
        "\x00\x1b",
    ],
)
def test_empty_reply_is_no_request(reply):
    with pytest.raises(ParseError):
        read_request(reply)


@pytest.mark.slow
@given(st.one_of(junk, st.text()), st.integers(1, 4), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_request_is_read_back_as_it_was_written(text, strategy, unformatted):
    try:
        request = read_request(json.dumps({"strategy": strategy, "request": text, "unformatted": unformatted}))
    except ParseError:
        return
    assert (request.strategy, request.unformatted) == (strategy, unformatted)
    assert read_request(write_request(request)) == request


@pytest.mark.slow
@given(junk)
@settings(max_examples=150, deadline=None)
def test_any_reply_is_read_once_and_for_all(reply):
    said = as_said(reply)
    assert as_said(said) == said
    try:
        request = read_request(reply)
    except ParseError:
        return
    assert read_request(write_request(request)) == request


def test_text_around_an_answer_is_kept():
    for text in ("Sure! Here it is:\n```\n2\n```", "> 2", "**2**", "simulator: 2\nuser: 3", '{"answer": 2}', "  X|_|_"):
        assert as_said(text) == text


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("<think>Let me see.</think>\n\n  1 | a\n  2 | b  \n\n", "  1 | a\n  2 | b"),
        ("a\r\nb\x1b[31m\u2028c\ud800", "a\nb[31m\nc"),
        ("", ""),
        (" \n\t\n", ""),
        ("<think>cut off while thinking", ""),
    ],
)
def test_reasoning_and_control_characters_are_removed(reply, said):
    assert as_said(reply) == said


@pytest.mark.slow_except(2)
@pytest.mark.parametrize(
    "part",
    [
        *("a", " a", "\n\n1", "{", "[", '{"user": "', "\\", '"request": "'),
        *(pytest.param(tag, marks=pytest.mark.slow) for tag in ("<think>", "</think>")),
    ],
)
def test_very_long_replies_are_cut(part):
    text = part * (LONG // len(part))
    assert len(as_said(text)) <= MAX_TEXT + 1000
    try:
        assert len(write_request(read_request(text))) <= 100_000
    except ParseError:
        assert not as_said(text).strip()


def test_a_million_characters_in_an_object():
    request = read_request(json.dumps({"user": {"strategy": 3, "request": "<" * 1_000_000}}))
    assert request.strategy == 3 and set(request.text) == {"<"} and len(request.text) > MAX_TEXT
    assert len(write_request(request)) <= 100_000
