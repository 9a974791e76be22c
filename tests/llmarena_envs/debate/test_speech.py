"""How turns are read, however the tags are written, and read back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.debate.speech import MAX_SPEECH, read_speech, write_speech
from tests.llmarena_envs.replies import LONG, junk

ALL = ("respond", "criticize", "raise")
RESPOND = ("respond",)


R, C, Q, T = ("respond", "yes"), ("criticize", "no"), ("raise", "why?"), ("think", "hm")


def read(reply, actions=ALL):
    return [tuple(part) for part in read_speech(reply, actions).parts]


@pytest.mark.parametrize(
    "reply",
    [
        "<respond>yes</respond><criticize>no</criticize><raise>why?</raise>",
        "<Respond> yes</RESPOND>\n\n<CRITICIZE>\nno\n</criticize>\n<raise>why?</Raise>\n",
        "< respond >yes</ respond>\n<criticize>no</criticize>\n<raise>why?</raise>",
        "<respond>yes\n<criticize>no\n<raise>why?",
        "<respond>yes <criticize>no</criticize></respond><raise>why?</raise>",
        "Here it is.\n<respond>yes</respond> and <criticize>no</criticize> and <raise>why?</raise> Done.",
        "```xml\n<respond>yes</respond>\n<criticize>no</criticize>\n<raise>why?</raise>\n```",
        "```\n<respond>yes\n<criticize>no\n<raise>why?\n```",
        '<respond lang="en">yes</respond><criticize type=short>no</criticize><raise : >why?</raise>',
        "＜respond＞yes＜/respond＞＜criticize＞no＜／criticize＞《raise》why?《/raise》",
        "【回应】yes【批评】no【追问】why?",
        "<回应>yes</回应><批评>no</批评><提问>why?</提问>",
        "<response>yes</response><criticise>no</criticise><raise>why?</raise>",
        "<respond>maybe</respond><respond>yes</respond><criticize>no</criticize><raise>x</raise><raise>why?</raise>",
        "<raise>x<raise>why?</raise><respond>maybe</respond><respond>yes<criticize>no",
        "yes\n<criticize>no</criticize><raise>why?</raise>",
        "<criticize>no</criticize>yes<raise>why?</raise>",
    ],
)
def test_tags_are_read_in_any_spelling(reply):
    assert sorted(read(reply)) == sorted([R, C, Q])


@pytest.mark.parametrize(
    "text",
    [
        "In XML:\n```xml\n<response>\n <ok/>\n</response>\n```\nThat is all.",
        "It answers <response>ok</response> to you.",
        "Write `<raise>` and ``<think>x</think>``, then `</respond>`.",
        "~~~xml\n<think>a</think><respond>b</respond>\n~~~\nand\n~~~~\n<raise>\n~~~~\nend",
    ],
)
def test_tags_that_an_answer_only_mentions_are_text(text):
    written = f"<think>hm</think><respond>{text}</respond><criticize>no</criticize><raise>why?</raise>"
    assert read(written) == [T, ("respond", text), C, Q]


def test_code_that_is_left_open_hides_no_tag():
    assert read("<respond>yes\n```</respond><criticize>no</criticize>\n<raise>why?\n```\n</raise>") == [
        ("respond", "yes\n```"),
        C,
        ("raise", "why?\n```"),
    ]


@pytest.mark.parametrize(
    "reply", ["<respond></respond>yes", "<respond>yes</respond><respond></respond>", "<respond/>yes"]
)
def test_empty_part_removes_no_text(reply):
    assert read(reply, RESPOND) == [R]


def test_analysis_channel_drafts_are_ignored():
    analysis = "<|channel|>analysis<|message|>hm <respond>draft</respond><criticize>draft</criticize><|end|>"
    assert read(f"{analysis}<|start|>assistant<|channel|>final<|message|>yes") == [R]


def test_parts_are_ordered_by_their_beginning():
    assert read("<respond>yes <criticize>no <raise>why?") == [R, C, Q]
    assert read("<raise>why? <criticize>no</criticize></raise> <respond>yes") == [Q, C, R]


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        ("<think>hm</think><respond>yes</respond>", [T, R]),
        ("<think>hm\n<respond>yes</respond>", [T, R]),
        ("hm</think><respond>yes</respond>", [T, R]),
        ("<THINKING>hm</thinking>yes", [T, R]),
        ("<respond>yes</respond><think>hm</think>", [R, T]),
        ("<think>hm</think><respond>yes</respond><think>hm</think>", [T, R, T]),
        ("<think>one</think><think>two</think><respond>yes", [("think", "one\ntwo"), R]),
        ("<think>one<think>two</think><respond>yes", [("think", "one\ntwo"), R]),
        ("<respond>ye<think>hm</think>s</respond>", [("respond", "ye\ns"), T]),
        ("<think>I may <raise>x</raise> or <respond>no</respond></think>yes", None),
        ("I use <respond> and <raise> here.</think><respond>yes</respond>", None),
        ("<think></think><respond>yes</respond>", [R]),
        ("<reasoning>hidden</reasoning>yes", [R]),
        ("<|channel|>analysis<|message|>hidden<|end|><|channel|>final<|message|>yes", [R]),
    ],
)
def test_thoughts_stay_thoughts(reply, parts):
    found = read(reply, RESPOND)
    assert found == parts if parts else [part for part in found if part[0] != "think"] == [R]
    assert "hidden" not in str(found)


@pytest.mark.parametrize(
    ("reply", "actions", "parts"),
    [
        ("yes", RESPOND, [R]),
        ("yes", ("criticize", "raise"), []),
        ("", ALL, []),
        (" \n", ALL, []),
        ("```\nyes\n```", RESPOND, [R]),
        ("<respond></respond>", RESPOND, [("respond", "")]),
        ("<respond/><raise />", ALL, [("respond", ""), ("raise", "")]),
        ("</respond>yes</raise>", RESPOND, [("respond", "yes")]),
        ("<raise>why?</raise>", RESPOND, [Q]),  # the rules drop it
        ("a < b and [respond] and <responded> and 《批评》 and <b>bold</b>", RESPOND, None),
        ("[response](https://a.b) <raise a<b>", RESPOND, None),
        ("<reſpond> <raıse> <crİticize>", RESPOND, None),
    ],
)
def test_tags_that_are_malformed_or_missing(reply, actions, parts):
    text = "\n".join(part for part in reply.replace("</respond>", "").split("\n"))
    assert read(reply, actions) == ([("respond", text)] if parts is None else parts)


def test_code_keeps_its_form():
    code = "def f():\n    if x < 1:\n\n        return [1]\n    return '<b>'"
    assert read(f"<respond>\n```python\n{code}\n```\n</respond>") == [("respond", f"```python\n{code}\n```")]


TAGS = (
    "<respond>",
    "</respond>",
    "<think>",
    "</think>",
    "<raise>",
    "</raise>",
    "<criticize>",
    "</criticize>",
    "<raise/>",
)
PIECES = (
    *TAGS,
    "【回应】",
    "＜/think＞",
    "<",
    ">",
    "<res",
    "pond>",
    "a",
    " b ",
    "\n",
    "\n\n\n",
    "```\n",
    " " * 40,
    "[[A]]",
    "\x00",
)
soup = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@pytest.mark.slow
@given(soup | junk, st.sampled_from([ALL, RESPOND, ("criticize", "raise")]))
@settings(max_examples=400, deadline=None)
def test_parsed_turn_round_trips(reply, actions):
    speech = read_speech(reply, actions)
    written = write_speech(speech, actions)
    assert len(written) < 100_000
    again = read_speech(written, actions)
    assert write_speech(again, actions) == written
    assert [part for part in again.parts if part.text] == [part for part in speech.parts if part.text]
    others = [part.action for part in speech.parts if part.action != "think"]
    assert len(set(others)) == len(others) and len(speech.parts) <= 7


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", [*TAGS, "<respond><criticize>", "<respond><raise></think>", "x", " ", "\n", "<", "```\n"]
)
def test_a_million_characters_are_read(piece):
    for beginning in ("", "<respond>"):
        reply = beginning + piece * (LONG // len(piece))
        speech = read_speech(reply, ALL)
        assert sum(len(part.text) for part in speech.parts) <= MAX_SPEECH
