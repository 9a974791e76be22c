"""A window of a simulated system, as a part of a drawing."""

from collections.abc import Sequence
from typing import NamedTuple

from llmarena_envs.core.sheet import INNER, MARGIN, Block, earlier, first_shown
from llmarena_envs.core.svg import MONOSPACE, Svg, cut_to_width
from llmarena_envs.core.wrapping import wrapped

_GROUND, _BAR, _LABEL = "#0d1117", "#21262d", "#9198a1"
_MOST = 660
"""Maximum height of the window, in pixels."""


class Kind(NamedTuple):
    """A kind of entries.

    Attributes:
        colour: colour of the letters.
        lines: maximum number of lines.
    """

    colour: str
    lines: int


ASKED = Kind("#79c0ff", 10)
ANSWERED = Kind("#e6edf3", 14)
TRUE = Kind("#7ee787", 6)
"""An engine's answer."""


class Entry(NamedTuple):
    """A message in the window.

    Attributes:
        label: the speaker.
        text: the message.
        kind: its kind.
    """

    label: str
    text: str
    kind: Kind


class Window(Block):
    """A window with the last messages.

    Args:
        title: the simulated system.
        entries: all messages.
        language: language of the match.
    """

    _LINE = 18
    _TOP = 28
    _PAD = 12

    def __init__(self, title: str, entries: Sequence[Entry], language: str) -> None:
        self._title = title
        width = INNER - 2 * self._PAD
        texts = [wrapped(entry.text, width, 13, entry.kind.lines, fixed=True) for entry in entries]
        heights = [self._LINE * (1 + len(lines)) + 8 for lines in texts]
        start = 0
        if sum(heights) > _MOST - self._TOP:
            start = first_shown(heights, _MOST - self._TOP - self._LINE)
        self._earlier = earlier(start, language) if start else ""
        self._shown = [(entry, lines) for entry, lines in zip(entries[start:], texts[start:], strict=True)]
        self.height = self._TOP + sum(heights[start:]) + (self._LINE if start else 0) + 6
        said = [f"{entry.label}: {' '.join(lines)}" for entry, lines in self._shown]
        self.words = ". ".join([part for part in (title, self._earlier, *said) if part])

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the window."""
        svg.rect(MARGIN, y, INNER, self.height, fill=_GROUND, rx=8)
        svg.rect(MARGIN, y, INNER, self._TOP - 4, fill=_BAR, rx=8)
        for number, colour in enumerate(("#ff7b72", "#d4a72c", "#56d364")):
            svg.circle(MARGIN + 16 + 18 * number, y + 12, 5, fill=colour)
        title = cut_to_width(self._title, INNER - 160, 13)
        svg.text(MARGIN + INNER / 2, y + 17, title, 13, fill=ANSWERED.colour, text_anchor="middle")
        y += self._TOP
        x = MARGIN + self._PAD
        if self._earlier:
            svg.text(x, y + 13, self._earlier, 12, fill=_LABEL)
            y += self._LINE
        for entry, lines in self._shown:
            svg.text(x, y + 13, cut_to_width(entry.label, INNER - 2 * self._PAD, 12), 12, fill=_LABEL)
            for number, line in enumerate(lines, start=1):
                svg.text(x, y + 13 + self._LINE * number, line, 13, fill=entry.kind.colour, font_family=MONOSPACE)
            y += self._LINE * (1 + len(lines)) + 8
