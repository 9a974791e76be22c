"""Pronunciation of Chinese characters, in pinyin with tone marks."""

import unicodedata
from functools import lru_cache

from llmarena_envs.idiom_solitaire.dictionaries import import_package

_TONES = dict.fromkeys(map(ord, "\u0304\u0301\u030c\u0300"))


@lru_cache(maxsize=1024)
def pronounce(idiom: str) -> tuple[str, ...]:
    """Returns the syllables of an idiom, from the phrases of ``pypinyin``, else character by character.

    Raises:
        DependencyNotInstalled: if the package is missing.
    """
    return tuple(import_package("pypinyin", "pypinyin").lazy_pinyin(idiom, style=1))


def without_tone(syllable: str) -> str:
    """Returns a syllable without tone mark: ``lü`` for ``lǜ``."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", syllable).translate(_TONES))
