"""Sheets: drawings of conversations and tables as a column of blocks, of bounded height.

Texts of a match can have any length: each block truncates its texts, and only the end of a history is shown.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

from llmarena_envs.core.prompts import common_prompts
from llmarena_envs.core.svg import DIM, INK, LINE, MONOSPACE, PAPER, SOFT, Svg, cut_to_width, text_width
from llmarena_envs.core.wrapping import wrapped

WIDTH = 760
MARGIN = 16
INNER = WIDTH - 2 * MARGIN
MAX_HEIGHT = 1200
"""Maximum height of a drawing, in pixels."""

GAP = 8
Row = TypeVar("Row")
"""The row type of a game's table."""


class Block(ABC):
    """A part of a sheet.

    Attributes:
        height: height in pixels.
        words: its text for screen readers.
    """

    height: float
    words: str

    @abstractmethod
    def draw(self, svg: Svg, y: float) -> None:
        """Adds it to a drawing, with its upper edge at ``y``."""


class Caption(Block):
    """A heading in one line.

    Args:
        text: the heading.
        size: font size.
        aside: text at the other end of the line.
    """

    def __init__(self, text: str, size: float = 16, aside: str = "") -> None:
        self._aside = cut_to_width(aside, INNER / 2, 13)
        self._text = cut_to_width(text, INNER - text_width(self._aside, 13) - GAP, size, bold=True)
        self._size = size
        self.height = size + 6
        self.words = f"{text} ({aside})" if aside else text

    def draw(self, svg: Svg, y: float) -> None:
        """Writes the heading."""
        svg.text(MARGIN, y + self._size, self._text, self._size, font_weight="bold")
        if self._aside:
            svg.text(WIDTH - MARGIN, y + self._size, self._aside, 13, fill=DIM, text_anchor="end")


class Note(Block):
    """A text of the environment, in plain lines.

    Args:
        text: the text.
        lines: maximum number of lines.
        colour: text colour.
    """

    def __init__(self, text: str, lines: int = 3, colour: str = DIM) -> None:
        self._lines = wrapped(text, INNER, 14, lines)
        self._colour = colour
        self.words = " ".join(self._lines)
        self.height = 19 * len(self._lines)

    def draw(self, svg: Svg, y: float) -> None:
        """Writes the lines."""
        for number, line in enumerate(self._lines):
            svg.text(MARGIN, y + 14 + 19 * number, line, 14, fill=self._colour)


