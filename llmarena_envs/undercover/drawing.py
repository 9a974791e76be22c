"""Draws Undercover: players, clues and votes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import GAP, INNER, MARGIN, Block, Note, Sheet, draw_badge
from llmarena_envs.core.sheet_table import Cell, Table, columns
from llmarena_envs.core.svg import DIM, INK, LINE, PAPER, SOFT, Svg, cut_to_width
from llmarena_envs.undercover.game import CLUE, Undercover, UndercoverView
from llmarena_envs.undercover.text import UndercoverCodec

_ROUNDS = 3
_CARDS = 5
_RED = "#a40e26"


class _Card(NamedTuple):
    """A player at the table.

    Attributes:
        agent: its name.
        word: its word if the reader knows it, else empty.
        remark: further information.
        out: whether it was eliminated.
        moves: whether it must speak or vote.
        reply: the vote for it, if the reader can cast it.
    """

    agent: str
    word: str
    remark: str
    out: bool
    moves: bool
    reply: str


class UndercoverDrawing(Drawing[UndercoverView]):
    """Draws players as cards with the words known to the reader, then clues and votes by round.

    Args:
        codec: writes votes.
        agents: all players.
        max_rounds: number of rounds.
    """

    def __init__(self, codec: UndercoverCodec, agents: Sequence[str], max_rounds: int) -> None:
        self._codec = codec
        self._agents = agents
        self._max_rounds = max_rounds
        self._render = Prompts("llmarena_envs.undercover", codec.language).render

    def seat(self, view: UndercoverView) -> str:
        """Draws the table with the viewer's word; in the vote stage, the other players are clickable."""
        votes = {vote.target: self._codec.format(vote, view) for vote in view.legal}
        moving = (view.agent,) if view.to_move else ()
        remarks = {view.agent: self._render("drawing_you")}
        return self._draw(view, {view.agent: view.word}, remarks, moving, votes)

    def spectator(self, game: Undercover) -> str:
        """Draws the table with all words and who is undercover."""
        words = dict(zip(game.agents, game.words, strict=True))
        sides = {
            agent: self._render("drawing_undercover" if agent in game.undercovers else "drawing_ordinary")
            for agent in game.agents
        }
        return self._draw(game.view(game.agents[0]), words, sides, game.to_move, {})

    def _draw(
        self,
        view: UndercoverView,
        words: Mapping[str, str],
        remarks: Mapping[str, str],
        moving: Sequence[str],
        votes: Mapping[str, str],
    ) -> str:
        render = self._render
        sheet = Sheet(render("drawing_title"), self._codec.language)
        stage = "drawing_clue_stage" if view.stage == CLUE else "drawing_vote_stage"
        sheet.head(render(stage, round=view.round, max_rounds=self._max_rounds), moving)
        out = {result.eliminated: render("drawing_out", round=result.round) for result in view.results}
        cards = [
            _Card(
                agent,
                words.get(agent, ""),
                " · ".join(text for text in (remarks.get(agent), out.get(agent)) if text),
                agent in out,
                agent in moving,
                votes.get(agent, ""),
            )
            for agent in self._agents
        ]
        sheet.add(_Cards(cards, self._agents))
        if view.winner:
            sheet.add(Note(render(f"winner_{view.winner}"), colour=INK))
        if view.clues:
            self._add_rounds(sheet, view)
        return str(sheet)

    def _add_rounds(self, sheet: Sheet, view: UndercoverView) -> None:
        """Adds a row for each player, with its clue and vote in each of the last rounds."""
        last = view.clues[-1].round
        rounds = range(max(1, last - _ROUNDS + 1), last + 1)
        if rounds[0] > 1:
            sheet.add(sheet.earlier(rounds[0] - 1))
        clues = {(clue.round, clue.sender): clue.text or self._render("blank") for clue in view.clues}
        votes = {(result.round, voter): target for result in view.results for voter, target in result.votes}
        rows = [
            [
                Cell(agent, seat=seat_colour(self._agents, agent)),
                *[self._said(clues.get((number, agent), ""), votes.get((number, agent), "")) for number in rounds],
            ]
            for agent in self._agents
            if agent in view.living or any((number, agent) in clues for number in rounds)
        ]
        header = ["", *[self._render("drawing_round", round=number) for number in rounds]]
        sheet.add(Table(header, rows, columns(self._agents, len(rounds))))

    def _said(self, clue: str, vote: str) -> Cell:
        return Cell(clue, lines=3, below=self._render("drawing_vote", player=vote) if vote else "")


class _Cards(Block):
    """The players in rows of five."""

    _HEIGHT = 74

    def __init__(self, cards: Sequence[_Card], agents: Sequence[str]) -> None:
        self._cards = cards
        self._agents = agents
        rows = -(-len(cards) // _CARDS)
        self.height = rows * (self._HEIGHT + GAP) - GAP
        self.words = "; ".join([", ".join(filter(None, (card.agent, card.word, card.remark))) for card in cards])

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the cards."""
        width = (INNER - GAP * (_CARDS - 1)) / _CARDS
        for number, card in enumerate(self._cards):
            row, column = divmod(number, _CARDS)
            self._card(svg, MARGIN + (width + GAP) * column, y + (self._HEIGHT + GAP) * row, width, card)

    def _card(self, svg: Svg, x: float, y: float, width: float, card: _Card) -> None:
        colour = seat_colour(self._agents, card.agent)
        with svg.group(card.reply):
            edge = {"stroke": colour, "stroke_width": 3} if card.moves or card.reply else {"stroke": LINE}
            dashes = "6 3" if card.reply else None
            svg.rect(x, y, width, self._HEIGHT, fill=SOFT if card.out else PAPER, rx=6, stroke_dasharray=dashes, **edge)
            draw_badge(svg, x + 8, y + 8, card.agent, colour)
            word = cut_to_width(card.word, width - 16, 16, bold=True)
            svg.text(x + 8, y + 46, word, 16, font_weight="bold", fill=DIM if card.out else INK)
            svg.text(x + 8, y + 65, cut_to_width(card.remark, width - 16, 12), 12, fill=_RED if card.out else DIM)
