"""Lengths of texts: measuring and truncating, with equal limits for all writers.

Lengths are measured in sixths of a token, so they are whole numbers: in English 3 words are 4 tokens, in Chinese 2 words are 3
tokens or 3 characters.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from typing import Any

from gymnasium.error import DependencyNotInstalled

from llmarena_envs import __version__
from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.core.source import Source

TOKEN = 6
"""Length of a token."""

COUNTERS = ("words", "tiktoken")
"""Names of text counters."""

_WORD = {"en": 8, "zh": 9}
_CHARACTER_LANGUAGES = ("zh",)
_ENCODING = "cl100k_base"

# Ideographs and their radicals, kana, hangul, and their punctuation and full-width signs.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fff\u3001-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef"
    "\U00020000-\U0003ffff"
)
# Accents, and vowel signs that are not letters in Python.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0590-\u10ff\u1780-\u1cff\u1dc0-\u1dff\u20d0-\u20ff"
# Letters and marks in Python that look like signs or are invisible, and could join words.
_JOINERS = "\u02b0-\u02ff\u034f\u17b4\u17b5\u180b-\u180f\ua789-\ua78f"
_LETTER = rf"(?![_{_CJK}{_JOINERS}])[\w{_MARKS}]"
_SIGN = rf"(?:[{_JOINERS}]|(?![{_CJK}{_MARKS}])[\W_](?<!\s))"
# Signs inside a word: "3.14", "don't", "e.g.".
_INSIDE = (
    r"(?<=[0-9])[.,](?=[0-9])|(?<=[^\W\d_])['’](?=[^\W\d_]{1,2}(?![\w'’]))|(?<=[^\W\d_])(?<!\w\w)\.(?=[^\W\d_](?!\w))"
)
# Word ends without a sign: before the capital in "camelCase", after a number that joins words.
_HUMP = r"(?:(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[^\W\d_]{3}))"
_WORD_PIECE = rf"{_LETTER}(?:(?!{_HUMP})(?:{_LETTER}|{_INSIDE})){{0,23}}+"
_PIECE = re.compile(rf"([{_CJK}])|(?:{_SIGN}){{0,8}}+{_WORD_PIECE}(?:{_SIGN}){{0,8}}+|(?:{_SIGN}){{1,24}}+")


class TextCounter(ABC):
    """Measures and truncates texts of a language, in linear time.

    Args:
        language: language of the texts, e.g. ``en``; limits are stated in its words or characters.
    """

    def __init__(self, language: str) -> None:
        self._word = _WORD.get(language, _WORD["en"])
        self._in_characters = language in _CHARACTER_LANGUAGES

    @abstractmethod
    def length(self, text: str) -> int:
        """Returns the length of a text."""

    @abstractmethod
    def cut(self, text: str, limit: int) -> str:
        """Returns the longest beginning of a text, in whole words or tokens, of at most ``limit``."""

    @abstractmethod
    def source(self) -> Source:
        """Returns the counter as a source, for the record of a run."""

    def budget(self, words: int) -> int:
        """Returns the length of a limit in words."""
        return words * self._word

    def words(self, length: int) -> float:
        """Returns a length in words: the inverse of ``budget``."""
        return length / self._word

    def told(self, length: int) -> int:
        """Returns a length for messages to writers: in characters if the language has no word separators, else in words."""
        return length // (TOKEN if self._in_characters else self._word)


class WordCounter(TextCounter):
    """Counts words, without any vocabulary.

    A word is a run of up to 24 letters and digits (a longer run is several words) with the signs around it; its length is 4/3 of
    a token, as in English. Words joined by a hyphen, a slash, an underscore or a capital count separately. A Chinese, Japanese
    or Korean character has the length of a token.
    """

    def length(self, text: str) -> int:
        """Returns the length of a text."""
        return sum(TOKEN if character else _WORD["en"] for character in _PIECE.findall(text))

    def cut(self, text: str, limit: int) -> str:
        """Returns the longest beginning of a text, in whole words, of at most ``limit``."""
        end, length = 0, 0
        for piece in _PIECE.finditer(text):
            length += TOKEN if piece[1] else _WORD["en"]
            if length > limit:
                return text[:end]
            end = piece.end()
        return text

    def source(self) -> Source:
        """Returns the word counter as a source."""
        return Source("llmarena-envs (word counter)", __version__, "Apache-2.0")


class TokenCounter(TextCounter):
    """Counts tokens with the package tiktoken.

    Raises:
        DependencyNotInstalled: if the package is not installed.
        OptionError: if it cannot load its vocabulary, which it downloads once.
    """

    def __init__(self, language: str) -> None:
        super().__init__(language)
        _encoding()

    def length(self, text: str) -> int:
        """Returns the length of a text."""
        return TOKEN * len(_encoding().encode(text, disallowed_special=()))

    def cut(self, text: str, limit: int) -> str:
        """Returns the longest beginning of a text, in whole tokens, of at most ``limit``."""
        encoding = _encoding()
        tokens = encoding.encode(text, disallowed_special=())
        if TOKEN * len(tokens) <= limit:
            return text
        kept: bytes = encoding.decode_bytes(tokens[: max(0, limit) // TOKEN])
        return kept.decode("utf-8", "ignore")  # a token can end inside a character

    def source(self) -> Source:
        """Returns the vocabulary as a source."""
        return Source(f"tiktoken ({_ENCODING})", version("tiktoken"), "MIT")


@cache
def _encoding() -> Any:
    try:
        import tiktoken
    except ImportError as error:
        raise DependencyNotInstalled(
            "counter='tiktoken' needs tiktoken: pip install 'llmarena-envs[tokens]', or count words by counter='words'"
        ) from error
    try:
        return tiktoken.get_encoding(_ENCODING)
    except Exception as error:  # any error of the download
        raise OptionError(
            f"counter: tiktoken cannot load its vocabulary {_ENCODING!r}, which it fetches once ({error}); "
            "count words by counter='words' where there is no network"
        ) from error


def share(limit: int, lengths: Sequence[int]) -> list[int]:
    """Divides a limit among texts: short ones keep their length, longer ones share the rest equally."""
    shares = [0] * len(lengths)
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    for place, number in enumerate(order):
        shares[number] = min(lengths[number], limit // (len(order) - place))
        limit -= shares[number]
    return shares


def text_counter(name: str, language: str) -> TextCounter:
    """Returns a text counter.

    Args:
        name: ``"words"`` or ``"tiktoken"``.
        language: language of the texts.

    Raises:
        OptionError: if there is no such counter, or its vocabulary cannot be loaded.
        DependencyNotInstalled: if its package is not installed.
    """
    check_choice("counter", name, COUNTERS)
    return TokenCounter(language) if name == "tiktoken" else WordCounter(language)
