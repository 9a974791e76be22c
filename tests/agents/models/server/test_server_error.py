"""Errors of servers, of any shape."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.calls import CallStatus
from agents.models.server.abilities import Abilities
from agents.models.server.server_error import ServerError, failure, read_error

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ERROR = st.dictionaries(
    st.sampled_from(["error", "detail", "message", "code", "type", "status", "param", "innererror", "metadata", "raw"]),
    JSON | st.sampled_from(["insufficient_quota", "context_length_exceeded", "temperature", 429, "502"]),
)
REQUEST = {"model": "mock", "temperature": 0.0, "messages": [{"role": "system", "content": "the rules"}]}


@pytest.mark.slow
@given(
    JSON | ERROR | st.fixed_dictionaries({"error": ERROR}) | st.lists(ERROR, max_size=2),
    st.sampled_from([None, 400, 429, 503]),
)
def test_an_error_of_any_shape_has_a_status_and_a_bounded_message(body, http_status):
    error = read_error(body, http_status, "otherwise")
    assert isinstance(error.status, CallStatus)
    assert len(error.message) <= 4000
    assert failure(error, "message").status is error.status
    abilities = Abilities("mock")
    learnt = abilities.learn(error, REQUEST)
    assert (abilities.adapt(REQUEST)[0] != REQUEST) is learnt


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "a"}, "a"),
        ({"error": "a", "message": "b"}, "a: b"),
        ({"error": True, "message": "b"}, "b"),
        ({"message": "a", "code": 400}, "a"),
        ({"detail": "a"}, "a"),
        ({"detail": [{"loc": ["body", "n"], "msg": "a"}, "b"]}, "body.n: a; b"),
        ([{"error": {"message": "a"}}], "a"),
        ({"error": {"message": "a", "metadata": {"raw": "b"}}}, "a: b"),
        (None, "otherwise"),
        ("a", "a"),
        ({}, "otherwise"),
    ],
)
def test_what_a_server_says_is_found_wherever_it_stands(body, message):
    assert read_error(body, 400, "otherwise").message == message


@pytest.mark.parametrize(
    "message",
    [
        "'temperature' is not supported with this model",
        "This model does not support tools",
        "You set the model's temperature too high",
        "messages: at least one message is required",
    ],
)
def test_a_mistake_in_a_request_is_neither_an_unknown_model_nor_a_long_prompt(message):
    assert ServerError(400, message).status is CallStatus.REJECTED
