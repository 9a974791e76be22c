"""The drawing contract: a position as a picture, as one player may see it or as a spectator sees it."""

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
"""Greatest number of lines in all, and of those that one line of the text is wrapped to."""

_MAX_LETTERS = 110
"""Greatest number of letters in a line; longer ones are wrapped."""


class Drawing(ABC, Generic[ViewType]):
    """Pictures of one game, as SVG; a subclass draws what is to be seen.

    A player's picture is made from its view alone, so that nothing can be seen in it that is not known; a drawing keeps
    nothing of a match.
    """

    @abstractmethod
    def seat(self, view: ViewType) -> str:
        """Draws what the owner of ``view`` sees.

        Where the owner is to move, what can be pointed at is a group whose ``reply`` is the move in the published grammar.
        """

    def forfeited(self, view: ViewType, offenders: Sequence[str]) -> str:
        """Draws what the owner of ``view`` sees after illegal actions of ``offenders`` have ended the match.

        By default as before: views do not know of it. Override it where ``seat`` infers from the position who is to move.
        """
        return self.seat(view)

    @abstractmethod
    def spectator(self, game: Any) -> str:
        """Draws the whole position for a spectator who may see everything."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "Drawing[ViewType]":
        """Returns itself: a drawing keeps nothing of a match, so that copies of an environment can share it."""
        return self


class TextDrawing(Drawing[Any]):
    """The pictures of an environment that has none of its own: its texts, line by line.

    Args:
        codec: of the environment.
        title: what the pictures show.
    """

    def __init__(self, codec: Codec[Any, Any], title: str) -> None:
        self._codec = codec
        self._title = title

    def seat(self, view: Any) -> str:
        """Draws the text that the owner of the view reads."""
        return self._lines(self._codec.observation(view))

    def spectator(self, game: Any) -> str:
        """Draws the text that a spectator reads."""
        return self._lines(self._codec.picture(game))

    def _lines(self, text: str) -> str:
        # Of a long text the last lines are drawn: so no more of the first ones is wrapped than may be needed.
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
            # Several spaces in a row would be drawn as one; texts of boards need them.
            spaced = line.replace(" ", "\u00a0")
            svg.text(_MARGIN, _MARGIN + _LINE_HEIGHT * number - 5, spaced, _SIZE, font_family=MONOSPACE)
        return str(svg)
