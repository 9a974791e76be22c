"""Policies for Hanabi."""

from collections import Counter
from collections.abc import Iterator, Mapping

from agents.policy import ScriptedPolicy
from llmarena_envs.hanabi.actions import Action, Kind
from llmarena_envs.hanabi.cards import Card, Knowledge, after_color_hint, copies
from llmarena_envs.hanabi.game import HanabiView

Promise = frozenset[Card] | None
"""The possible cards after the promise of a rank hint."""


class Reading:
    """Inferences from a view, with hints interpreted by ``Convention``.

    Args:
        view: the view of the reading player.

    Attributes:
        view: as given.
        unplaced: copies of each card neither discarded nor in a firework.
        unseen: copies of each card that can be in the own hand or in the deck.
    """

    def __init__(self, view: HanabiView) -> None:
        self.view = view
        variant = view.variant
        gone = Counter(view.discards)
        gone.update(Card(color, rank) for color, top in enumerate(view.fireworks) for rank in range(1, top + 1))
        kinds = [Card(color, rank) for color in range(variant.colors) for rank in range(1, variant.ranks + 1)]
        self.unplaced = {card: copies(card.rank, variant.ranks) - gone[card] for card in kinds}
        in_hands = Counter(card for hand in view.hands for card in hand)
        self.unseen = {card: count - in_hands[card] for card, count in self.unplaced.items()}
        self._promises = self._read_promises()

    def _read_promises(self) -> tuple[list[Promise], ...]:
        """Tracks every card through the history; returns the promises to each player, the reader first."""
        variant, seat = self.view.variant, self.view.seat
        promises: list[list[Promise]] = [[None] * variant.hand_size for _ in range(variant.players)]
        fireworks = [0] * variant.colors
        deck_size = variant.stock
        for event in self.view.history:
            kind, value, offset = variant.actions[event.action]
            if event.card:
                del promises[event.player][value]
                fireworks[event.card.color] += event.scored
                if deck_size:
                    promises[event.player].append(None)
                    deck_size -= 1
            elif kind is Kind.REVEAL_RANK:
                playable = frozenset(Card(color, top + 1) for color, top in enumerate(fireworks))
                promises[(event.player + offset) % variant.players][event.marked[-1]] = playable
        return (*promises[seat:], *promises[:seat])

    def is_playable(self, card: Card) -> bool:
        """Returns whether a card is the next of its firework."""
        return card.rank == self.view.fireworks[card.color] + 1

    def is_useful(self, card: Card) -> bool:
        """Returns whether a card can still be added to its firework, now or later."""
        below = range(self.view.fireworks[card.color] + 1, card.rank + 1)
        return len(below) > 0 and all(self.unplaced[Card(card.color, rank)] for rank in below)

    def is_critical(self, card: Card) -> bool:
        """Returns whether a card is useful and the last of its kind."""
        return self.unplaced[card] == 1 and self.is_useful(card)

    def candidates(self, offset: int, position: int, counts: Mapping[Card, int]) -> dict[Card, int]:
        """Returns the possible cards at a position, with the number of copies of each.

        Args:
            offset: seat offset of the holder from the reader; 0 for the reader.
            position: position in the hand, counted from 0.
            counts: available copies: ``unseen`` for an own card; ``unplaced`` for the certain knowledge of another player,
                because the reader's own hand is hidden from the reader.
        """
        possible = _possible(self.view.knowledge[offset][position], counts)
        promise = self._promises[offset][position]
        promised = {card: count for card, count in possible.items() if promise and card in promise}
        return promised or possible

    def all_playable(self, candidates: Mapping[Card, int]) -> bool:
        """Returns whether every candidate is playable."""
        return bool(candidates) and all(map(self.is_playable, candidates))

    def known_playable(self, offset: int, counts: Mapping[Card, int]) -> list[int]:
        """Returns the positions of cards that their holder knows to be playable."""
        positions = range(len(self.view.knowledge[offset]))
        return [position for position in positions if self.all_playable(self.candidates(offset, position, counts))]

    def next_discard(self, offset: int, counts: Mapping[Card, int]) -> int:
        """Returns the position that a holder discards: a useless card, else the one least likely to be useful.

        Cards with a colour hint are kept as long as there are others.
        """

        def cost(position: int) -> tuple[float, ...]:
            candidates = self.candidates(offset, position, counts)
            total = sum(candidates.values())
            useful = sum(count for card, count in candidates.items() if self.is_useful(card)) / total
            critical = sum(count for card, count in candidates.items() if self.is_critical(card)) / total
            kept = useful > 0 and self.view.knowledge[offset][position].color_told
            return kept, useful, critical, position

        return min(range(len(self.view.knowledge[offset])), key=cost)


