"""Draws auctions: bids and valuations by round."""

from llmarena_envs.bid.game import BidView, SealedBid, write_cents
from llmarena_envs.bid.state import PastRound
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import Caption, Sheet
from llmarena_envs.core.sheet_table import LIGHT, STRONG, Bar, Cell, Table, columns, name_width

_ROUNDS_OF_SEAT = 20
_ROUNDS_OF_SPECTATOR = 4


class BidDrawing(Drawing[BidView]):
    """Draws bids as dark bars over light valuation bars; a bidder sees its own and others' winning bids.

    Args:
        language: language of the match.
        game: the game with the parameters for the scale.
    """

    def __init__(self, language: str, game: SealedBid) -> None:
        self._language = language
        self._render = Prompts("llmarena_envs.bid", language).render
        self._agents = game.agents
        self._step = game.step
        self._most = game.units

    def seat(self, view: BidView) -> str:
        """Draws the bidder's valuation and its known past rounds."""
        render, agent = self._render, view.agent
        sheet = Sheet(render("drawing_title"), self._language)
        colour = seat_colour(self._agents, agent)
        if len(view.history) < view.rounds:
            sheet.head(self._round(view.round, view.rounds), (agent,) if view.to_move else ())
            amount = render("drawing_valuation", valuation=self._amount(view.valuation))
            valuation = Cell(amount, (Bar(view.valuation / self._most, LIGHT),), bold=True)
            sheet.add(Table((), [(Cell(agent, seat=colour), valuation)], columns([agent], 1)))
        if view.history:
            sheet.add(Caption(render("drawing_past")))
            header = [render(f"drawing_{name}") for name in ("round", "own", "winner", "price", "earned")]
            rows = [self._past_row(agent, number, past) for number, past in enumerate(view.history, start=1)]
            widths = [60, 280, name_width(self._agents), 160, 100]
            sheet.latest(lambda shown: Table(header, shown, widths), rows, _ROUNDS_OF_SEAT)
        return str(sheet)

    def _past_row(self, agent: str, number: int, past: PastRound) -> tuple[Cell, ...]:
        won = past.winner == agent
        return (
            Cell(str(number)),
            self._bid(past),
            Cell(past.winner, seat=seat_colour(self._agents, past.winner)),
            Cell(self._amount(past.winning_bid), (Bar(past.winning_bid / self._most, STRONG),)),
            Cell(self._amount(past.valuation - past.bid if won else 0), bold=won),
        )

    def spectator(self, game: SealedBid) -> str:
        """Draws the valuations and bids of all bidders in the last rounds, and the earnings of each."""
        render, held = self._render, len(game.histories[0])
        sheet = Sheet(render("drawing_title"), self._language)
        begun = min(held + 1, game.rounds)
        sheet.head(self._round(begun, game.rounds), game.to_move)
        first = max(0, begun - _ROUNDS_OF_SPECTATOR)
        if first:
            sheet.add(sheet.earlier(first))
        rounds = [f"{render('drawing_round')} {number + 1}" for number in range(first, begun)]
        header = [render("drawing_legend"), *rounds, render("drawing_earned")]
        rows = []
        for seat, (agent, history) in enumerate(zip(game.agents, game.histories, strict=True)):
            cells = [
                self._bid(history[number], agent) if number < held else self._valuation(game.valuations[number][seat])
                for number in range(first, begun)
            ]
            earned = sum(past.valuation - past.bid for past in history if past.winner == agent)
            rows.append(
                [Cell(agent, seat=seat_colour(game.agents, agent)), *cells, Cell(self._amount(earned), bold=True)]
            )
        sheet.add(Table(header, rows, columns(game.agents, len(header) - 1)))
        return str(sheet)

    def _bid(self, past: PastRound, agent: str = "") -> Cell:
        """Returns a bid within its valuation; for a spectator also whether it won."""
        bars = Bar(past.valuation / self._most, LIGHT), Bar(past.bid / self._most, STRONG)
        won = past.winner == agent
        name = "drawing_winning_bid" if won else "drawing_bid"
        text = self._render(name, bid=self._amount(past.bid), valuation=self._amount(past.valuation))
        return Cell(text, bars, bold=won, lines=4 if won else 2)

    def _valuation(self, units: int) -> Cell:
        text = self._render("drawing_valuation", valuation=self._amount(units))
        return Cell(text, (Bar(units / self._most, LIGHT),), lines=2)

    def _round(self, number: int, rounds: int) -> str:
        return self._render("drawing_round_of", round=number, rounds=rounds)

    def _amount(self, units: int) -> str:
        return write_cents(units * self._step)
