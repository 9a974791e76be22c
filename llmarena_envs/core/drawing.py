"""The drawing contract: a position as an image, for one player or for a spectator."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.game import ViewType
from llmarena_envs.core.svg import CUT, MONOSPACE, Svg, fixed_width
from llmarena_envs.core.wrapping import wrapped

_LINE_HEIGHT = 20
_MARGIN = 16
_SIZE = 14
_MAX_LINES = 60
_MAX_WRAPPED = 12
"""Maximum number of lines in total, and of lines that one line of the text is wrapped to."""

_MAX_LETTERS = 110
"""Maximum number of letters in a line; longer lines are wrapped."""


class Drawing(ABC, Generic[ViewType]):
    """SVG drawings of one game.

    A player's drawing depends on its view only, so it cannot leak hidden information. A drawing holds no state of a match.
    """

    @abstractmethod
    def seat(self, view: ViewType) -> str:
        """Draws the position for the owner of ``view``.

        If the owner is to move, each clickable element is a group whose ``reply`` is the move in the published grammar.
        """

    def forfeited(self, view: ViewType, offenders: Sequence[str]) -> str:
        """Draws the position for the owner of ``view`` after illegal actions of ``offenders`` have ended the match.

        By default the same as ``seat``, because views do not contain forfeits. Override it if ``seat`` infers the player to
        move from the position.
        """
        return self.seat(view)

    @abstractmethod
    def spectator(self, game: Any) -> str:
        """Draws the whole position for a spectator who sees everything."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Drawing[ViewType]":
        """Returns itself: a drawing holds no state of a match, so copies of an environment share it."""
        return self


class TextDrawing(Drawing[Any]):
    """Default drawings of an environment: its texts, line by line.

    Args:
        codec: codec of the environment.
        title: title of the drawings.
    """

    def __init__(self, codec: Codec[Any, Any], title: str) -> None:
        self._codec = codec
        self._title = title

    def seat(self, view: Any) -> str:
        """Draws the observation of the owner of the view."""
        return self._lines(self._codec.observation(view))

    def spectator(self, game: Any) -> str:
        """Draws the text for a spectator."""
        return self._lines(self._codec.picture(game))

    def _lines(self, text: str) -> str:
        # Only the last lines of a long text are drawn, so earlier lines are not wrapped.
        wide, split = fixed_width("x" * _MAX_LETTERS, _SIZE), text.rsplit("\n", _MAX_LINES)
        begun = [CUT] if len(split) > _MAX_LINES else split[:1]
        paragraphs = [*begun, *split[1:]]
        lines = [line for each in paragraphs for line in wrapped(each, wide, _SIZE, _MAX_WRAPPED, fixed=True)]
        if len(lines) > _MAX_LINES:
            lines = [CUT, *lines[1 - _MAX_LINES :]]
        width = max(fixed_width(line, _SIZE) for line in lines)
        svg = Svg(
            2 * _MARGIN + width,
            2 * _MARGIN + _LINE_HEIGHT * len(lines),
            self._title,
            "\n".join(lines),
            small_print=True,
        )
        for number, line in enumerate(lines, start=1):
            # SVG collapses repeated spaces; texts of boards need them.
            spaced = line.replace(" ", "\u00a0")
            svg.text(_MARGIN, _MARGIN + _LINE_HEIGHT * number - 5, spaced, _SIZE, font_family=MONOSPACE)
        return str(svg)
