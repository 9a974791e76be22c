"""The rules of Hanabi."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from llmarena_envs.core.failures import Reason
from llmarena_envs.core.game import Game
from llmarena_envs.core.options import OptionError, check_int
from llmarena_envs.hanabi.actions import Kind
from llmarena_envs.hanabi.cards import (
    COLORS,
    Card,
    Knowledge,
    after_color_hint,
    after_rank_hint,
    full_deck,
    read_deck,
)
from llmarena_envs.hanabi.resampling import deal_hidden, places_in_deck
from llmarena_envs.hanabi.variant import Variant

MAX_SEED = 2**63 - 1

Item = TypeVar("Item")


class Event(NamedTuple):
    """A past action with its public outcome.

    Attributes:
        player: seat of the actor.
        action: number of the action.
        card: the played or discarded card; ``None`` for a hint.
        scored: whether a played card was added to its firework.
        marked: positions, from 0, of the receiver's hinted cards; empty for plays and discards.
    """

    player: int
    action: int
    card: Card | None = None
    scored: bool = False
    marked: tuple[int, ...] = ()


class HanabiView(NamedTuple):
    """A player's view: everything except its own cards and the order of the deck.

    Attributes:
        agent: the player.
        to_move: whether the player must move.
        legal: the legal actions of the player to move, else empty.
        variant: the variant.
        seat: index of the player in the order of play.
        hands: the other players' cards, starting with the next player; oldest card first.
        knowledge: hint knowledge about every card of every player, starting with this player.
        fireworks: the highest rank played of each colour, 0 if none.
        info_tokens: available hints.
        life_tokens: lives left.
        deck_size: cards left in the deck.
        turns_left: turns left once the deck is empty; the number of players before that.
        discards: the cards out of the game, in order.
        history: all past actions, in order.
    """

    agent: str
    to_move: bool
    legal: tuple[int, ...]
    variant: Variant
    seat: int
    hands: tuple[tuple[Card, ...], ...]
    knowledge: tuple[tuple[Knowledge, ...], ...]
    fireworks: tuple[int, ...]
    info_tokens: int
    life_tokens: int
    deck_size: int
    turns_left: int
    discards: tuple[Card, ...]
    history: tuple[Event, ...]


class Hanabi(Game[int, HanabiView]):
    """A position of Hanabi; an action is an index in the actions of its variant.

    Args:
        variant: the variant to play.
        deck_seed: seed of the shuffle, identical in every match; ``None`` to use the match's seed.
        deck: order of the deck, such as ``"R1 Y3 ..."``: the first cards form the hand of the first player, and so on.

    Attributes:
        variant: as given.
        deck: the deck of this match in dealing order.
        dealt: number of dealt cards.
        hands: the cards of each player, the oldest first.
        knowledge: hint knowledge about each card of each player.
        fireworks: the highest rank played of each colour.
        info_tokens: information tokens left.
        life_tokens: life tokens left.
        turns_left: as in ``HanabiView``.
        discards: as in ``HanabiView``.
        history: as in ``HanabiView``.
        score: points; 0 after a lost match if the variant says so.
        counts: plays, discards and hints of each player.
        turn: seat of the player to move.
        legal: the legal actions of the player to move.
    """

    def __init__(self, variant: Variant, deck_seed: int | None = None, deck: str | None = None) -> None:
        if deck_seed is not None:
            check_int("deck_seed", deck_seed, 0, MAX_SEED)
            if deck is not None:
                raise OptionError("deck_seed: expected None beside an explicit deck; give one of the two")
        self.variant = variant
        self.agents = variant.agents
        self.num_actions = len(variant.actions)
        self.max_turns = variant.max_turns
        self._deck_seed = deck_seed
        self._fixed_deck = None if deck is None else read_deck(deck, variant.colors, variant.ranks)
        self._unknown = Knowledge(tuple(range(variant.colors)), tuple(range(1, variant.ranks + 1)))
        self._untold = ((self._unknown,) * variant.hand_size,) * variant.players
        self._cards = full_deck(variant.colors, variant.ranks)

    def reset(self, rng: np.random.Generator) -> None:
        """Shuffles and deals: the whole hand of the first player, then of the second, and so on."""
        variant = self.variant
        players, size = variant.players, variant.hand_size
        if self._fixed_deck is not None:
            self.deck = self._fixed_deck
        else:
            cards = self._cards
            shuffler = rng if self._deck_seed is None else np.random.default_rng(self._deck_seed)
            self.deck = tuple([cards[index] for index in shuffler.permutation(len(cards)).tolist()])
        self.dealt = players * size
        self.hands = tuple([self.deck[start : start + size] for start in range(0, self.dealt, size)])
        self.knowledge = self._untold
        self.fireworks = (0,) * variant.colors
        self.info_tokens = variant.info_tokens
        self.life_tokens = variant.life_tokens
        self.turns_left = players
        self.discards: tuple[Card, ...] = ()
        self.history: tuple[Event, ...] = ()
        self.score = 0
        self.counts = ((0, 0, 0),) * players
        self.rewards = (0.0,) * players
        self.turn = 0
        self.to_move = (self.agents[0],)
        self.legal = self._legal_actions()

    @property
    def deck_size(self) -> int:
        """Number of cards left in the deck."""
        return len(self.deck) - self.dealt

    def _legal_actions(self) -> tuple[int, ...]:
        variant, hands, turn = self.variant, self.hands, self.turn
        held = len(hands[turn])
        discards = held if self.info_tokens < variant.info_tokens else 0
        receivers = hands[turn + 1 :] + hands[:turn] if self.info_tokens else ()
        return _legal_actions(discards, held, receivers, variant.hand_size, variant.colors, variant.ranks)

    def why_illegal(self, agent: str, action: int) -> Reason | None:
        """Returns why an action is illegal."""
        if agent not in self.to_move:
            return Reason("not_your_turn")
        if action in self.legal:
            return None
        if not 0 <= action < len(self.variant.actions):
            return Reason("no_such_action", {"last": len(self.variant.actions) - 1})
        kind, value, offset = self.variant.actions[action]
        if kind is Kind.DISCARD and self.info_tokens == self.variant.info_tokens:
            return Reason("no_discard", {"info_tokens": self.variant.info_tokens})
        if kind in (Kind.DISCARD, Kind.PLAY):
            return Reason("no_such_card", {"count": len(self.hands[self.turn]), "card": value + 1})
        if not self.info_tokens:
            return Reason("no_token")
        receiver = self.agents[(self.turn + offset) % len(self.agents)]
        if kind is Kind.REVEAL_COLOR:
            return Reason("marks_no_color", {"receiver": receiver, "color": COLORS[value]})
        return Reason("marks_no_rank", {"receiver": receiver, "rank": value})

    def apply(self, actions: tuple[int, ...]) -> None:
        """Plays or discards a card and draws another, or gives a hint."""
        (number,) = actions
        player, (kind, value, offset) = self.turn, self.variant.actions[number]
        plays, discards, hints = self.counts[player]
        points = 0
        if self.dealt == len(self.deck):
            self.turns_left -= 1
        if kind is Kind.PLAY:
            plays += 1
            card = self._take(player, value)
            scored = card.rank == self.fireworks[card.color] + 1
            points = self._add_to_firework(card) if scored else self._misplay(card)
            event = Event(player, number, card, scored)
        elif kind is Kind.DISCARD:
            discards += 1
            card = self._take(player, value)
            self.discards += (card,)
            self.info_tokens += 1
            event = Event(player, number, card)
        else:
            hints += 1
            event = Event(player, number, marked=self._give_hint(kind, value, (player + offset) % len(self.agents)))
        self.counts = _replaced(self.counts, player, (plays, discards, hints))
        self.history += (event,)
        self.score += points
        self.rewards = (float(points),) * len(self.agents)
        if self.life_tokens and self.turns_left and sum(self.fireworks) < self.variant.top_score:
            if event.card and self.dealt < len(self.deck):
                self._draw(player)
            self.turn = (player + 1) % len(self.agents)
            self.to_move = (self.agents[self.turn],)
            self.legal = self._legal_actions()
        else:
            self.to_move = self.legal = ()

    def _take(self, player: int, position: int) -> Card:
        """Removes a card from a hand; later ones move up."""
        hand, known = self.hands[player], self.knowledge[player]
        self.hands = _replaced(self.hands, player, hand[:position] + hand[position + 1 :])
        self.knowledge = _replaced(self.knowledge, player, known[:position] + known[position + 1 :])
        return hand[position]

    def _draw(self, player: int) -> None:
        """Appends the next card of the deck to a hand."""
        self.hands = _replaced(self.hands, player, (*self.hands[player], self.deck[self.dealt]))
        self.knowledge = _replaced(self.knowledge, player, (*self.knowledge[player], self._unknown))
        self.dealt += 1

    def _add_to_firework(self, card: Card) -> int:
        """Adds a fitting card and returns the point; the last card of a firework restores a token."""
        self.fireworks = _replaced(self.fireworks, card.color, card.rank)
        if card.rank == self.variant.ranks and self.info_tokens < self.variant.info_tokens:
            self.info_tokens += 1
        return 1

    def _misplay(self, card: Card) -> int:
        """Discards a misplayed card, costs a life, and returns the lost points: all or none."""
        self.discards += (card,)
        self.life_tokens -= 1
        return -self._points_at_risk() if self.life_tokens == 0 else 0

    def _points_at_risk(self) -> int:
        return self.score if self.variant.bomb_score == "zero" else 0

    def _give_hint(self, kind: Kind, value: int, receiver: int) -> tuple[int, ...]:
        """Reveals a colour or a rank to a player and returns the positions of the marked cards."""
        self.info_tokens -= 1
        hand, known = self.hands[receiver], self.knowledge[receiver]
        if kind is Kind.REVEAL_COLOR:
            marks = [card.color == value for card in hand]
            after = after_color_hint
        else:
            marks = [card.rank == value for card in hand]
            after = after_rank_hint
        told = tuple([after(card, value, marked) for card, marked in zip(known, marks, strict=True)])
        self.knowledge = _replaced(self.knowledge, receiver, told)
        return tuple([position for position, marked in enumerate(marks) if marked])

    def forfeit(self, offenders: tuple[str, ...]) -> tuple[float, ...]:
        """Returns -1 for offenders and 0 for the others, minus the points a lost life would cost.

        Otherwise an illegal action would keep points that a misplay loses.
        """
        lost = self._points_at_risk()
        self.score -= lost
        return tuple(float(-lost - (agent in offenders)) for agent in self.agents)

    def statistics(self, agent: str) -> Mapping[str, float]:
        """Returns the score of the match, and the number of plays, discards and hints of ``agent``."""
        plays, discards, hints = self.counts[self.agents.index(agent)]
        return {"score": self.score, "plays": plays, "discards": discards, "reveals": hints}

    def view(self, agent: str) -> HanabiView:
        """Returns the view of ``agent``."""
        seat = self.agents.index(agent)
        to_move = agent in self.to_move
        return HanabiView(
            agent,
            to_move,
            self.legal if to_move else (),
            self.variant,
            seat,
            self.hands[seat + 1 :] + self.hands[:seat],
            self.knowledge[seat:] + self.knowledge[:seat],
            self.fireworks,
            self.info_tokens,
            self.life_tokens,
            len(self.deck) - self.dealt,
            self.turns_left,
            self.discards,
            self.history,
        )

    def resample(self, agent: str, rng: np.random.Generator) -> None:
        """Redraws the own hand of ``agent``, consistent with hints, and the order of the deck.

        All hands that hints allow are equally likely, regardless of conventions. A fixed deck, or a fixed seed of it, does not
        restrict the redraw.
        """
        seat = self.agents.index(agent)
        moves = [
            (event.player, self.variant.actions[event.action].value if event.card else None) for event in self.history
        ]
        own = places_in_deck(moves, len(self.agents), self.variant.hand_size, self.dealt)[seat]
        hidden = [*own, *range(self.dealt, len(self.deck))]
        hand, rest = deal_hidden([self.deck[place] for place in hidden], self.knowledge[seat], rng)
        deck = [*self.deck]
        for place, card in zip(hidden, (*hand, *rest), strict=True):
            deck[place] = card
        self.deck = tuple(deck)
        self.hands = _replaced(self.hands, seat, hand)
        if self.to_move:
            self.legal = self._legal_actions()


@lru_cache(maxsize=4096)
def _legal_actions(
    discards: int, plays: int, receivers: tuple[tuple[Card, ...], ...], hand_size: int, colors: int, ranks: int
) -> tuple[int, ...]:
    """Returns the discards, plays and hints for these numbers of cards and these receivers' hands."""
    actions = [*range(discards), *range(hand_size, hand_size + plays)]
    first = 2 * hand_size
    for hand in receivers:
        actions += sorted({first + card.color for card in hand})
        first += colors
    for hand in receivers:
        actions += sorted({first + card.rank - 1 for card in hand})
        first += ranks
    return tuple(actions)


def _replaced(items: tuple[Item, ...], index: int, item: Item) -> tuple[Item, ...]:
    changed = [*items]
    changed[index] = item
    return tuple(changed)
