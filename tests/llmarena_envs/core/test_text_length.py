"""Lengths of texts by words and by tokens, and truncation."""

import sys
from types import SimpleNamespace

import pytest
from gymnasium.error import DependencyNotInstalled
from hypothesis import given, settings
from hypothesis import strategies as st

from llmarena_envs.core import text_length
from llmarena_envs.core.options import OptionError
from llmarena_envs.core.text_length import TOKEN, WordCounter, text_counter

ENGLISH, CHINESE = WordCounter("en"), WordCounter("zh")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("one two\n\tthree", 3),
        ("x" * 24, 1),
        ("x" * 25, 2),
        ("x" * 100, 5),
        ("-" * 25, 2),
        ("don't, we'll; the dogs’ \"3.14\" (e.g. 1,000) — **so**:", 9),
        ("cafe\u0301s हिन्दी", 2),
        ("😀 é", 2),
        ("我们在这里", 3.75),
        ("two 我们", 2.5),
    ],
)
def test_english_is_measured_in_words(text, words):
    assert ENGLISH.words(ENGLISH.length(text)) == words


@pytest.mark.parametrize(
    "joiner",
    [
        *"-_/.,;:|+=~·–—'’*\\",
        "--",
        "...",
        "\xad",
        "\xa0",
        "\u200b",
        "\u200d",
        "\u2060",
        "\ufeff",
        "\u02d0",
        "\u034f",
        "\u180e",
        "\ua78f",
        "7",
    ],
)
def test_words_that_are_joined_count_one_by_one(joiner):
    words = ["words", "that", "are", "joined", "count"] * 100
    assert ENGLISH.words(ENGLISH.length(joiner.join(words))) == 500
    assert len(ENGLISH.cut(joiner.join(words), ENGLISH.budget(300)).split(joiner)) in (300, 301)
    assert CHINESE.length(joiner.join("字" * 300)) >= CHINESE.length("字" * 300)


def test_words_joined_by_capitals_or_apostrophes_count_one_by_one():
    assert ENGLISH.words(ENGLISH.length("WordsThatAreJoined" * 100)) == 400
    assert ENGLISH.words(ENGLISH.length("'".join(["it", "is", "so"] * 100))) >= 299


def test_limits_are_exact_in_both_languages():
    budget = ENGLISH.budget(300)
    assert ENGLISH.length("word " * 300) == budget == 400 * TOKEN
    assert ENGLISH.told(budget) == 300
    budget = CHINESE.budget(300)
    assert CHINESE.length("字" * 450) == budget == 450 * TOKEN
    assert CHINESE.told(budget) == 450
    assert CHINESE.cut("字" * 451, budget) == "字" * 450


def test_texts_are_cut_at_the_end_of_a_word():
    text = "one, two\n  three  four"
    assert [ENGLISH.cut(text, ENGLISH.budget(words)) for words in range(5)] == ["", "one,", "one, two", text[:16], text]
    assert ENGLISH.cut(text, ENGLISH.budget(3) - 1) == "one, two"
    assert ENGLISH.cut("go 我们走", 8 + 2 * TOKEN) == "go 我们"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 40))
@settings(deadline=None)
def test_cut_text_is_the_longest_fitting_prefix(text, words):
    for counter in (ENGLISH, CHINESE):
        limit = counter.budget(words)
        kept = counter.cut(text, limit)
        assert text.startswith(kept) and counter.length(kept) <= limit
        assert kept == text or counter.length(kept) + 8 > limit


class Encoding:
    """Tokens of two bytes."""

    def encode(self, text, disallowed_special):
        assert disallowed_special == ()
        data = text.encode()
        return [data[place : place + 2] for place in range(0, len(data), 2)]

    def decode_bytes(self, tokens):
        return b"".join(tokens)


@pytest.fixture
def fresh_encoding():
    text_length._encoding.cache_clear()
    yield
    text_length._encoding.cache_clear()


def test_tokens_are_counted_where_tiktoken_is(monkeypatch, fresh_encoding):
    monkeypatch.setitem(sys.modules, "tiktoken", SimpleNamespace(get_encoding=lambda name: Encoding()))
    counter = text_counter("tiktoken", "en")
    assert counter.length("abcde") == 3 * TOKEN
    assert counter.words(counter.length("a" * 8)) == 3
    assert counter.cut("abcde", 2 * TOKEN + 1) == "abcd"
    assert counter.cut("abcde", 3 * TOKEN) == "abcde"
    assert counter.cut("a字b", 2 * TOKEN) == "a字"
    assert counter.cut("字字", 2 * TOKEN) == "字"  # the second one is cut in two
    assert counter.cut("abc", -TOKEN) == ""


def test_without_tiktoken_the_error_names_the_extra(monkeypatch, fresh_encoding):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(DependencyNotInstalled, match=r"llmarena-envs\[tokens\].*counter='words'"):
        text_counter("tiktoken", "en")


def test_unavailable_vocabulary_is_an_option_error(monkeypatch, fresh_encoding):
    def get_encoding(name):
        raise OSError("no network")

    monkeypatch.setitem(sys.modules, "tiktoken", SimpleNamespace(get_encoding=get_encoding))
    with pytest.raises(OptionError, match=r"counter: .* \(no network\); count words"):
        text_counter("tiktoken", "en")
    with pytest.raises(OptionError, match="expected one of 'words', 'tiktoken', got 'tokens'"):
        text_counter("tokens", "en")