class Bubble(Block):
    """A message: speaker, heading and the text in a box.

    Args:
        speaker: full name of the speaker; empty for the environment.
        text: the message, of any length.
        colour: colour of the speaker.
        heading: heading beside the speaker.
        lines: maximum number of lines.
        fixed: whether the font is monospaced, as for programs.
    """

    _LINE = 19

    def __init__(
        self,
        speaker: str,
        text: str,
        colour: str = DIM,
        *,
        heading: str = "",
        lines: int = 6,
        fixed: bool = False,
    ) -> None:
        self._speaker = speaker
        self._colour = colour
        self._fixed = fixed
        self._size = 13 if fixed else 14
        self._badge = badge_width(speaker) + GAP if speaker else 0
        self._heading = wrapped(heading, INNER - self._badge, 13, 2) if heading else []
        self._lines = wrapped(text, INNER - 24, self._size, lines, fixed=fixed) if text else []
        self._top = 22 + 17 * max(0, len(self._heading) - 1) if speaker or heading else 0
        self.height = self._top + (self._LINE * len(self._lines) + 12 if self._lines else 0)
        who = " ".join([part for part in (speaker, *self._heading) if part])
        self.words = ": ".join([part for part in (who, " ".join(self._lines)) if part])

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the box and writes the text."""
        if self._speaker:
            draw_badge(svg, MARGIN, y, self._speaker, self._colour)
        for number, line in enumerate(self._heading):
            svg.text(MARGIN + self._badge, y + 14 + 17 * number, line, 13, fill=DIM)
        if not self._lines:
            return
        top = y + self._top
        svg.rect(MARGIN, top, INNER, self.height - self._top, fill=SOFT, stroke=LINE, rx=6)
        svg.rect(MARGIN, top, 4, self.height - self._top, fill=self._colour, rx=2)
        family = {"font_family": MONOSPACE} if self._fixed else {}
        for number, line in enumerate(self._lines, start=1):
            svg.text(MARGIN + 14, top + self._LINE * number + 1, line, self._size, fill=INK, **family)


class Sheet:
    """A drawing made of blocks; see ``history`` for an unbounded number of blocks.

    Args:
        title: title of the drawing.
        language: language of the match.
    """

    def __init__(self, title: str, language: str) -> None:
        self._title = title
        self._language = language
        self._blocks: list[Block] = []
        self._history: tuple[int, Sequence[Callable[[], Block]]] = (0, ())

    def add(self, *blocks: Block) -> None:
        """Adds blocks at the end; they must leave room for a history."""
        self._blocks += blocks

    def head(self, text: str, moving: Sequence[str] = ()) -> None:
        """Adds a heading with the state of the match and the agents to move.

        Args:
            text: state of the match.
            moving: agents to move, as far as visible to the reader.
        """
        to_move = f"{common_prompts(self._language).render('drawing_to_move')}: {', '.join(moving)}" if moving else ""
        self.add(Caption(text, aside=to_move))

    def history(self, blocks: Sequence[Callable[[], Block]]) -> None:
        """Adds a history at the end: the last blocks that fit, and the number of earlier ones. Once per sheet.

        Args:
            blocks: factories of the blocks; only called for blocks that possibly fit.
        """
        self._history = len(self._blocks), blocks

    def latest(self, table: Callable[[Sequence[Row]], Block], rows: Sequence[Row], most: int) -> None:
        """Adds a table of the last rows, and above it the number of earlier ones.

        Args:
            table: makes a table of rows.
            rows: all rows.
            most: maximum number of rows shown.
        """
        if len(rows) > most:
            self.add(self.earlier(len(rows) - most))
        self.add(table(rows[-most:]))

    def __str__(self) -> str:
        place, history = self._history
        blocks = [*self._blocks[:place], *self._last(history), *self._blocks[place:]]
        height = 2 * MARGIN + sum(block.height + GAP for block in blocks) - GAP
        words = ". ".join(block.words for block in blocks)
        svg = Svg(WIDTH, height, self._title, words, small_print=True)
        y: float = MARGIN
        for block in blocks:
            block.draw(svg, y)
            y += block.height + GAP
        return str(svg)

    def _last(self, history: Sequence[Callable[[], Block]]) -> list[Block]:
        room = MAX_HEIGHT - 2 * MARGIN - sum(block.height + GAP for block in self._blocks)
        last: list[Block] = []
        while len(last) < len(history) and sum(block.height + GAP for block in last) <= room:
            last.insert(0, history[-1 - len(last)]())
        heights = [block.height + GAP for block in last]
        if sum(heights) <= room:
            return last
        start = first_shown(heights, room - self.earlier(1).height - GAP)
        return [self.earlier(len(history) - len(last) + start), *last[start:]]

    def earlier(self, count: int) -> Note:
        """Returns a line with the number of omitted entries."""
        return Note(common_prompts(self._language).render("drawing_earlier", count=count))


def without_colon(heading: str) -> str:
    """Returns a heading without its final colon."""
    return heading.rstrip(":：")


def first_shown(heights: Sequence[float], room: float) -> int:
    """Returns the index of the first entry from which all fit."""
    start = len(heights)
    while start and heights[start - 1] <= room:
        start -= 1
        room -= heights[start]
    return start


def badge_width(name: str) -> float:
    """Returns the width of a name badge."""
    return text_width(name, 13, bold=True) + 14


def draw_badge(svg: Svg, x: float, y: float, name: str, colour: str) -> None:
    """Adds a name badge, 18 pixels high."""
    svg.rect(x, y, badge_width(name), 18, fill=colour, rx=9)
    svg.text(x + badge_width(name) / 2, y + 13.5, name, 13, fill=PAPER, font_weight="bold", text_anchor="middle")
