"""Draws hold'em: the table with seats, cards and chips, and the five actions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from llmarena_envs.core.card_drawing import ACTS, CHOICE, draw_back
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts, common_prompts
from llmarena_envs.core.svg import DIM, INK, LINE, PAPER, SOFT, Svg, cut_to_width
from llmarena_envs.holdem.betting import Action
from llmarena_envs.holdem.card_faces import CARD_HEIGHT, CARD_WIDTH, draw_card
from llmarena_envs.holdem.cards import card_names
from llmarena_envs.holdem.game import BOARD_SIZES, HandResult, Holdem, HoldemView, Table
from llmarena_envs.holdem.replies import ACTION_NAMES
from llmarena_envs.holdem.text import HoldemCodec

_WIDTH = 760
_TABLE_HEIGHT = 416
_BUTTONS_HEIGHT = 62
_MARGIN = 10
_SEAT_WIDTH, _SEAT_HEIGHT = 228, 116
_LEFT = 24
_STEP = 242
"""Distance between columns of seats."""

_TOP, _BOTTOM = 24, _TABLE_HEIGHT - 24 - _SEAT_HEIGHT
_BOARD = 174
"""Vertical position of the community cards."""

_FELT, _RIM, _LINE_ON_FELT = "#1b6e4b", "#4a3426", "#8fc7ac"
_CHIP = _WINS = "#f2c744"

_FADED = 0.75
"""Opacity of folded cards; large letters stay readable (contrast of at least 3)."""

_BELOW, _ABOVE = True, False

# Seat positions clockwise from the reader: column and row.
_PLACES = {
    2: ((1, _BELOW), (1, _ABOVE)),
    3: ((1, _BELOW), (0, _ABOVE), (2, _ABOVE)),
    4: ((1, _BELOW), (0, _ABOVE), (1, _ABOVE), (2, _ABOVE)),
    5: ((1, _BELOW), (0, _BELOW), (0, _ABOVE), (2, _ABOVE), (2, _BELOW)),
    6: ((1, _BELOW), (0, _BELOW), (0, _ABOVE), (1, _ABOVE), (2, _ABOVE), (2, _BELOW)),
}


class _Scene(NamedTuple):
    """Visible part of a position.

    Attributes:
        table: the betting.
        board: the community cards.
        holes: the hole cards of each seat; ``None`` if face down, empty for a seat without cards.
        acting: the seat to act, -1 if none or unknown.
        reader: the seat of the viewer, -1 for a spectator.
        results: the finished hands.
        offenders: the seats that forfeited the match.
    """

    table: Table
    board: tuple[int, ...]
    holes: tuple[tuple[int, ...] | None, ...]
    acting: int
    reader: int
    results: tuple[HandResult, ...]
    offenders: tuple[int, ...] = ()

    @property
    def over(self) -> bool:
        """Whether the match is over: the pot is paid out and no blinds follow."""
        return not self.table.pot

    @property
    def last(self) -> HandResult | None:
        """The previous hand, or the current one if the match is over."""
        return self.results[-1] if self.results else None


class HoldemDrawing(Drawing[HoldemView]):
    """Draws the table with the viewer at the bottom; legal actions are clickable for the player to act.

    Args:
        codec: writes actions as replies.
        game: the game with the options to draw.
    """

    def __init__(self, codec: HoldemCodec, game: Holdem) -> None:
        self._codec = codec
        self._names = game.agents
        self._hands = game.hands
        self._words = Prompts("llmarena_envs.holdem", codec.language)
        self._common = common_prompts(codec.language)

    def seat(self, view: HoldemView) -> str:
        """Draws the table with the cards known to the viewer, and the actions."""
        return self._seat(view, _acting(view))

    def forfeited(self, view: HoldemView, offenders: Sequence[str]) -> str:
        """Draws the table at a forfeit."""
        return self._seat(view, -1, offenders)

    def _seat(self, view: HoldemView, acting: int, offenders: Sequence[str] = ()) -> str:
        seats = tuple([self._names.index(agent) for agent in offenders])
        scene = _Scene(view.table, view.board, _known_holes(view), acting, view.seat, view.results, seats)
        replies = {action: self._codec.format(action, view) for action in view.legal}
        svg = self._table(scene, _TABLE_HEIGHT + _BUTTONS_HEIGHT)
        self._draw_actions(svg, replies, view.costs)
        return str(svg)

    def spectator(self, game: Holdem) -> str:
        """Draws the table with all cards."""
        view = game.view(game.agents[0])
        holes = tuple([game.hole(seat) for seat in range(len(game.agents))])
        acting = game.agents.index(game.to_move[0]) if game.to_move else -1
        return str(self._table(_Scene(view.table, view.board, holes, acting, -1, view.results), _TABLE_HEIGHT))

    def _table(self, scene: _Scene, height: float) -> Svg:
        table = scene.table
        street = self._words.render(
            f"on_{('before_flop', 'flop', 'turn', 'river')[BOARD_SIZES.index(len(scene.board))]}"
        )
        hand = self._words.render("drawing_hand", hand=table.hand, hands=self._hands)
        pot = self._words.render("drawing_pot", pot=table.pot)
        states = [self._state(scene, seat) for seat in range(len(self._names))]
        names = [
            self._common.render("drawing_you", player=name) if seat == scene.reader else name
            for seat, name in enumerate(self._names)
        ]
        told = [
            f"{name}: "
            + ", ".join(filter(None, (card_names(hole or ()), str(chips), state, self._placed(scene, seat))))
            for seat, (name, hole, chips, state) in enumerate(
                zip(names, scene.holes, table.stacks, states, strict=True)
            )
        ]
        words = "; ".join([hand, street, card_names(scene.board), pot, *told])
        svg = Svg(_WIDTH, height, self._words.render("drawing_title"), words)
        svg.rect(_MARGIN, _MARGIN, _WIDTH - 2 * _MARGIN, _TABLE_HEIGHT - 2 * _MARGIN, rx=28, fill=_RIM)
        svg.rect(
            _MARGIN + 5, _MARGIN + 5, _WIDTH - 2 * _MARGIN - 10, _TABLE_HEIGHT - 2 * _MARGIN - 10, rx=24, fill=_FELT
        )
        svg.text(_LEFT + 6, _BOARD + 28, street, 19, fill=PAPER, font_weight="bold")
        svg.text(_LEFT + 6, _BOARD + 50, hand, 16, fill=PAPER)
        if not scene.over:
            svg.circle(_LEFT + 2 * _STEP + 32, _BOARD + 32, 9, fill=_CHIP, stroke=INK)
            svg.text(_LEFT + 2 * _STEP + 48, _BOARD + 38, pot, 19, fill=PAPER, font_weight="bold")
        self._draw_board(svg, scene.board)
        places = _PLACES[len(self._names)]
        for seat in range(len(self._names)):
            column, below = places[(seat - max(scene.reader, 0)) % len(places)]
            x, y = _LEFT + column * _STEP, _BOTTOM if below else _TOP
            self._draw_seat(svg, x, y, scene, seat, names[seat], states[seat])
            self._draw_bet(svg, x + _SEAT_WIDTH / 2, y - 13 if below else y + _SEAT_HEIGHT + 13, table, seat)
        return svg

    def _placed(self, scene: _Scene, seat: int) -> str:
        """Returns the button and chips of a seat on this street in words."""
        bet = "" if scene.over else _bet(scene.table, seat)
        chips = self._words.render("drawing_bet", chips=bet) if bet else ""
        button = self._words.render("drawing_button") if seat == scene.table.button else ""
        return ", ".join(filter(None, (button, chips)))

    def _draw_board(self, svg: Svg, board: tuple[int, ...]) -> None:
        step = CARD_WIDTH + 6
        left = _WIDTH / 2 - (5 * step - 6) / 2
        for place in range(5):
            if place < len(board):
                draw_card(svg, left + place * step, _BOARD, board[place])
            else:
                edge = {"fill": "none", "stroke": _LINE_ON_FELT, "stroke_dasharray": "4 4"}
                svg.rect(left + place * step, _BOARD, CARD_WIDTH, CARD_HEIGHT, rx=6, **edge)

    def _draw_seat(self, svg: Svg, x: float, y: float, scene: _Scene, seat: int, name: str, state: str) -> None:
        """Adds a seat: player, cards, chips, and last or current action."""
        table, won = scene.table, scene.over and scene.last is not None and scene.last.net[seat] > 0
        colour = _WINS if won else ACTS if seat == scene.acting else LINE
        svg.rect(
            x, y, _SEAT_WIDTH, _SEAT_HEIGHT, rx=10, fill=PAPER, stroke=colour, stroke_width=1 if colour == LINE else 4
        )
        svg.text(x + 10, y + 20, cut_to_width(name, _SEAT_WIDTH - 46, 16, True), 16, font_weight="bold")
        if seat == table.button:
            svg.circle(x + _SEAT_WIDTH - 17, y + 15, 10, fill=SOFT, stroke=INK, stroke_width=1.5)
            svg.text(x + _SEAT_WIDTH - 17, y + 20, "D", 13, text_anchor="middle", font_weight="bold")
        with svg.group(opacity=None if table.live[seat] else _FADED):
            hole = scene.holes[seat]
            for place in range(2 if hole is None else len(hole)):
                card_x = x + 10 + place * (CARD_WIDTH + 4)
                if hole is None:
                    draw_back(svg, card_x, y + 28, CARD_WIDTH, CARD_HEIGHT)
                else:
                    draw_card(svg, card_x, y + 28, hole[place])
        right = x + 2 * CARD_WIDTH + 24
        svg.circle(right + 6, y + 43, 6, fill=_CHIP, stroke=INK)
        svg.text(right + 17, y + 48, str(table.stacks[seat]), 17)
        space = x + _SEAT_WIDTH - 8 - right
        bold = "bold" if colour != LINE else None
        svg.text(
            right,
            y + 74,
            cut_to_width(state, space, 15, bold is not None),
            15,
            fill=INK if bold else DIM,
            font_weight=bold,
        )
        if scene.last is not None and not scene.over:
            svg.text(x + 10, y + 107, self._earlier(scene.last, seat), 13, fill=DIM)

    def _draw_bet(self, svg: Svg, x: float, y: float, table: Table, seat: int) -> None:
        """Adds the chips of a seat on this street, in front of it."""
        bet = _bet(table, seat)
        if bet and table.pot:
            svg.circle(x - 12, y, 7, fill=_CHIP, stroke=INK)
            svg.text(x, y + 6, str(bet), 17, fill=PAPER, font_weight="bold")

    def _draw_actions(self, svg: Svg, replies: Mapping[int, str], costs: tuple[int, ...]) -> None:
        """Adds the five actions as buttons with their costs; illegal ones are pale."""
        step = (_WIDTH - 2 * _MARGIN + 8) / len(Action)
        for action in Action:
            x, y, width = _MARGIN + action * step, _TABLE_HEIGHT, step - 8
            legal = action in replies
            with svg.group(replies.get(action, "")):
                svg.rect(x, y, width, 46, rx=8, fill=CHOICE if legal else SOFT, stroke=ACTS if legal else LINE)
                ink = INK if legal else DIM
                svg.text(
                    x + width / 2, y + 20, ACTION_NAMES[action], 15, fill=ink, text_anchor="middle", font_weight="bold"
                )
                if legal:
                    svg.text(x + width / 2, y + 38, self._cost(action, costs[action]), 14, text_anchor="middle")

    def _cost(self, action: Action, chips: int) -> str:
        if action == Action.FOLD:
            return self._words.render("drawing_give_up")
        return self._words.render("drawing_cost", chips=chips) if chips else self._words.render("drawing_check")

    def _state(self, scene: _Scene, seat: int) -> str:
        """Returns a player's winnings or its current or last action in words."""
        table = scene.table
        events = [event for event in table.history if event.seat == seat]
        if seat in scene.offenders:
            return self._common.render("drawing_forfeits")
        if scene.over:
            return f"{scene.last.net[seat]:+d}" if scene.last is not None else ""
        if not events and not table.live[seat]:
            return self._words.render("drawing_out")
        if not table.live[seat]:
            return self._words.render("drawing_fold")
        if seat == scene.acting:
            return self._common.render("drawing_to_move")
        if not table.stacks[seat]:
            return self._words.render("drawing_all_in")
        if events and events[-1].street == table.street:
            return self._words.render(f"drawing_{events[-1].kind}")
        return ""

    def _earlier(self, result: HandResult, seat: int) -> str:
        """Returns the winnings and shown cards of a seat in the previous hand."""
        shown = card_names(result.shown[seat])
        return self._words.render("drawing_earlier", net=f"{result.net[seat]:+d}") + (f" ({shown})" if shown else "")


def _bet(table: Table, seat: int) -> int:
    """Returns the chips of a seat on this street."""
    return next((event.total for event in reversed(table.history) if event[:2] == (table.street, seat)), 0)


def _known_holes(view: HoldemView) -> tuple[tuple[int, ...] | None, ...]:
    """Returns the hole cards known to a player: its own, and the shown ones after the match."""
    table = view.table
    shown = view.results[-1].shown if view.results and not table.pot else ((),) * len(table.live)
    hidden = [None if live else () for live in table.live]
    return tuple(
        [view.hole if seat == view.seat else cards or hidden[seat] for seat, cards in enumerate(shown)],
    )


def _acting(view: HoldemView) -> int:
    """Returns the seat to act, derived from the public betting; -1 if the match is over."""
    table = view.table
    if view.to_move:
        return view.seat
    last = table.history[-1]
    before = last.seat if last.street == table.street else table.button
    seats = len(table.live)
    after = [(before + step) % seats for step in range(1, seats + 1)]
    acting = next((seat for seat in after if table.live[seat] and table.stacks[seat]), -1)
    return -1 if acting == view.seat or not table.pot else acting
