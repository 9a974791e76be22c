"""Paragraphs in drawings: line wrapping and truncation of texts of any length."""

from functools import lru_cache
from unicodedata import east_asian_width

from llmarena_envs.core.svg import BOLD, CUT, fixed_width, text_width
from llmarena_envs.core.terminal import printable

_LEAST = 0.3
"""Assumed minimum width of a character; bounds the length of lines of combining marks."""

_CLOSING = frozenset("，。、；：！？）》」』”’…")
"""Chinese punctuation that cannot begin a line."""


def wrapped(text: str, width: float, size: float, most: int, *, fixed: bool = False, bold: bool = False) -> list[str]:
    """Returns a text wrapped to 1 to ``most`` lines; a truncated text ends in an ellipsis.

    Lines are broken at blanks and beside ideographs, a longer word anywhere. Blanks at the beginning of a line are preserved;
    repeated empty lines are merged. The time does not depend on the truncated part.

    Args:
        text: the text, of any length.
        width: width of the box, in pixels.
        size: font size, in pixels.
        most: maximum number of lines.
        fixed: whether the font is monospaced.
        bold: whether the font is bold.
    """
    room = width / (size * (BOLD if bold else 1))
    beginning = text.lstrip("\n")[: (int(room / _LEAST) + 2) * most]
    is_whole = len(beginning) == len(text.lstrip("\n"))
    lines: list[str] = []
    for line in printable(beginning.rstrip()).expandtabs(4).split("\n"):
        if len(lines) > most:
            break
        if line.strip() or (lines and lines[-1]):
            lines += _broken(line.rstrip(), room, fixed=fixed)
    if len(lines) <= most and is_whole:
        return lines or [""]
    kept = lines[:most] or [""]
    return [*kept[:-1], _cut(kept[-1], room, fixed=fixed)]


@lru_cache(maxsize=4096)
def _width(letter: str) -> float:
    return max(_LEAST, text_width(letter, 1))


@lru_cache(maxsize=4096)
def _fixed_width(letter: str) -> float:
    return fixed_width(letter, 1)


def _broken(line: str, room: float, *, fixed: bool) -> list[str]:
    measure = _fixed_width if fixed else _width
    indent = len(line) - len(line.lstrip(" "))
    # SVG drops leading blanks and collapses repeated ones.
    line = "\u00a0" * indent + line[indent:].replace("  ", " \u00a0")
    lines, start, rest, width = [], 0, 0, 0.0
    for place, letter in enumerate(line):
        letter_width = measure(letter)
        hangs = letter in _CLOSING and line[place - 1] not in _CLOSING
        if width + letter_width > room and place > start and not hangs:
            end = rest if rest > start and not _is_ideograph(letter) else place
            lines.append(line[start:end].rstrip(" "))
            start = end
            width = sum(map(measure, line[start:place]))
        if letter == " " or _is_ideograph(letter):
            rest = place + 1
        width += letter_width
    lines.append(line[start:])
    return lines


def _is_ideograph(letter: str) -> bool:
    return not letter.isascii() and east_asian_width(letter) in "WF"


def _cut(line: str, room: float, *, fixed: bool) -> str:
    """Returns a line with an ellipsis at its end, shortened if necessary."""
    measure = _fixed_width if fixed else _width
    left = room - measure(CUT)
    for place, letter in enumerate(line):
        left -= measure(letter)
        if left < 0:
            return line[:place].rstrip() + CUT
    return line.rstrip() + CUT
