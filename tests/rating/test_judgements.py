"""Verdicts as text: every spelling, and refused texts."""

import pytest

from llmarena_envs.core.options import OptionError
from rating.judgements import read_label


@pytest.mark.parametrize(
    ("texts", "label"),
    [
        (("A", "a", " [[A]] ", "model_a", "left", "First", "Ａ", "**A**", '"A"', "Assistant A", "助手A"), "A"),
        (("B", "[b]", "model_b", "Right", "assistant_B"), "B"),
        (("tie", "Tie", "TIE", "C", "[[Tie]]", "tie (bothbad)", "Tie (both  bad)", "平局", "draw"), "tie"),
        (("", "null", "NaN", "abstain", "弃权"), None),
        (("3", "3.0", "+3"[1:]), 3.0),
        (("-1",), -1.0),
    ],
)
def test_read_label_spellings_are_normalised(texts, label):
    assert [read_label(text) for text in texts] == [label] * len(texts)


@pytest.mark.parametrize("text", ["AB", "neither", "inf", "1e5", "²", "[[A]] or [[B]]", "0x1", "1.2.3"])
def test_read_label_unknown_text_is_refused(text):
    with pytest.raises(OptionError, match="expected A, B, tie or a number"):
        read_label(text)


def test_read_label_player_name_is_a_verdict():
    assert read_label("gpt", ("claude", "gpt")) == "B"
    with pytest.raises(OptionError):
        read_label("gpt", ("gpt", "gpt"))


@pytest.mark.parametrize("players", [("b", "a"), ("c", "d"), ("first", "B")])
def test_read_label_ambiguous_player_name_is_refused(players):
    for name, side in zip(players, "AB", strict=True):
        try:
            assert read_label(name, players) == side
        except OptionError as error:
            assert "give the player another name" in str(error)
