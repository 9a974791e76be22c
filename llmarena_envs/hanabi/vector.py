"""The numeric observation of Hanabi."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from llmarena_envs.hanabi.cards import Card, Knowledge, copies
from llmarena_envs.hanabi.game import Event, Hanabi, HanabiView
from llmarena_envs.hanabi.variant import Variant


@cache
def flags(ones: tuple[int, ...], size: int) -> bytes:
    """Returns ``size`` bytes with ones at the given indices and zeros elsewhere."""
    return bytes([index in ones for index in range(size)])


@cache
def unary(count: int, size: int) -> bytes:
    """Returns ``count`` ones followed by zeros, ``size`` bytes in all."""
    return bytes([index < count for index in range(size)])


@cache
def knowledge_flags(known: Knowledge, colors: int, ranks: int) -> bytes:
    """Returns the possible colours and ranks, whether the colour was hinted, and whether the rank was."""
    possible_ranks = tuple(rank - 1 for rank in known.ranks)
    return flags(known.colors, colors) + flags(possible_ranks, ranks) + bytes((known.color_told, known.rank_told))


class VectorEncoder:
    """Encodes views of one variant as vectors of zeros and ones.

    The parts, with their shapes, in order; players come in seat order, the viewer first, and numbers in unary:

    * the others' cards: (players - 1, hand_size, colors, ranks);
    * hint knowledge about each card: possible colours and ranks, whether the colour was hinted, whether
      the rank was: (players, hand_size, colors + ranks + 2); zeros for missing cards;
    * the fireworks (colors, ranks), information tokens, life tokens, cards in the deck and turns left;
    * the discarded cards by colour and rank, one entry per copy: (number of cards);
    * the last event: actor (players), action (number of actions), card (colors, ranks), whether it scored (1), marked
      positions (hand_size).

    Args:
        variant: the variant.

    Attributes:
        size: length of the vectors.
    """

    def __init__(self, variant: Variant) -> None:
        self._variant = variant
        kinds = [Card(color, rank) for color in range(variant.colors) for rank in range(1, variant.ranks + 1)]
        self._copies = [(card, copies(card.rank, variant.ranks)) for card in kinds]
        self._cards = {card: flags((index,), len(kinds)) for index, card in enumerate(kinds)}
        self._no_card = bytes(len(kinds))
        self._no_knowledge = bytes(variant.colors + variant.ranks + 2)
        game = Hanabi(variant)
        game.reset(np.random.default_rng(0))
        self.size = len(self.encode(game.view(variant.agents[0])))

    def encode(self, view: HanabiView) -> NDArray[np.int8]:
        """Returns the vector of a view: ``int8``, shape (size,), zeros and ones."""
        variant = self._variant
        size, colors, ranks = variant.hand_size, variant.colors, variant.ranks
        parts: list[bytes] = []
        for hand in view.hands:
            parts += [self._cards[card] for card in hand]
            parts += [self._no_card] * (size - len(hand))
        for hand_knowledge in view.knowledge:
            parts += [knowledge_flags(known, colors, ranks) for known in hand_knowledge]
            parts += [self._no_knowledge] * (size - len(hand_knowledge))
        parts += [unary(rank, ranks) for rank in view.fireworks]
        parts += [
            unary(view.info_tokens, variant.info_tokens),
            unary(view.life_tokens, variant.life_tokens),
            unary(view.deck_size, variant.stock),
            unary(view.turns_left, variant.players),
        ]
        parts += [unary(view.discards.count(card), number) for card, number in self._copies]
        parts += self._event(view.history[-1] if view.history else None, view.seat)
        return np.frombuffer(bytearray(b"".join(parts)), dtype=np.int8)

    def _event(self, event: Event | None, seat: int) -> list[bytes]:
        players, actions, size = self._variant.players, len(self._variant.actions), self._variant.hand_size
        if event is None:
            return [bytes(players + actions), self._no_card, bytes(1 + size)]
        return [
            flags(((event.player - seat) % players,), players),
            flags((event.action,), actions),
            self._cards[event.card] if event.card else self._no_card,
            bytes((event.scored,)),
            flags(event.marked, size),
        ]
