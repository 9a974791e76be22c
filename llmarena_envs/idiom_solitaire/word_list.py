"""Idiom list files: one idiom per line, with an optional frequency after a tab."""

import math
from collections.abc import Iterable
from pathlib import Path

from llmarena_envs.core.options import OptionError
from llmarena_envs.idiom_solitaire.characters import LENGTH, bare, is_idiom_shaped

COMMENT = "#"


def read_list(lines: Iterable[str], where: str) -> dict[str, float]:
    """Reads idioms with their frequencies, 0 by default; skips empty lines and lines that begin with ``#``.

    Args:
        lines: the lines of a file.
        where: name of the file for error messages.

    Raises:
        OptionError: naming the line, if it is malformed, or an idiom occurs twice; or if there is no idiom.
    """
    idioms: dict[str, float] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith(COMMENT):
            continue
        try:
            idiom, frequency = _read_line(line)
            if idiom in idioms:
                raise ValueError(f"{idiom} occurs twice")
        except ValueError as error:
            raise OptionError(f"idioms: {where}, line {number}: {error}") from None
        idioms[idiom] = frequency
    if not idioms:
        raise OptionError(f"idioms: {where}: expected at least one idiom, got none")
    return idioms


def _read_line(line: str) -> tuple[str, float]:
    text, tab, number = line.partition("\t")
    idiom = bare(text)
    if not is_idiom_shaped(idiom):
        raise ValueError(f"expected an idiom of {LENGTH} Chinese characters, got {text.strip()!r:.80}")
    try:
        frequency = float(number) if tab else 0.0
    except ValueError:
        frequency = math.nan
    if not 0 <= frequency < math.inf:
        raise ValueError(f"expected a frequency of 0 or more after the tab, got {number.strip()!r:.80}")
    return idiom, frequency


def load_list(path: str | Path) -> dict[str, float]:
    """Reads the idioms of a UTF-8 file; see ``read_list``.

    Raises:
        OptionError: if the file cannot be read or is malformed.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"idioms: cannot read {str(path)!r}: {error}") from error
    return read_list(text.splitlines(), str(path))