def _possible(known: Knowledge, counts: Mapping[Card, int]) -> dict[Card, int]:
    cards = [Card(color, rank) for color in known.colors for rank in known.ranks]
    return {card: counts[card] for card in cards if counts[card] > 0}


class Convention(ScriptedPolicy):
    """Plays by a convention, assuming that the others follow it too.

    A rank hint promises that the newest card it marks is playable. A colour hint promises nothing: it asks to keep the marked
    cards, or passes the turn. In order of preference: play a certainly playable card; hint a playable card to a player who knows
    of none (by rank, else by colour); save the last card of a kind that the next player would discard; discard the card least
    likely to be useful; pass with a colour hint.
    """

    def __call__(self, view: HanabiView) -> int:
        """Returns an action."""
        reading = Reading(view)
        action = self._play(reading)
        if action is None and view.info_tokens:
            action = self._tell(reading)
        if action is None and view.info_tokens < view.variant.info_tokens:
            action = Action(Kind.DISCARD, reading.next_discard(0, reading.unseen))
        return view.variant.actions.index(action) if action else self._pass(view)

    def _play(self, reading: Reading) -> Action | None:
        """Returns the play of the lowest certainly playable card, if any."""
        playable = reading.known_playable(0, reading.unseen)
        if not playable:
            return None
        lowest = min(
            playable, key=lambda position: min(card.rank for card in reading.candidates(0, position, reading.unseen))
        )
        return Action(Kind.PLAY, lowest)

    def _tell(self, reading: Reading) -> Action | None:
        """Returns a hint that makes a player play or save a card, if any; only for players with a turn left."""
        for offset in range(1, reading.view.turns_left):
            if reading.known_playable(offset, reading.unplaced):
                continue
            hint = next(self._play_hints(reading, offset), None)
            if hint is None and offset == 1:
                hint = self._saving_hint(reading)
            if hint:
                return hint
        return None

    def _play_hints(self, reading: Reading, offset: int) -> Iterator[Action]:
        """Yields hints that reveal a playable card to a player: rank hints from the lowest, then colour hints."""
        hand, knowledge = reading.view.hands[offset - 1], reading.view.knowledge[offset]
        for rank in sorted({card.rank for card in hand}):
            newest = [card for card in hand if card.rank == rank][-1]
            if reading.is_playable(newest):
                yield Action(Kind.REVEAL_RANK, rank, offset)
        for color in sorted({card.color for card in hand}):
            for card, known in zip(hand, knowledge, strict=True):
                after = after_color_hint(known, color, card.color == color)
                if reading.all_playable(_possible(after, reading.unplaced)):
                    yield Action(Kind.REVEAL_COLOR, color, offset)

    def _saving_hint(self, reading: Reading) -> Action | None:
        """Returns the hint that stops the next player from discarding the last card of a kind, if needed."""
        position = reading.next_discard(1, reading.unplaced)
        card = reading.view.hands[0][position]
        if not reading.is_critical(card) or reading.view.knowledge[1][position].color_told:
            return None
        return Action(Kind.REVEAL_COLOR, card.color, 1)

    def _pass(self, view: HanabiView) -> int:
        """Returns a colour hint, which promises nothing; another legal action only if all other hands are empty."""
        actions = view.variant.actions
        hints = [number for number in view.legal if actions[number].kind is Kind.REVEAL_COLOR]
        return hints[0] if hints else view.legal[0]


BASELINES = {"convention": Convention}
