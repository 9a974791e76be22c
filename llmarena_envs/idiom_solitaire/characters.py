"""Normalization of Chinese characters."""

import re
import unicodedata
from typing import NamedTuple

LENGTH = 4
"""Characters of an idiom."""

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as ranges of a regex character class."""

_OTHER = re.compile(rf"[^{HAN}]+")
_IDIOM = re.compile(rf"[{HAN}]{{{LENGTH}}}")


def bare(text: str) -> str:
    """Returns the normalized Chinese characters of ``text``, without punctuation, blanks and quotes."""
    return _OTHER.sub("", unicodedata.normalize("NFKC", text))


def is_idiom_shaped(text: str) -> bool:
    """Returns whether ``text`` is exactly four Chinese characters."""
    return _IDIOM.fullmatch(text) is not None


class Folding(NamedTuple):
    """Tables for ``str.translate`` that map traditional to simplified characters.

    Attributes:
        forms: for whole idioms: all simplifiable characters.
        characters: for single characters: without those, such as 乾 and 著, that are also separate characters of simplified
            texts.
    """

    forms: dict[int, str]
    characters: dict[int, str]


NO_FOLDING = Folding({}, {})
