import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.failures import ParseError
from llmarena_envs.core.reading.markup import narrow, unwrap
from llmarena_envs.core.reading.objects import find_objects
from llmarena_envs.core.replies import Grammar, find, read_part

DIGIT = Grammar(lambda text, labelled: (int(text[0]), 1) if text[:1] in tuple("0123456789") else None, nouns="digit")


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("<think>X: 1</think>\nX: 2", "\nX: 2"),
        ("X: 1</think>X: 2", "X: 2"),
        ("<think>a</think>b<think>c</think>d", "b\nd"),
        ("<Thinking>a</THINKING>b", "b"),
        ("X: 2<think>X: 1", "X: 2"),
        ("X: 2<think>X: 1</think>3", "X: 2\n3"),
        ("<think>" + "a" * 1_000_000 + "</think>b", "b"),
        ("<think>X: 1", ""),
        ("<think>X: 1</think>", ""),
        ("<think>a <think> b</think>c", "c"),
        ("[THINK]a[/THINK]b", "b"),
        ("[reasoning] a", "[reasoning] a"),
        ("<|channel|>\nb", "<|channel|>\nb"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b"),
        ("<|channel|>analysis<|message|>a", ""),
        ("I think X: 1 < 2", "I think X: 1 < 2"),
        ("<thinker>a", "<thinker>a"),
    ],
)
def test_reasoning_is_not_read(reply: str, read: str) -> None:
    assert read_part(reply) == read


@pytest.mark.parametrize("closed", [True, False])
def test_overlong_thoughts_contain_no_move(closed: bool) -> None:
    reply = "<think>" + "digit: 1\n" * 20_000 + ("</think>I do not know" if closed else "")
    assert read_part(reply) == ("I do not know" if closed else "")
    with pytest.raises(ParseError):
        find(reply, DIGIT, "player_0")


@pytest.mark.parametrize(("length", "read"), [(99_999, True), (100_000, True), (100_001, False), (1_000_000, False)])
def test_the_last_hundred_thousand_characters_of_a_reply_are_read(length: int, read: bool) -> None:
    begin, end = "digit: 1\n", "\nnothing more"
    reply = begin + "a" * (length - len(begin) - len(end)) + end
    assert read_part(reply) == reply[-100_000:]
    if read:
        assert find(reply, DIGIT, "player_0").value == 1
    else:
        with pytest.raises(ParseError):
            find(reply, DIGIT, "player_0")


def test_a_statement_comes_with_the_text_before_it_as_written() -> None:
    reply = "Hello **you**\n\n*Digit:* 4"
    assert find(reply, DIGIT, "player_0")[:2] == (4, "Hello **you**\n\n")
    found = find('Hi! {"digit": 4, "why": "digit: 5"}', DIGIT, "player_0")
    assert (found.value, found.before, found.fields["why"]) == (4, "Hi! ", "digit: 5")


@given(st.text())
def test_positions_stay_where_they_were(text: str) -> None:
    assert len(narrow(text)) == len(text)
    assert len(unwrap(narrow(text))[0]) == len(text)


def test_objects_are_found_in_prose_with_their_ends() -> None:
    text = """I take {"row": 1} or {bad} or {'row': 2, "why": {"a": "}"},}. Done {"x\""""
    found = list(find_objects(text))
    assert [value for _, _, value in found] == [{"row": 1}, {"row": 2, "why": {"a": "}"}}]
    assert [text[start] + text[end - 1] for start, end, _ in found] == ["{}", "{}"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{row: 2, column: None, x: True}", {"row": 2, "column": None, "x": True}),
        ('{"a": 1.10, "b": 1e-7, "c": -3}', {"a": "1.10", "b": "1e-7", "c": -3}),
        ('{"a": "\\ud83c\\udf4e\\n\\"b\\""}', {"a": '🍎\n"b"'}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ("{'a': 'it\\'s', 'b': [1, (2, 3)]}", {"a": "it's", "b": [1, [2, 3]]}),
    ],
)
def test_objects_are_read_as_json_or_as_python_writes_them(text: str, value: object) -> None:
    assert [found for _, _, found in find_objects(text)] == [value]


@pytest.mark.parametrize(
    "text",
    ["{" * 100_000, '{"a":' * 20_000, '{"a": [' * 20_000, '{"n": ' + "1" * 50_000 + "}", "{}" * 50_000, "{'" * 50_000],
)
def test_hostile_objects_are_no_trouble(text: str) -> None:
    assert all(not value or "n" in value for _, _, value in find_objects(text))


@given(st.text(alphabet="{}[]\":,ab1 '\\\\"))
def test_objects_never_raise(text: str) -> None:
    assert all(isinstance(value, dict) for _, _, value in find_objects(text))
