"""Lengths of texts: how they are measured and cut, so that all who write have the same room.

Lengths are measured in sixths of a token, which makes all of them whole numbers: in English 3 words are 4 tokens, in Chinese 2
words are 3 tokens, which is 3 characters.
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
"""Ways of measuring."""

_WORD = {"en": 8, "zh": 9}
_CHARACTER_LANGUAGES = ("zh",)
_ENCODING = "cl100k_base"

# Ideographs and their radicals, kana, hangul, and the punctuation and full-width signs that are written among them.
_CJK = (
    "\u1100-\u11ff\u2e80-\u2fff\u3001-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef"
    "\U00020000-\U0003ffff"
)
# Accents, and scripts whose vowel signs are no letters to Python.
_MARKS = "\u0300-\u036f\u0483-\u0489\u0590-\u10ff\u1780-\u1cff\u1dc0-\u1dff\u20d0-\u20ff"
# Letters and marks to Python that look like signs or like nothing, and could join words.
_JOINERS = "\u02b0-\u02ff\u034f\u17b4\u17b5\u180b-\u180f\ua789-\ua78f"
_LETTER = rf"(?![_{_CJK}{_JOINERS}])[\w{_MARKS}]"
_SIGN = rf"(?:[{_JOINERS}]|(?![{_CJK}{_MARKS}])[\W_](?<!\s))"
# Signs inside a word: "3.14", "don't", "e.g.".
_INSIDE = (
    r"(?<=[0-9])[.,](?=[0-9])|(?<=[^\W\d_])['’](?=[^\W\d_]{1,2}(?![\w'’]))|(?<=[^\W\d_])(?<!\w\w)\.(?=[^\W\d_](?!\w))"
)
# Where a word ends without a sign: before the capital in "camelCase", behind a number that joins words.
_HUMP = r"(?:(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[^\W\d_]{3}))"
_WORD_PIECE = rf"{_LETTER}(?:(?!{_HUMP})(?:{_LETTER}|{_INSIDE})){{0,23}}+"
_PIECE = re.compile(rf"([{_CJK}])|(?:{_SIGN}){{0,8}}+{_WORD_PIECE}(?:{_SIGN}){{0,8}}+|(?:{_SIGN}){{1,24}}+")


class TextCounter(ABC):
    """A way of measuring and cutting texts of a language, in linear time.

    Args:
        language: of the texts, e.g. ``en``: limits are told in words or characters of it.
    """

    def __init__(self, language: str) -> None:
        self._word = _WORD.get(language, _WORD["en"])
        self._in_characters = language in _CHARACTER_LANGUAGES

    @abstractmethod
    def length(self, text: str) -> int:
        """Returns the length of a text."""

    @abstractmethod
    def cut(self, text: str, limit: int) -> str:
        """Returns the longest beginning of a text, of whole words or tokens, that is not longer than ``limit``."""

    @abstractmethod
    def source(self) -> Source:
        """Returns what measures, for the record of a run."""

    def budget(self, words: int) -> int:
        """Returns the length that a limit in words allows."""
        return words * self._word

    def words(self, length: int) -> float:
        """Returns how many words a length is: the inverse of ``budget``."""
        return length / self._word

    def told(self, length: int) -> int:
        """Returns a length as writers are told it: in characters where a language is not written in words, else in words."""
        return length // (TOKEN if self._in_characters else self._word)


class WordCounter(TextCounter):
    """Counts words, without any vocabulary.

    A word is a run of up to 24 letters and digits (a longer run is several words) with the signs around it, as long as an
    English one, 4/3 of a token. So words that a hyphen, a slash, an underscore or a capital joins count one by one. A Chinese,
    Japanese or Korean character is as long as a token.
    """

    def length(self, text: str) -> int:
        """Returns the length of a text."""
        return sum(TOKEN if character else _WORD["en"] for character in _PIECE.findall(text))

    def cut(self, text: str, limit: int) -> str:
        """Returns the longest beginning of a text, of whole words, that is not longer than ``limit``."""
        end, length = 0, 0
        for piece in _PIECE.finditer(text):
            length += TOKEN if piece[1] else _WORD["en"]
            if length > limit:
                return text[:end]
            end = piece.end()
        return text

    def source(self) -> Source:
        """Returns that words are counted."""
        return Source("llmarena-envs (word counter)", __version__, "Apache-2.0")


class TokenCounter(TextCounter):
    """Counts tokens with the package tiktoken.

    Raises:
        DependencyNotInstalled: if the package is not installed.
        OptionError: if it cannot load its vocabulary, which it fetches once.
    """

    def __init__(self, language: str) -> None:
        super().__init__(language)
        _encoding()

    def length(self, text: str) -> int:
        """Returns the length of a text."""
        return TOKEN * len(_encoding().encode(text, disallowed_special=()))

    def cut(self, text: str, limit: int) -> str:
        """Returns the longest beginning of a text, of whole tokens, that is not longer than ``limit``."""
        encoding = _encoding()
        tokens = encoding.encode(text, disallowed_special=())
        if TOKEN * len(tokens) <= limit:
            return text
        kept: bytes = encoding.decode_bytes(tokens[: max(0, limit) // TOKEN])
        return kept.decode("utf-8", "ignore")  # a token may end inside a character

    def source(self) -> Source:
        """Returns which vocabulary counts."""
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
    except Exception as error:  # it fetches a file: whatever may go wrong with that
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
    """Returns a way of measuring.

    Args:
        name: ``"words"`` or ``"tiktoken"``.
        language: of the texts.

    Raises:
        OptionError: if there is no such way, or its vocabulary cannot be loaded.
        DependencyNotInstalled: if its package is not installed.
    """
    check_choice("counter", name, COUNTERS)
    return TokenCounter(language) if name == "tiktoken" else WordCounter(language)
