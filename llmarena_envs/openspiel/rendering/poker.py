"""Renderings of poker games with small decks."""

import re
from collections.abc import Mapping, Sequence

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.reading import (
    alternating,
    bracketed,
    listed,
    numbers,
    per_player,
    prompts,
    turns,
)
from llmarena_envs.openspiel.rendering.rendering import Rendering

_KUHN_MOVES = {"p": "Pass", "b": "Bet"}
_LEDUC_MOVES = {0: "Fold", 1: "Call", 2: "Raise"}
_FACES = ("jack", "queen", "king")


def _rank(number: int, count: int, language: str) -> str:
    """Returns the name of a rank, 0 the lowest of so many, the highest a king."""
    from_jack = number - count + len(_FACES)
    if from_jack >= 0:
        return prompts(language).render(f"rank_{_FACES[from_jack]}")
    return str(11 + from_jack)


def _kuhn(view: SpielView, language: str) -> tuple[Part, ...]:
    """Reads a card number with chips of each player, and a card number with the moves."""
    card = view.information.rstrip("pb")
    moves = [_KUHN_MOVES[letter] for letter in view.information[len(card) :]]
    chips = [int(digit) for digit in view.observation[len(card) :]]
    text = prompts(language).render(
        "kuhn_poker",
        card=_rank(int(card), len(chips) + 1, language),
        pot=sum(chips),
        own=chips[view.player],
        moves=turns(alternating(moves, len(chips)), language),
    )
    return (text,)


def _leduc(view: SpielView, language: str) -> tuple[Part, ...]:
    seen, past = bracketed(view.observation), bracketed(view.information)
    chips = numbers(seen["Ante"])
    ranks = len(chips) + 1
    public = int(seen["Public"]) // 2 if "Public" in seen else None
    text = prompts(language).render(
        "leduc_poker",
        card=_rank(int(seen["Private"]) // 2, ranks, language),
        public=prompts(language).render("not_dealt") if public is None else _rank(public, ranks, language),
        pot=sum(chips),
        own=chips[view.player],
        first=turns(_leduc_turns(numbers(past["Round1"]), len(chips)), language),
        second=turns(_leduc_turns(numbers(past["Round2"]), len(chips)), language),
    )
    return (text,)


def _leduc_turns(actions: Sequence[int], players: int) -> list[tuple[int, str]]:
    return alternating([_LEDUC_MOVES[action] for action in actions], players)


def _repeated_leduc(view: SpielView, language: str) -> tuple[Part, ...]:
    hand = f"Hand {numbers(view.observation)[0] + 1}"
    if "[Private" in view.observation:
        return (hand, *_leduc(view, language))
    public, *cards = numbers(_line(view.observation, "Cards"))
    money = numbers(_line(view.observation, "Money"))
    shown = "not dealt" if public < 0 else _rank(public // 2, len(cards) + 1, language)
    return (
        f"{hand} is over; all cards are shown.",
        f"Public card: {shown}",
        per_player("Cards", [_rank(card // 2, len(cards) + 1, language) for card in cards], view),
        per_player("Chips won or lost so far", [f"{chips - 100:+d}" for chips in money], view),
    )


def _universal_name(name: str) -> str:
    return name.partition("move=")[2].replace("AllIn", "All in") or name


def _universal_turn(code: str) -> str:
    return {"c": "Call", "f": "Fold"}.get(code, f"raises to {code[1:]}")


def _universal(view: SpielView, language: str) -> tuple[Part, ...]:
    seen, past = bracketed(view.observation), bracketed(view.information)
    chips = numbers(seen["PlayerContribution"])
    rounds = [re.findall(r"[cf]|r\d+", text) for text in past["Sequences"].split("|")]
    return (
        f"Your hand: {listed(_cards(seen['Private']))}",
        f"Public cards: {listed(_cards(past['Public']))}",
        f"Pot: {sum(chips)} chips",
        per_player("Chips put in", chips, view),
        per_player("Chips left", numbers(seen["Money"]), view),
        *[
            f"Betting round {number}: {turns(alternating([_universal_turn(code) for code in codes], len(chips)))}"
            for number, codes in enumerate(rounds, 1)
        ],
    )


def _cards(text: str) -> list[str]:
    return [card.upper() for card in re.findall(r"[2-9TJQKA][cdhs]", text)]


def _line(text: str, name: str) -> str:
    """Returns the values of a line whose names of the values end with a colon."""
    found = re.search(rf"^{name}[^:]*:(.*)$", text, re.MULTILINE)
    return found[1] if found else ""


RENDERINGS: Mapping[str, Rendering] = {
    "kuhn_poker": Rendering(_kuhn),
    "leduc_poker": Rendering(_leduc),
    "repeated_leduc_poker": Rendering(_repeated_leduc),
    "universal_poker": Rendering(_universal, _universal_name),
}
