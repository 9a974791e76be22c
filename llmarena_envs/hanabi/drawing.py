"""Draws Hanabi: fireworks, tokens, discarded cards, and hands with hint knowledge."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from llmarena_envs.core.card_drawing import ACTS, CHOICE
from llmarena_envs.core.drawing import Drawing
from llmarena_envs.core.prompts import Prompts, common_prompts
from llmarena_envs.core.svg import DIM, INK, LINE, PAPER, SOFT, Svg, cut_to_width
from llmarena_envs.hanabi.actions import Kind
from llmarena_envs.hanabi.card_faces import (
    CARD_HEIGHT,
    CARD_WIDTH,
    LETTERS,
    draw_card,
    draw_color,
    draw_hidden_card,
    draw_knowledge,
    draw_rank,
    draw_small_card,
)
from llmarena_envs.hanabi.cards import COLORS, Card
from llmarena_envs.hanabi.game import Hanabi, HanabiView
from llmarena_envs.hanabi.text import HanabiCodec

_WIDTH = 760
_MARGIN = 16
_STEP = CARD_WIDTH + 8
_DISCARDS = 400
"""Horizontal position of the discarded cards."""

_HANDS = 216
"""Vertical position of the hands."""

_HAND_WIDTH = 360
_HAND_HEIGHT = 150
_CHOICES_HEIGHT = 50
"""Additional height of a hand with clickable moves."""

_GAP = 8
_LAST_LINE = 34
_HEART = "M0 7C-10 0-8-7-4-7C-1.8-7-.4-5.3 0-3.6C.4-5.3 1.8-7 4-7C8-7 10 0 0 7z"


class _Scene(NamedTuple):
    """Visible part of a position.

    Attributes:
        view: the view of the first seat.
        seats: the seats in drawing order, the order of ``view.knowledge``.
        hands: their cards; ``None`` for a face-down hand.
        acting: the seat to move, else -1.
        reader: the seat of the viewer, -1 for a spectator.
        score: score of the match.
        offenders: the players that forfeited the match.
    """

    view: HanabiView
    seats: tuple[int, ...]
    hands: tuple[tuple[Card, ...] | None, ...]
    acting: int
    reader: int
    score: int
    offenders: tuple[str, ...] = ()


class HanabiDrawing(Drawing[HanabiView]):
    """Draws the table with all hands, the reader's own face down; cards and hints are clickable for the player to move.

    Args:
        codec: writes actions as replies, and the last action.
    """

    def __init__(self, codec: HanabiCodec) -> None:
        self._codec = codec
        self._words = Prompts("llmarena_envs.hanabi", codec.language)
        self._common = common_prompts(codec.language)

    def seat(self, view: HanabiView) -> str:
        """Draws the view of a player: all hands except its own."""
        return self._seat(view, _acting(view), _score(view, lost=not view.life_tokens))

    def forfeited(self, view: HanabiView, offenders: Sequence[str]) -> str:
        """Draws the table at a forfeit, with the score after the penalty for a lost life."""
        return self._seat(view, -1, _score(view, lost=True), offenders)

    def _seat(self, view: HanabiView, acting: int, score: int, offenders: Sequence[str] = ()) -> str:
        players = view.variant.players
        seats = tuple([(view.seat + offset) % players for offset in range(players)])
        scene = _Scene(view, seats, (None, *view.hands), acting, view.seat, score, tuple(offenders))
        replies = {action: self._codec.format(action, view) for action in view.legal}
        return self._draw(scene, replies, _CHOICES_HEIGHT)

    def spectator(self, game: Hanabi) -> str:
        """Draws all hands face up."""
        acting = game.agents.index(game.to_move[0]) if game.to_move else -1
        seats = tuple(range(len(game.agents)))
        return self._draw(_Scene(game.view(game.agents[0]), seats, game.hands, acting, -1, game.score), {}, 0)

    def _draw(self, scene: _Scene, replies: Mapping[int, str], choices_height: int) -> str:
        view, variant = scene.view, scene.view.variant
        titles = [self._title(scene, seat) for seat in range(variant.players)]
        height = _HAND_HEIGHT + choices_height
        bottom = _HANDS + (variant.players + 1) // 2 * (height + _GAP)
        svg = Svg(_WIDTH, bottom + _LAST_LINE, self._words.render("drawing_title"), self._described(scene, titles))
        self._draw_fireworks(svg, view)
        self._draw_tokens(svg, scene)
        self._draw_discards(svg, view)
        for place, seat in enumerate(scene.seats):
            x, y = _MARGIN + place % 2 * (_HAND_WIDTH + _GAP), _HANDS + place // 2 * (height + _GAP)
            acts = seat == scene.acting
            edge = {"stroke": ACTS, "stroke_width": 3} if acts else {"stroke": LINE}
            svg.rect(x, y, _HAND_WIDTH, height, rx=10, fill=SOFT, **edge)
            svg.text(x + 12, y + 22, cut_to_width(titles[seat], _HAND_WIDTH - 24, 16, True), 16, font_weight="bold")
            self._draw_hand(svg, x + 12, y + 32, scene, place)
            if place:
                self._draw_hints(svg, x + 12, y + _HAND_HEIGHT + 22, view, place, replies)
            else:
                self._draw_plays(svg, x + 12, y + _HAND_HEIGHT - 4, view, replies)
        if view.history:
            event = self._codec.events[view.history[-1]]
            svg.text(_MARGIN, bottom + 18, cut_to_width(event, _WIDTH - 2 * _MARGIN, 16), 16)
        return str(svg)

    def _title(self, scene: _Scene, seat: int) -> str:
        """Returns a player's name, and whether it is to move or forfeited the match."""
        name = scene.view.variant.agents[seat]
        title = self._common.render("drawing_you", player=name) if seat == scene.reader else name
        if name in scene.offenders:
            return f"{title} · {self._common.render('drawing_forfeits')}"
        return f"{title} · {self._common.render('drawing_to_move')}" if seat == scene.acting else title

    def _draw_fireworks(self, svg: Svg, view: HanabiView) -> None:
        self._label(svg, _MARGIN, self._words.render("drawing_fireworks"))
        for color, rank in enumerate(view.fireworks):
            x, y = _MARGIN + color * _STEP, 40
            if rank:
                draw_card(svg, x, y, Card(color, rank))
            else:
                svg.rect(x, y, CARD_WIDTH, CARD_HEIGHT, rx=6, fill=SOFT, stroke=DIM, stroke_dasharray="4 4")
                draw_color(svg, x + CARD_WIDTH / 2, y + CARD_HEIGHT / 2, color, 12)

    def _draw_tokens(self, svg: Svg, scene: _Scene) -> None:
        """Adds information tokens and lives, used ones empty; the remaining deck, and the score."""
        view, y = scene.view, 143
        left = _MARGIN + 130
        svg.text(_MARGIN, y + 5, self._words.render("drawing_information"), 16)
        for token in range(view.variant.info_tokens):
            svg.circle(left + 20 * token, y, 7, fill=ACTS if token < view.info_tokens else PAPER, stroke=INK)
        svg.text(_MARGIN, y + 29, self._words.render("drawing_lives"), 16)
        for token in range(view.variant.life_tokens):
            fill = "#cf222e" if token < view.life_tokens else PAPER
            svg.path(_HEART, fill=fill, stroke=INK, transform=f"translate({left + 20 * token} {y + 24})")
        svg.text(_MARGIN, y + 53, self._deck(view), 16)
        score = self._words.render("drawing_score", score=scene.score, top=view.variant.top_score)
        svg.text(_MARGIN + 214, y + 53, score, 16, font_weight="bold")

    def _deck(self, view: HanabiView) -> str:
        if view.deck_size:
            return self._words.render("drawing_deck", cards=view.deck_size)
        return self._words.render("drawing_turns_left", turns=view.turns_left)

    def _draw_discards(self, svg: Svg, view: HanabiView) -> None:
        self._label(svg, _DISCARDS, self._words.render("drawing_discards"))
        for color in range(view.variant.colors):
            y = 40 + 33 * color
            draw_color(svg, _DISCARDS + 12, y + 13, color, 11)
            cards = sorted([card for card in view.discards if card.color == color])
            for number, card in enumerate(cards):
                draw_small_card(svg, _DISCARDS + 34 + 28 * number, y, card)

    def _draw_hand(self, svg: Svg, x: float, y: float, scene: _Scene, place: int) -> None:
        """Adds the cards of a hand with the holder's knowledge below each."""
        hand = scene.hands[place]
        for position, known in enumerate(scene.view.knowledge[place]):
            card_x = x + position * _STEP
            if hand is None:
                draw_hidden_card(svg, card_x, y, known)
            else:
                draw_card(svg, card_x, y, hand[position])
            draw_knowledge(svg, card_x, y + CARD_HEIGHT, known)

    def _draw_plays(self, svg: Svg, x: float, y: float, view: HanabiView, replies: Mapping[int, str]) -> None:
        """Adds play and discard buttons below the reader's own cards."""
        for number, reply in replies.items():
            kind, position, _ = view.variant.actions[number]
            if kind not in (Kind.PLAY, Kind.DISCARD):
                continue
            below = 24 * (kind is Kind.DISCARD)
            with svg.group(reply):
                card_x = x + position * _STEP
                svg.rect(card_x, y + below, CARD_WIDTH, 21, rx=5, fill=CHOICE, stroke=ACTS)
                word = self._words.render(f"drawing_{kind.value}")
                svg.text(card_x + CARD_WIDTH / 2, y + below + 16, word, 13, text_anchor="middle")

    def _draw_hints(
        self, svg: Svg, x: float, y: float, view: HanabiView, offset: int, replies: Mapping[int, str]
    ) -> None:
        """Adds the possible colour and rank hints for another player, side by side."""
        hints = [(view.variant.actions[number], reply) for number, reply in replies.items()]
        hints = [(action, reply) for action, reply in hints if action.offset == offset]
        if hints:
            svg.text(x, y + 5, self._words.render("drawing_reveal"), 15)
        for number, ((kind, value, _), reply) in enumerate(hints):
            with svg.group(reply):
                draw = draw_color if kind is Kind.REVEAL_COLOR else draw_rank
                draw(svg, x + 76 + 27 * number, y, value, 12)

    def _label(self, svg: Svg, x: float, text: str) -> None:
        svg.text(x, 29, text, 16, fill=DIM, font_weight="bold")

    def _described(self, scene: _Scene, titles: list[str]) -> str:
        """Returns the position in words."""
        view, render = scene.view, self._words.render
        fireworks = ", ".join([f"{COLORS[color]} {rank}" for color, rank in enumerate(view.fireworks)])
        parts = [
            f"{render('drawing_fireworks')}: {fireworks}",
            f"{render('drawing_information')}: {view.info_tokens}",
            f"{render('drawing_lives')}: {view.life_tokens}",
            self._deck(view),
            render("drawing_score", score=scene.score, top=view.variant.top_score),
        ]
        for seat, hand, told in zip(scene.seats, scene.hands, view.knowledge, strict=True):
            known = ["".join([*[LETTERS[color] for color in each.colors], *map(str, each.ranks)]) for each in told]
            cards = known if hand is None else [f"{card.name} ({text})" for card, text in zip(hand, known, strict=True)]
            parts.append(f"{titles[seat]}: {', '.join(cards)}")
        if view.discards:
            discards = ", ".join([card.name for card in sorted(view.discards)])
            parts.append(f"{render('drawing_discards')}: {discards}")
        if view.history:
            parts.append(self._codec.events[view.history[-1]])
        return "; ".join(parts)


def _acting(view: HanabiView) -> int:
    """Returns the seat to move, derived from the table; -1 if the match is over."""
    complete = sum(view.fireworks) == view.variant.top_score
    if complete or not view.life_tokens or not view.turns_left:
        return -1
    acting = (view.history[-1].player + 1) % view.variant.players if view.history else 0
    return -1 if acting == view.seat and not view.to_move else acting


def _score(view: HanabiView, *, lost: bool) -> int:
    """Returns the score of the match; ``lost``: whether its end can cost the points."""
    return 0 if lost and view.variant.bomb_score == "zero" else sum(view.fireworks)
