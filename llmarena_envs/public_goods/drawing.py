"""Draws the public goods game: known investments by round."""

from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import Note, Sheet
from llmarena_envs.core.sheet_table import LIGHT, STRONG, Bar, Cell, Table, columns
from llmarena_envs.public_goods.game import PastRound, PublicGoods, PublicGoodsView, shown

_ROUNDS_OF_SEAT = 20
_ROUNDS_OF_SPECTATOR = 5


class PublicGoodsDrawing(Drawing[PublicGoodsView]):
    """Draws investments as bars. A player's picture names no player, as players are anonymous.

    Args:
        language: language of the match.
        game: the game with the parameters for the scale.
    """

    def __init__(self, language: str, game: PublicGoods) -> None:
        self._language = language
        self._render = Prompts("llmarena_envs.public_goods", language).render
        self._step = game.step
        self._tells_all = game.mode == 2

    def seat(self, view: PublicGoodsView) -> str:
        """Draws the player's coins, investments and incomes, and in mode 2 the list of all investments."""
        render = self._render
        sheet = Sheet(render("drawing_title"), self._language)
        sheet.head(render("drawing_round_of", round=view.round, rounds=view.rounds))
        sheet.add(Note(render("drawing_owned", coins=shown(view.coins))))
        if view.to_move:
            sheet.add(Note(render("drawing_highest", highest=self._coins(view.highest))))
        if view.history:
            header = [render(f"drawing_{name}") for name in ("round", "own", "income")]
            rows = [self._past_row(number, past, view) for number, past in enumerate(view.history, start=1)]
            if self._tells_all:
                header.append(render("drawing_all"))
            widths = [72, 228, 120, 308][: len(header)]
            sheet.latest(lambda last: Table(header, last, widths), rows, _ROUNDS_OF_SEAT)
        return str(sheet)

    def _past_row(self, number: int, past: PastRound, view: PublicGoodsView) -> list[Cell]:
        most = max([view.highest, 1, *[each.investment for each in view.history]])
        cells = [Cell(str(number)), self._investment(past.investment, most), Cell(str(shown(past.income)))]
        if self._tells_all:
            cells.append(Cell(", ".join(str(self._coins(steps)) for steps in past.investments), lines=2))
        return cells

    def spectator(self, game: PublicGoods) -> str:
        """Draws the investments of all players in the last rounds, the pool, and all coins."""
        render, played = self._render, len(game.investments)
        sheet = Sheet(render("drawing_title"), self._language)
        sheet.head(render("drawing_round_of", round=min(played + 1, game.rounds), rounds=game.rounds), game.to_move)
        first = max(0, played - _ROUNDS_OF_SPECTATOR)
        if first:
            sheet.add(sheet.earlier(first))
        history = game.view(game.agents[0]).history
        last = range(first, played)
        header = ["", *[f"{render('drawing_round')} {number + 1}" for number in last], render("drawing_coins")]
        most = max([game.endowment, *[max(game.investments[number]) for number in last]])
        rows = [
            [
                Cell(agent, seat=seat_colour(game.agents, agent)),
                *[self._investment(game.investments[number][seat], most) for number in last],
                Cell(str(shown(game.coins(agent))), bold=True),
            ]
            for seat, agent in enumerate(game.agents)
        ]
        rows.append(
            [Cell(render("drawing_pool"), bold=True), *[self._pool(history[number]) for number in last], Cell()]
        )
        sheet.add(Table(header, rows, columns(game.agents, len(header) - 1)))
        return str(sheet)

    def _investment(self, steps: int, most: int) -> Cell:
        return Cell(str(self._coins(steps)), (Bar(1, LIGHT), Bar(steps / most, STRONG)))

    def _pool(self, past: PastRound) -> Cell:
        return Cell(self._render("drawing_pooled", total=self._coins(past.total), income=shown(past.income)), lines=3)

    def _coins(self, steps: int) -> int | float:
        return shown(steps * self._step)
