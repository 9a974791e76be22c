"""Drawings of OpenSpiel's games that have a rendering."""

from llmarena_envs.core.drawing import Drawing, TextDrawing
from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.core.grid_drawing import Board, Choices
from llmarena_envs.core.prompts import common_prompts
from llmarena_envs.core.sheet import GAP, MARGIN, MAX_HEIGHT, Block, Note, Sheet
from llmarena_envs.core.svg import INK
from llmarena_envs.openspiel.game import SpielGame, SpielView
from llmarena_envs.openspiel.text import SpielCodec

_MAX_LINES = 12
"""Maximum number of lines of a text; the last ones are shown."""

_MAX_BOARDS = 640
"""Maximum height of all boards together, in pixels."""

_HEAD = 2 * MARGIN + 22 + 2 * GAP
"""Height of the margins, the heading and the gap below the last block, in pixels."""


class SpielDrawing(Drawing[SpielView]):
    """Draws the parts of a position, and the legal moves to click.

    Args:
        codec: the texts.
        title: title of the drawings.
    """

    def __init__(self, codec: SpielCodec, title: str) -> None:
        self._codec = codec
        self._title = title

    def seat(self, view: SpielView) -> str:
        """Draws the position; a place whose name is a legal move is clickable, other moves are listed."""
        names = self._codec.names(view) if view.legal else ()
        replies = {name: self._codec.format(action, view) for name, action in zip(names, view.legal, strict=True)}
        parts = self._codec.parts_of(view)
        grids = [part for part in parts if isinstance(part, Grid)]
        on_boards = {
            column + row for grid in grids for row in grid.row_names for column in grid.column_names if row and column
        }
        you = common_prompts(self._codec.language).render("drawing_you", player=view.agent)
        sheet = Sheet(self._title, self._codec.language)
        sheet.head(you, [view.agent] if view.to_move else [])
        blocks = [_block(part, replies, _MAX_BOARDS / max(1, len(grids))) for part in parts]
        sheet.add(*blocks)
        others = [(name, reply) for name, reply in replies.items() if name not in on_boards]
        if others:
            sheet.add(Choices(others, MAX_HEIGHT - _HEAD - sum(block.height + GAP for block in blocks)))
        return str(sheet)

    def spectator(self, game: SpielGame) -> str:
        """Draws the boards if all information is public; otherwise OpenSpiel's own text of the position."""
        grids = []
        if game.perfect_information:
            grids = [part for part in self._codec.parts_of(game.view(game.agents[0])) if isinstance(part, Grid)]
        if not grids:
            return TextDrawing(self._codec, self._title).spectator(game)
        sheet = Sheet(self._title, self._codec.language)
        sheet.head(self._title, list(game.to_move))
        sheet.add(*[Board(grid, {}) for grid in grids])
        return str(sheet)


def _block(part: Part, replies: dict[str, str], most: float) -> Block:
    if isinstance(part, Grid):
        return Board(part, replies, most)
    return Note("\n".join(part.split("\n")[-_MAX_LINES:]), _MAX_LINES, INK)
