"""Chinese characters, and texts without whatever else stands around them."""

import re
import unicodedata

LENGTH = 4
"""Characters of an idiom."""

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as a range of a pattern's class."""

_OTHER = re.compile(rf"[^{HAN}]+")
_IDIOM = re.compile(rf"[{HAN}]{{{LENGTH}}}")


def bare(text: str) -> str:
    """Returns the Chinese characters of ``text`` in one form each, without punctuation, blanks and quotes."""
    return _OTHER.sub("", unicodedata.normalize("NFKC", text))


def is_idiom_shaped(text: str) -> bool:
    """Says whether ``text`` is four Chinese characters and nothing else."""
    return _IDIOM.fullmatch(text) is not None
