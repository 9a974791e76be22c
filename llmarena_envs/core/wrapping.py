"""Lines of text in pictures: how wide they are, where they are broken, and where they are cut.

No font is at hand, so widths are estimated from above: a line may stay a little short, and hardly ever runs out of its box.
"""

from unicodedata import category, east_asian_width

from llmarena_envs.core.terminal import printable

CUT = "..."

_NARROW = frozenset("iljftrI.,:;!|'`()[]{}-/\\\" \u00a0")
_WIDE = frozenset("mwMWQOGDHNU@%&~<>+=#_")
_LEAST = 0.3
"""Least width of a character in ems, that of marks without a width of their own included: so lines are bounded in length."""

_CLOSING = frozenset("，。、；：！？）》」』”’…")
"""Punctuation of Chinese that no line begins with."""


def _width(character: str) -> float:
    if character in _NARROW:
        return 0.38
    if character in _WIDE:
        return 0.95
    if character.isascii():
        return 0.64
    if category(character) in ("Mn", "Me", "Cf"):
        return _LEAST
    if east_asian_width(character) in "WF":
        return 1.35 if ord(character) > 0x1F000 and category(character) == "So" else 1.03
    return 0.9


def _fixed_width(character: str) -> float:
    return 0.62 if character.isascii() or character == "\u00a0" else max(0.62, _width(character))


def text_width(text: str, size: float, *, fixed: bool = False) -> float:
    """Returns how wide a line is at most, in pixels.

    Args:
        text: the line.
        size: of the font, in pixels.
        fixed: whether all letters of the font are of one width.
    """
    return size * sum(map(_fixed_width if fixed else _width, text))


def wrapped(text: str, width: float, size: float, most: int, *, fixed: bool = False) -> list[str]:
    """Returns the lines of a text, no more than ``most``; where something is left out they end on ``...``.

    Lines are broken at blanks and beside ideographs, a longer word anywhere. Blanks at the beginning of a line of the text are
    kept, those around it are not. The time taken does not grow with what is left out.

    Args:
        text: of any length.
        width: of the box, in pixels.
        size: of the font, in pixels.
        most: greatest number of lines.
        fixed: whether all letters of the font are of one width.
    """
    room = width / size
    longest = int(room / _LEAST) + 2
    beginning = text[: longest * most + most]
    shown = printable(beginning.strip("\n").rstrip()).expandtabs(4)
    lines: list[str] = []
    for line in shown.split("\n"):
        if len(lines) > most:
            break
        lines += _broken(line, room, fixed=fixed)
    if len(lines) <= most and len(beginning) == len(text):
        return lines
    kept = lines[:most]
    kept[-1] = _cut(kept[-1], room, fixed=fixed)
    return kept


def shortened(text: str, width: float, size: float) -> str:
    """Returns a text in one line, cut where the box ends."""
    return wrapped(" ".join(text[:2000].split()), width, size, 1)[0]


def _broken(line: str, room: float, *, fixed: bool) -> list[str]:
    measure = _fixed_width if fixed else _width
    indent = len(line) - len(line.lstrip(" "))
    line = "\u00a0" * indent + line[indent:]
    lines, start, blank, width = [], 0, 0, 0.0
    for place, character in enumerate(line):
        wide = measure(character)
        hangs = character in _CLOSING and line[place - 1] not in _CLOSING
        if width + wide > room and place > start and not hangs:
            end = blank if blank > start and not _is_ideograph(character) else place
            lines.append(line[start:end].rstrip(" "))
            start = end
            width = sum(map(measure, line[start:place]))
        if character == " " or _is_ideograph(character):
            blank = place + 1
        width += wide
    lines.append(line[start:])
    return lines


def _is_ideograph(character: str) -> bool:
    return not character.isascii() and east_asian_width(character) in "WF"


def _cut(line: str, room: float, *, fixed: bool) -> str:
    measure = _fixed_width if fixed else _width
    left = room - sum(map(measure, CUT))
    end = 0
    for character in line:
        left -= measure(character)
        if left < 0:
            break
        end += 1
    return line[:end].rstrip() + CUT
