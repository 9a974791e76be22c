"""Lines of paragraphs in pictures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmarena_envs.core.svg import CUT, text_width
from llmarena_envs.core.wrapping import wrapped

LETTERS = st.text(st.characters(codec="utf-8") | st.sampled_from(" \n\u0301，中\u202e"), max_size=300)


@given(LETTERS, st.integers(1, 6))
def test_wrapping_respects_height_and_width(text, most):
    lines = wrapped(text, 200, 14, most)
    assert 1 <= len(lines) <= most
    # A punctuation mark of Chinese may hang over the edge.
    assert all(text_width(line, 14) <= 200 + 14 for line in lines)


@pytest.mark.parametrize("letters", ["x", "\u0301", "中", "\x1b", " x", "\nx", "，", "\U0001f600"])
def test_long_text_is_cut_with_a_mark(letters):
    lines = wrapped(letters * 100_000, 700, 14, 6)
    assert len(lines) <= 6 and lines[-1].endswith(CUT)
    assert sum(map(len, lines)) < 1200


def test_lines_are_broken_between_words_and_chinese_ones_anywhere():
    assert wrapped("one two three", 80, 14, 9) == ["one two", "three"]
    assert wrapped("一二三四五六。", 42, 14, 9) == ["一二三", "四五六。"]


def test_blanks_of_programs_are_kept():
    assert wrapped("if x:\n    y = 1  # set", 700, 14, 9) == ["if x:", "\u00a0\u00a0\u00a0\u00a0y = 1 \u00a0# set"]
