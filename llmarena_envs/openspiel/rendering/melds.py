"""Renderings of games of drawing and discarding cards."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.playing_cards import SUITS, by_suit, rank_first
from llmarena_envs.openspiel.rendering.reading import fields, listed, numbers, per_player, seat
from llmarena_envs.openspiel.rendering.rendering import Rendering

_CARD = re.compile(r"[A2-9TJQK][scdh]")
_GIN_PHASES = {
    "FirstUpcard": "first upcard (draw it or pass)",
    "Draw": "draw",
    "Discard": "discard",
    "Knock": "knock (discard, then lay melds)",
    "Layoff": "layoff (lay off on the melds of the knocker, then lay melds)",
    "Wall": "wall (pass or knock)",
    "GameOver": "game over",
}


def _gin_name(name: str) -> str:
    move = name.partition("Action: ")[2] or name
    cards = _CARD.findall(move)
    return " ".join(card.upper() for card in cards) if cards else move


def _cards(text: str) -> list[str]:
    return [card.upper() for card in _CARD.findall(text)]


def _gin_rummy(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.observation
    seen = fields(text)
    stock = re.search(r"Stock size: (\d+) +Upcard: (\w+)", text)
    own = re.search(rf"Player{view.player}: Deadwood=(\d+)", text)
    hand = [card for row in re.findall(r"^\|(.*)\|$", text, re.MULTILINE) for card in _cards(row)]
    upcard = _cards(stock[2]) if stock else []
    lines = [
        f"Phase: {_GIN_PHASES.get(seen['Phase'], seen['Phase'])}",
        f"Your hand: {by_suit(hand)}",
        f"Your deadwood: {own[1] if own else 0}",
        f"Upcard: {listed(upcard)}",
        f"Discard pile below it, oldest first: {' '.join(_cards(seen['Discard pile'])) or 'none'}",
        f"Cards in the stock: {stock[1] if stock else 0}",
    ]
    return (*lines, *_laid(view))


def _laid(view: SpielView) -> list[str]:
    """Returns lines of the cards that each player has laid on the table."""
    lines = []
    for player, block in re.findall(r"Player(\d):(.*?)(?=\n\n|\Z)", view.observation, re.DOTALL):
        name = seat(int(player), view)
        for label, phrase in (("Layed melds:", "Melds of"), ("Layoffs:", "Cards laid off by")):
            found = re.search(rf"{label}(.*)", block)
            if found:
                groups = [" ".join(_cards(group)) for group in found[1].split()]
                lines.append(f"{phrase} {name}: {listed(groups)}")
    return lines


def _crazy_eights_name(name: str) -> str:
    nominated = re.fullmatch(r"Nominate suit ([CDHS])", name)
    return f"Suit {SUITS[nominated[1]]}" if nominated else rank_first(name)


def _crazy_eights(view: SpielView, language: str) -> tuple[Part, ...]:
    seen = fields(view.observation)
    hand = [rank + suit for suit in SUITS for rank in seen[f"Suit {suit}"].replace(" ", "")]
    counts = numbers(view.observation[view.observation.index("Starting") :])
    by_seat = [counts[(player - view.player) % len(counts)] for player in range(len(counts))]
    direction = re.search(r"The direction is (\w+)", view.observation)
    return (
        f"Your hand: {by_suit(hand)}",
        f"Last card played: {rank_first(seen['Previous card'])}",
        f"Suit to match: {SUITS[seen['Previous suit']]}",
        per_player("Cards in hand", by_seat, view),
        *([f"Direction of play: {direction[1]}"] if direction else []),
    )


def _cribbage_name(name: str) -> str:
    return name.removeprefix("Choose ")


def _cribbage(view: SpielView, language: str) -> tuple[Part, ...]:
    seen = fields(view.observation)
    lines = [
        f"Deal {int(seen['Round']) + 1}, dealer: {seat(int(seen['Dealer']), view)}",
        per_player("Scores", numbers(seen["Scores"]), view),
        f"Your hand: {listed(seen['Hand'].split())}",
    ]
    if seen["Phase"] == "Card":
        return (*lines, "Both players are putting two cards into the crib.")
    played = re.findall(r"\b[2-9TJQKA][CDHS]\b|Pass", view.information.rpartition("Deal")[2])[1:]
    return (
        *lines,
        f"Starter: {seen['Starter']}",
        f"Played since the starter, by both players: {listed(played)}",
        f"Cards that count now: {listed(seen['Played cards'].split())}",
        f"Running total: {seen['Running total']}",
    )


_RANKS = ("A", *map(str, range(2, 11)), "J", "Q", "K")


def _fish_rank(number: int) -> str:
    return _RANKS[number] if number < len(_RANKS) else f"rank {number + 1}"


def _go_fish_name(name: str) -> str:
    found = re.fullmatch(r"(\d)([a-z])", name)
    return f"ask player_{found[1]} for {_fish_rank(ord(found[2]) - ord('a'))}" if found else name


def _go_fish_event(line: str) -> str:
    """Returns an event; the rank of a drawn card stays hidden, as at a table."""
    player, target, rank = numbers(line)[:3]
    if target < 0:
        text = f"player_{player} drew a card"
    else:
        received = re.search(r"recieved (\d+)", line)
        text = f"player_{player} asked player_{target} for {_fish_rank(rank)} and got {received[1] if received else 0}"
    booked = re.search(r"booked (\d+)", line)
    return f"{text}, which completed a book of {_fish_rank(int(booked[1]))}" if booked else text


def _go_fish(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.observation
    cards = re.findall(r"([a-z])(\d)", fields(text)["Your cards"])
    hand = [f"{count} x {_fish_rank(ord(letter) - ord('a'))}" for letter, count in cards]
    counts = re.findall(r"^player \d+ cards (\d+) books (\d+)", text, re.MULTILINE)
    events = [line for line in text.splitlines() if " asked " in line]
    return (
        f"Your hand: {listed(hand)}",
        per_player("Cards in hand", [held for held, _ in counts], view),
        per_player("Books", [books for _, books in counts], view),
        "What the others did since your last move, in order:" if events else "Nothing happened since your last move.",
        *map(_go_fish_event, reversed(events)),
    )


RENDERINGS: Mapping[str, Rendering] = {
    "cribbage": Rendering(_cribbage, _cribbage_name),
    "go_fish": Rendering(_go_fish, _go_fish_name),
    "crazy_eights": Rendering(_crazy_eights, _crazy_eights_name),
    "gin_rummy": Rendering(_gin_rummy, _gin_name),
}
