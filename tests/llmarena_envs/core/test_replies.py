import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.replies import json_objects, last_match, normalise, read_part


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("X: (1, 3)", "X: (1, 3)"),
        ("  \n X: (1, 3)\t\n", "X: (1, 3)"),
        ("Ｘ：（１，３）", "X:(1,3)"),
        ("【１，３】", "[1,3]"),
        ("「Ｄｅａｌ」", '"Deal"'),
        ("**X: (1, 3)**", "X: (1, 3)"),
        ("`X: 1`", "X: 1"),
        ("```\nX: 1\n```", "X: 1"),
        ('```json\n{"column": 1}\n```', '{"column": 1}'),
        ("~~~\nX: 1\n~~~", "X: 1"),
        ("\ud800", "\ud800"),
        ("我选 X: 1。", "我选 X: 1。"),
        ("", ""),
    ],
)
def test_normalise(reply: str, expected: str) -> None:
    assert normalise(reply) == expected


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("<think>X: 1</think>\nX: 2", "\nX: 2"),
        ("X: 1</think>X: 2", "X: 2"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("<Thinking>a</THINKING>b", "b"),
        ("X: 2<think>X: 1", "X: 2"),
        ("<think>" + "a" * 1_000_000 + "</think>b", "b"),
        ("<think>X: 1", ""),
        ("<think>X: 1</think>", ""),
        ("I think X: 1 < 2", "I think X: 1 < 2"),
        ("<thinker>a", "<thinker>a"),
    ],
)
def test_reasoning_is_not_read(reply: str, read: str) -> None:
    assert read_part(reply) == read


@pytest.mark.parametrize(("length", "read"), [(99_999, True), (100_000, True), (100_001, False), (1_000_000, False)])
def test_the_last_hundred_thousand_characters_of_a_reply_are_read(length: int, read: bool) -> None:
    begin, end = "X", "X: (2, 2)"
    text = normalise(begin + "a" * (length - len(begin) - len(end)) + end)
    assert len(text) == min(length, 100_000)
    assert text.startswith(begin) == read
    assert text.endswith(end)


@given(st.text())
def test_normalising_never_raises(text: str) -> None:
    assert isinstance(normalise(text), str)


def test_the_last_match_counts() -> None:
    match = last_match(re.compile(r"\d"), "a1b2c3d")
    assert match is not None
    assert match.group() == "3"
    assert last_match(re.compile(r"\d"), "abc") is None


def test_json_objects_are_found_in_prose_with_their_ends() -> None:
    text = 'I take {"row": 1} or {bad} or {"row": 2, "why": {"a": "}"}}. Done {"x"'
    found = list(json_objects(text))
    assert [value for _, value in found] == [{"row": 1}, {"row": 2, "why": {"a": "}"}}]
    assert [text[:end][-1] for end, _ in found] == ["}", "}"]


@pytest.mark.parametrize(
    "text", ["{" * 100_000, '{"a":' * 20_000, '{"a": [' * 20_000, '{"n": ' + "1" * 50_000 + "}", "{}" * 50_000]
)
def test_hostile_json_is_no_trouble(text: str) -> None:
    assert all(value == {} for _, value in json_objects(text))


@given(st.text(alphabet='{}[]":,ab1 '))
def test_json_never_raises(text: str) -> None:
    assert all(isinstance(value, dict) for _, value in json_objects(text))
