"""Draws bargaining: items, values, offers and messages."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from llmarena_envs.bargain.game import Bargain, BargainView, Deal, rest_of
from llmarena_envs.bargain.icons import ICONS, SIZE
from llmarena_envs.bargain.scenarios import Triple, worth
from llmarena_envs.bargain.text import BargainCodec
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import GAP, INNER, MARGIN, Block, Bubble, Note, Sheet, draw_badge
from llmarena_envs.core.svg import DIM, LINE, PAPER, Svg, text_width

_GREEN = "#1a7f37"
_AGREED = "#dafbe1"
_AGENTS = Bargain.agents
_FIRST, _SECOND = 190, 460
"""Horizontal positions of the shares of an offer; the second adapts to the width of the first."""


class BargainDrawing(Drawing[BargainView]):
    """Draws items, offers with both shares, and messages; the standing offer can be accepted.

    Args:
        codec: writes the reply that accepts.
        max_rounds: number of rounds.
        show_offer_value: whether a side sees the value of an offer to itself.
    """

    def __init__(self, codec: BargainCodec, max_rounds: int, *, show_offer_value: bool) -> None:
        self._codec = codec
        self._max_rounds = max_rounds
        self._shows_worth = show_offer_value
        self._render = Prompts("llmarena_envs.bargain", codec.language).render

    def seat(self, view: BargainView) -> str:
        """Draws the items with the side's own values, and all offers."""
        reply = self._codec.format(Deal(), view) if Deal() in view.legal else ""
        moving = (view.agent,) if view.to_move else ()
        return self._draw(view, {view.agent: view.values}, moving, shows_worth=self._shows_worth, reply=reply)

    def spectator(self, game: Bargain) -> str:
        """Draws the items with both sides' values, and all offers with their value to both."""
        values = dict(zip(_AGENTS, game.scenario.values, strict=True))
        return self._draw(game.view(_AGENTS[0]), values, game.to_move, shows_worth=True, reply="")

    def _draw(
        self,
        view: BargainView,
        values: Mapping[str, Triple],
        moving: Sequence[str],
        *,
        shows_worth: bool,
        reply: str,
    ) -> str:
        render = self._render
        sheet = Sheet(render("drawing_title"), self._codec.language)
        sheet.head(render("drawing_round_of", round=view.round, max_rounds=self._max_rounds), moving)
        sheet.add(_Items(view.counts, values, render))
        order = _AGENTS if view.first == _AGENTS[0] else _AGENTS[::-1]
        worths = values if shows_worth else {}

        def offered(turn: int) -> _Offer:
            offer, speaker = view.offers[turn], order[turn % 2]
            stands = turn == len(view.offers) - 1 and not view.agreed
            heading = render("drawing_round", round=turn // 2 + 1)
            accept = reply if stands else ""
            shares = _shares(view, turn, speaker)
            return _Offer(heading, speaker, shares, worths, render, message=offer.message, reply=accept)

        sheet.history([partial(offered, turn) for turn in range(len(view.offers))])
        if view.agreed:
            last = len(view.offers) - 1
            sheet.add(Note(render("drawing_deal", agent=order[(last + 1) % 2]), colour=_GREEN))
            sheet.add(_Offer("", "", _shares(view, last, order[last % 2]), values, render, agreed=True))
        elif len(view.offers) == 2 * self._max_rounds:
            sheet.add(Note(render("failed")))
        return str(sheet)


def _shares(view: BargainView, turn: int, speaker: str) -> tuple[Triple, Triple]:
    """Returns both sides' shares of an offer."""
    kept = view.offers[turn].counts
    rest = rest_of(view.counts, kept)
    return (kept, rest) if speaker == _AGENTS[0] else (rest, kept)


def _colour(agent: str) -> str:
    return seat_colour(_AGENTS, agent)


class _Items(Block):
    """The items to divide, a column for each kind, and the value of one item to the shown sides."""

    def __init__(self, counts: Triple, values: Mapping[str, Triple], render: Callable[..., str]) -> None:
        self._counts = counts
        self._values = values
        self._render = render
        self._first = 200
        self.height = 40 + 24 * len(values)
        words = [f"{render('drawing_stock')}: {_in_words(render, 'plan', counts)}"]
        for agent, each in values.items():
            words.append(f"{render('drawing_worth', agent=agent)}: {_in_words(render, 'values', each)}")
        self.words = "; ".join(words)

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the items and their values."""
        svg.text(MARGIN, y + 22, self._render("drawing_stock"), 14, fill=DIM)
        column = (INNER - self._first) / 3
        for kind, count in enumerate(self._counts):
            x = MARGIN + self._first + column * kind
            for number in range(count):
                ICONS[kind](svg, x + (SIZE + 4) * number, y + 8)
        for row, (agent, values) in enumerate(self._values.items()):
            below = y + 40 + 24 * row
            draw_badge(svg, MARGIN, below, agent, _colour(agent))
            for kind, value in enumerate(values):
                text = self._render("drawing_item_worth", worth=value)
                svg.text(MARGIN + self._first + column * kind, below + 14, text, 14)


class _Offer(Block):
    """Both shares of an offer, ``player_0`` on the left, and the message below."""

    def __init__(
        self,
        heading: str,
        speaker: str,
        shares: tuple[Triple, Triple],
        values: Mapping[str, Triple],
        render: Callable[..., str],
        *,
        message: str = "",
        reply: str = "",
        agreed: bool = False,
    ) -> None:
        self._message = Bubble("", message, _colour(speaker), lines=3) if message else None
        self._heading = heading
        self._speaker = speaker
        self._shares = dict(zip(_AGENTS, shares, strict=True))
        self._render = render
        self._reply = reply
        self._agreed = agreed
        self._offer_height = 64 if reply else 34
        self.height = self._offer_height + (self._message.height + 3 if self._message else 0)
        self._worths = {
            agent: render("drawing_value", worth=worth(share, values[agent]))
            for agent, share in self._shares.items()
            if agent in values
        }
        words = [
            f"{render('drawing_gets', agent=agent)}: {_in_words(render, 'plan', share)} {self._worths.get(agent, '')}".strip()
            for agent, share in self._shares.items()
        ]
        said = self._message.words if self._message else ""
        self.words = " ".join(part for part in (heading, speaker, "; ".join(words), said) if part)

    def draw(self, svg: Svg, y: float) -> None:
        """Draws the shares, and a button to accept if allowed."""
        with svg.group(self._reply):
            stroke = _GREEN if self._agreed or self._reply else LINE
            fill = _AGREED if self._agreed else PAPER
            svg.rect(MARGIN, y, INNER, self._offer_height, fill=fill, stroke=stroke, rx=6)
            if self._speaker:
                svg.text(MARGIN + 8, y + 22, self._heading, 13, fill=DIM)
                draw_badge(svg, MARGIN + 82, y + 8, self._speaker, _colour(self._speaker))
            first, second = self._shares
            self._share(svg, _FIRST, y, first)
            # Both always fit, as there are seven items at most.
            place = max(_SECOND, _FIRST + self._share_width(first) + GAP)
            self._share(svg, min(place, MARGIN + INNER - GAP - self._share_width(second)), y, second)
            if self._reply:
                text = self._render("drawing_accept")
                width = text_width(text, 14, bold=True) + 32
                svg.rect(MARGIN + INNER - width - 8, y + 34, width, 24, fill=_GREEN, rx=5)
                middle = MARGIN + INNER - 8 - width / 2
                svg.text(middle, y + 51, text, 14, fill=PAPER, font_weight="bold", text_anchor="middle")
        if self._message:
            self._message.draw(svg, y + self._offer_height + 3)

    def _share(self, svg: Svg, x: float, y: float, agent: str) -> None:
        """Draws a side's share."""
        gets = self._render("drawing_gets", agent=agent)
        svg.text(x, y + 22, gets, 12, fill=_colour(agent))
        x += text_width(gets, 12) + GAP
        share = self._shares[agent]
        if not any(share):
            svg.text(x, y + 22, self._nothing(), 13, fill=DIM)
        for kind, count in enumerate(share):
            for _ in range(count):
                ICONS[kind](svg, x, y + 7)
                x += SIZE + 1
        if agent in self._worths:
            x += text_width(self._nothing(), 13) if not any(share) else 0
            svg.text(x + 4, y + 22, self._worths[agent], 12)

    def _share_width(self, agent: str) -> float:
        """Returns the width of a side's share."""
        items = (SIZE + 1) * sum(self._shares[agent]) or text_width(self._nothing(), 13)
        told = text_width(self._render("drawing_gets", agent=agent), 12) + text_width(self._worths.get(agent, ""), 12)
        return told + GAP + items + 4

    def _nothing(self) -> str:
        return str(self._render("drawing_none"))


def _in_words(render: Callable[..., str], key: str, numbers: Triple) -> str:
    return render(key, **dict(zip(("hats", "balls", "apples"), numbers, strict=True)))
