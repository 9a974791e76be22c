"""Word pairs, and comparison of words and clues."""

import csv
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.core.replies import clean_text

LANGUAGES = ("en", "zh")
MAX_WORD = 100
"""Maximum number of characters of a secret word."""

_HEADER = ["category", "a", "b"]
_DASHED = re.compile(r"(\S.*?)\s+[-–—]\s+(\S.*)")

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_HAS_CJK = re.compile(f"[{_CJK}]")
_SPACED_WORD = re.compile(rf"[^\W_{_CJK}]+")  # letters and digits of a script that separates words by spaces
_NOT_WORD = re.compile(r"[\W_]+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


class WordPair(NamedTuple):
    """Two similar words.

    Attributes:
        category: category of both words, for statistics; can be empty.
        a: one word.
        b: the other.
    """

    category: str
    a: str
    b: str


def side_word(pair: WordPair, *, undercover: bool, swapped: bool) -> str:
    """Returns the secret word of a side.

    Args:
        pair: the word pair of the match.
        undercover: whether it is the undercover side.
        swapped: whether the undercover side has the first word.
    """
    return pair.a if undercover == swapped else pair.b


def one_line(text: str) -> str:
    """Returns ``text`` on one line: collapses white space, drops control characters and surrogates."""
    return " ".join(_UNPRINTABLE.sub("", " ".join(text.split())).split())


def clue_text(text: str) -> str:
    """Returns a clue on one line, without markup, surrounding quotes and chat-template tokens."""
    return one_line(clean_text(one_line(text)))


def has_cjk(text: str) -> bool:
    """Returns whether ``text`` contains a Chinese, Japanese or Korean character."""
    return _HAS_CJK.search(text) is not None


def fold(text: str) -> str:
    """Normalizes case and character width, and removes invisible characters."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()


def essence(text: str) -> str:
    """Returns the letters and digits of a text for comparison, or its symbols if it has none.

    Empty if the text has only blanks and punctuation.
    """
    text = fold(text)
    return _NOT_WORD.sub("", text) or "".join(sign for sign in text if unicodedata.category(sign).startswith("S"))


def contains_word(text: str, word: str) -> bool:
    """Returns whether ``text`` contains ``word``, anywhere for Chinese, Japanese or Korean, else as a whole word.

    Ignores hyphens and spaces within the word (``yo-yo``, ``yo yo``, ``y o y o``).
    """
    text, word = fold(text), fold(word)
    if has_cjk(word):
        return _NOT_WORD.sub("", word) in _NOT_WORD.sub("", text)
    letters = "".join(_SPACED_WORD.findall(word))
    if not letters:
        return word in text
    parts = _SPACED_WORD.findall(text)
    for start in range(len(parts)):
        joined = ""
        for part in parts[start:]:
            joined += part
            if joined == letters:
                return True
            if len(joined) >= len(letters):
                break
    return False


def make_pair(category: str, a: object, b: object) -> WordPair:
    """Returns a pair after checking both words.

    Raises:
        ValueError: if a word is not a string, has no letter, is too long, or if both are the same.
    """
    words = []
    for word in (a, b):
        if not isinstance(word, str) or not essence(word) or len(word) > MAX_WORD:
            raise ValueError(f"expected a word of 1 to {MAX_WORD} characters, got {word!r:.120}")
        words.append(one_line(word))
    if essence(words[0]) == essence(words[1]):
        raise ValueError(f"expected two different words, got {words[0]!r} twice")
    return WordPair(one_line(category), *words)


def read_pairs(lines: Iterable[str], where: str) -> tuple[WordPair, ...]:
    """Reads word pairs from a table with the header ``category,a,b``, or from lines ``A - B``; empty lines are skipped.

    Args:
        lines: the lines of a file.
        where: name of the file for error messages.

    Raises:
        OptionError: naming the line, if the number of fields is wrong, a word is unusable or a pair is repeated.
    """
    numbered = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    is_table = bool(numbered) and [field.strip().lower() for field in numbered[0][1].split(",")] == _HEADER
    pairs: dict[frozenset[str], WordPair] = {}
    for number, line in numbered[is_table:]:
        try:
            pair = _read_row(line) if is_table else _read_dashed(line)
            key = frozenset((essence(pair.a), essence(pair.b)))
            if key in pairs:
                raise ValueError(f"the pair {pair.a!r}, {pair.b!r} occurs twice")
        except (ValueError, csv.Error) as error:
            raise OptionError(f"word_pairs: {where}, line {number}: {error}") from error
        pairs[key] = pair
    if not pairs:
        raise OptionError(f"word_pairs: {where}: expected at least one pair, got none")
    return tuple(pairs.values())


def _read_row(line: str) -> WordPair:
    row = next(csv.reader([line], strict=True))
    if len(row) != len(_HEADER):
        raise ValueError(f"expected the fields {','.join(_HEADER)}, got {line!r:.120}")
    return make_pair(*row)


def _read_dashed(line: str) -> WordPair:
    match = _DASHED.fullmatch(line)
    if match is None:
        raise ValueError(f"expected 'A - B' (or a table whose first line is {','.join(_HEADER)}), got {line!r:.120}")
    return make_pair("", match[1], match[2])


def load_pairs(path: str | Path) -> tuple[WordPair, ...]:
    """Reads word pairs from a UTF-8 file; see ``read_pairs``.

    Raises:
        OptionError: if the file cannot be read or is malformed.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"word_pairs: cannot read {str(path)!r}: {error}") from error
    return read_pairs(text.splitlines(), str(path))


@cache
def shipped_pairs(language: str) -> tuple[WordPair, ...]:
    """Returns the word pairs of the package, written for this project: 381 for ``en``, 177 for ``zh``."""
    check_choice("language", language, LANGUAGES)
    name = f"undercover_{language}.csv"
    text = (resources.files("llmarena_envs.undercover") / "data" / name).read_text(encoding="utf-8")
    return read_pairs(text.splitlines(), name)
