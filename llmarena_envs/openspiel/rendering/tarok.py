"""Rendering of tarok."""

from collections.abc import Mapping, Sequence

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.reading import Turn, listed, numbers, seat, turns
from llmarena_envs.openspiel.rendering.rendering import Rendering

_ROMAN = "II III IIII V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX"
_TAROKS = ("Pagat", *_ROMAN.split(), "Mond", "Skis")
_FACES = ["Jack", "Knight", "Queen", "King"]
_CARDS = (
    *_TAROKS,
    *[f"{rank} of {suit}" for suit in ("Hearts", "Diamonds") for rank in ["4", "3", "2", "1", *_FACES]],
    *[f"{rank} of {suit}" for suit in ("Spades", "Clubs") for rank in ["7", "8", "9", "10", *_FACES]],
)
"""Names of the cards by number, in each suit from the lowest."""

_CONTRACTS = (
    "Pass",
    "Klop",
    "Three",
    "Two",
    "One",
    "Solo three",
    "Solo two",
    "Solo one",
    "Beggar",
    "Solo without",
    "Open beggar",
    "Colour valat without",
    "Valat without",
)
_TALON_CARDS = {2: 3, 3: 2, 4: 1, 5: 3, 6: 2, 7: 1}
"""Number of cards of the talon that the declarer takes, by contract."""

_BEGGAR = 8
_COLOUR_VALAT = 11
_PAGAT, _MOND, _SKIS = 0, 20, 21


def _suit(card: int) -> int:
    return 0 if card < len(_TAROKS) else 1 + (card - len(_TAROKS)) // 8


def _bids(bids: Sequence[int], players: int) -> list[tuple[int, int]]:
    """Returns bids with their players: player 1 begins, and players drop out after a pass."""
    waiting = [*range(1, players), 0]
    past = []
    for bid in bids:
        player = waiting.pop(0)
        past.append((player, bid))
        if bid:
            waiting.append(player)
    return past


def _winner(cards: Sequence[int], contract: int) -> int:
    """Returns the place of the card that wins a trick."""
    coloured = contract == _COLOUR_VALAT
    if {_PAGAT, _MOND, _SKIS} <= set(cards) and not (coloured and _suit(cards[0])):
        return cards.index(_PAGAT)
    best = 0
    for place, card in enumerate(cards):
        trumps = _suit(card) == 0 and not coloured and _suit(cards[best]) != 0
        if trumps or (_suit(card) == _suit(cards[best]) and card > cards[best]):
            best = place
    return best


def _tricks(parts: Sequence[str], contract: int, leader: int, players: int) -> list[list[Turn]]:
    played = []
    for part in parts:
        cards = numbers(part)[:players]  # in klop a card of the talon follows
        played.append([((leader + place) % players, _CARDS[card]) for place, card in enumerate(cards)])
        if len(cards) == players:
            leader = (leader + _winner(cards, contract)) % players
    return played


def _tarok(view: SpielView, language: str) -> tuple[Part, ...]:
    own, bidding, *parts = view.information.split(";")
    hand = [_CARDS[card] for card in numbers(own)]
    players = 48 // len(hand)
    bids = _bids(numbers(bidding), players)
    lines = [f"Bids: {turns([(player, _CONTRACTS[bid]) for player, bid in bids])}"]
    if parts:
        declarer, contract = bids[-1]
        lines.append(f"{seat(declarer, view)} is the declarer of the contract {_CONTRACTS[contract]}.")
        if players == 4 and 2 <= contract <= 4:
            king, *parts = parts
            lines += [f"Called king: {_CARDS[card]}" for card in numbers(king)]
        count = _TALON_CARDS.get(contract, 0)
        if count and any(parts):
            talon, chosen, *parts = parts
            taken = [_CARDS[card] for card in numbers(talon)][int(chosen) * count : (int(chosen) + 1) * count]
            lines.append(f"Talon: {listed(_CARDS[card] for card in numbers(talon))}")
            lines.append(f"The declarer took {listed(taken)}.")
            discards = [_CARDS[int(card)] if card != "d" else "hidden" for card in parts[0].split(",") if card]
            lines.append(f"Discarded: {listed(discards)}")
            hand = [card for card in [*hand, *taken] if card not in discards] if view.player == declarer else hand
            parts = parts[1:]
        played = _tricks([part for part in parts if part], contract, declarer if contract >= _BEGGAR else 0, players)
        lines += [f"Trick {number}: {turns(trick)}" for number, trick in enumerate(played, 1)]
        gone = {card for trick in played for player, card in trick if player == view.player}
        hand = [card for card in hand if card not in gone]
    return (f"Your hand: {listed(hand)}", *lines)


RENDERINGS: Mapping[str, Rendering] = {"tarok": Rendering(_tarok)}
