"""Pronunciation of Chinese characters, in pinyin with tone marks."""

import unicodedata
from functools import cache, lru_cache

from llmarena_envs.idiom_solitaire.tables import READINGS, read_table

_TONES = dict.fromkeys(map(ord, "\u0304\u0301\u030c\u0300"))

_NO_PHRASE = ("", "")


@lru_cache(maxsize=1024)
def pronounce(idiom: str) -> tuple[str, str]:
    """Returns the syllables of the first and the last character, as ``pypinyin`` reads them.

    A text is split into the longest known phrases from the beginning. A character without a pronunciation is returned as it is.
    """
    readings = _readings()
    ends: list[tuple[str, str]] = []
    rest = idiom
    while rest:
        if readings.get(rest) == _NO_PHRASE:  # the beginning of a longer phrase: no phrase in it counts
            ends += [readings.get(character, (character, character)) for character in rest]
            break
        length = next(
            (size for size in range(len(rest), 1, -1) if readings.get(rest[:size], _NO_PHRASE) != _NO_PHRASE), 1
        )
        ends.append(readings.get(rest[:length], (rest[0], rest[0])))
        rest = rest[length:]
    return ends[0][0], ends[-1][1]


@cache
def _readings() -> dict[str, tuple[str, str]]:
    return {text: (first, last) for text, first, last in read_table(READINGS)}


def without_tone(syllable: str) -> str:
    """Returns a syllable without tone mark: ``lü`` for ``lǜ``."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", syllable).translate(_TONES))
