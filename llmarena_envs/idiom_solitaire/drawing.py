"""Draws idiom solitaire: the chain of idioms with linking characters marked."""

from collections.abc import Sequence
from typing import NamedTuple

from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import INNER, MARGIN, Block, Note, Sheet
from llmarena_envs.core.svg import DIM, INK, LINE, PAPER, Svg, text_width
from llmarena_envs.idiom_solitaire.game import JUDGE, End, IdiomSolitaire, IdiomView
from llmarena_envs.idiom_solitaire.text import IdiomCodec

_IN_A_ROW = 5
_ROWS = 12
_TILE = 29
_HEIGHT = 58
_RED = "#a40e26"
_LINK = "#fff8c5"


class _Link(NamedTuple):
    """An idiom of the chain.

    Attributes:
        idiom: the idiom.
        giver: its player.
        colour: the player's colour.
        in_question: whether it is not yet accepted.
    """

    idiom: str
    giver: str
    colour: str
    in_question: bool = False


class IdiomDrawing(Drawing[IdiomView]):
    """Draws the last idioms of the chain; a judge sees only the idiom to rule on.

    Args:
        codec: gives the text for the cause of the end.
        game: the game with the seats to colour.
    """

    def __init__(self, codec: IdiomCodec, game: IdiomSolitaire) -> None:
        self._codec = codec
        self._agents = game.agents
        self._render = Prompts("llmarena_envs.idiom_solitaire", codec.language).render

    def seat(self, view: IdiomView) -> str:
        """Draws the chain, or a judge's idiom."""
        if view.agent != JUDGE:
            return self._chain(view, view.asked, (view.agent,) if view.to_move else ())
        sheet = self._sheet()
        sheet.head(self._render("judge_intro", agent=JUDGE))
        if view.asked:
            sheet.add(_Chain([_Link(view.asked, "", DIM, in_question=True)]))
        return str(sheet)

    def spectator(self, game: IdiomSolitaire) -> str:
        """Draws the chain and the idiom to be ruled on."""
        return self._chain(game.view(game.players[0]), game.asked, game.to_move)

    def _chain(self, view: IdiomView, asked: str, moving: Sequence[str]) -> str:
        sheet = self._sheet()
        sheet.head(self._render("drawing_turn", turn=view.turn, max_turns=view.max_turns), moving)
        links = [_Link(view.chain[0], self._render("drawing_referee"), DIM)]
        for turn, idiom in enumerate(view.chain[1:]):
            links.append(self._link(view, turn, idiom))
        if asked and asked != view.chain[-1]:
            links.append(self._link(view, len(view.chain) - 1, asked)._replace(in_question=True))
        left_out = len(links) - _IN_A_ROW * _ROWS
        if left_out > 0:
            sheet.add(sheet.earlier(left_out))
        sheet.add(_Chain(links[max(0, left_out) :]))
        if view.end not in (End.NOT_YET, End.FORFEIT):
            player = self._render("other", player=view.decided_by)
            cause = self._render(
                f"end_{view.end.name.lower()}", player=player, idiom=view.asked, max_turns=view.max_turns
            )
            sheet.add(Note(cause, colour=INK))
        return str(sheet)

    def _link(self, view: IdiomView, turn: int, idiom: str) -> _Link:
        giver = view.players[turn % len(view.players)]
        return _Link(idiom, giver, seat_colour(self._agents, giver))

    def _sheet(self) -> Sheet:
        return Sheet(self._render("drawing_title"), self._codec.language)


class _Chain(Block):
    """Idioms in rows, each as four tiles with its player below; linking tiles are marked."""

    def __init__(self, links: list[_Link]) -> None:
        self._links = links
        self.height = _HEIGHT * -(-len(links) // _IN_A_ROW)
        self.words = " → ".join([f"{link.idiom} ({link.giver})" if link.giver else link.idiom for link in links])

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the rows."""
        step = INNER / _IN_A_ROW
        for number, link in enumerate(self._links):
            row, column = divmod(number, _IN_A_ROW)
            is_last = number == len(self._links) - 1
            _draw_link(svg, MARGIN + step * column, y + _HEIGHT * row, link, links_on=not is_last, linked=number > 0)
            if not is_last:
                svg.text(MARGIN + step * column + 4 * _TILE + 6, y + _HEIGHT * row + 21, "→", 16, fill=DIM)


def _draw_link(svg: Svg, x: float, y: float, link: _Link, *, links_on: bool, linked: bool) -> None:
    last = len(link.idiom) - 1
    for place, character in enumerate(link.idiom):
        marked = (place == 0 and linked) or (place == last and links_on)
        edge = {"stroke": _RED, "stroke_dasharray": "4 2"} if link.in_question else {"stroke": LINE}
        left = x + _TILE * place
        svg.rect(left, y, _TILE - 1, _TILE, fill=_LINK if marked else PAPER, rx=4, **edge)
        weight = "bold" if marked else None
        svg.text(left + (_TILE - 1) / 2, y + 21, character, 19, text_anchor="middle", font_weight=weight)
    width = text_width(link.giver, 12)
    svg.text(x + max(0.0, (4 * _TILE - width) / 2), y + 44, link.giver, 12, fill=link.colour)
