"""Renderings of cooperative games of hints."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.reading import Turn, fields, listed, numbers, seat, turns
from llmarena_envs.openspiel.rendering.rendering import Rendering

_COLOURS = {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue"}


def _hanabi_name(name: str) -> str:
    """Returns ``Play 1`` for ``(Play 0)`` and ``Hint red`` for a hint to the next player."""
    hint = re.fullmatch(r"\(Reveal player \+(\d+) (?:color|rank) (\w)\)", name)
    if hint:
        hinted = f"Hint {_COLOURS.get(hint[2], hint[2])}"
        return hinted if hint[1] == "1" else f"{hinted} to +{hint[1]}"
    card = re.fullmatch(r"\((Play|Discard) (\d+)\)", name)
    return f"{card[1]} {int(card[2]) + 1}" if card else name


def _hanabi_card(code: str) -> str:
    """Returns ``red 3`` for ``R3`` and ``3`` for ``X3``."""
    names = (_COLOURS.get(code[0], ""), code[1].strip("X"))
    return " ".join(filter(None, names))


def _could_be(code: str) -> str:
    colours = [_COLOURS[letter] for letter in code if letter in _COLOURS]
    return f"{'/'.join(colours)} {'/'.join(re.findall('[1-5]', code))}"


def _hanabi_hand(text: str, is_own: bool) -> list[str]:
    lines = []
    cards = re.findall(r"^(\w\w) \|\| (\w\w)\|(\w+)$", text, re.MULTILINE)
    for number, (card, hinted, possible) in enumerate(cards, 1):
        hint = "no hint" if hinted == "XX" else f"hint {_hanabi_card(hinted)}"
        known = f"{hint}, can be {_could_be(possible)}"
        lines.append(f"- {number}: {known}" if is_own else f"- {number}: {_hanabi_card(card)}; its player: {known}")
    return lines


def _hanabi(view: SpielView, language: str) -> tuple[Part, ...]:
    seen = fields(view.observation)
    fireworks = re.findall(r"([RYGWB])(\d)", seen["Fireworks"])
    hands = view.observation.partition("Hands:")[2].partition("Deck size")[0].split("-----")
    lines = [
        f"Lives: {seen['Life tokens']}, hints left: {seen['Info tokens']}, cards in the deck: {seen['Deck size']}",
        f"Fireworks: {listed(f'{_COLOURS[colour]} {rank}' for colour, rank in fireworks)}",
        f"Discards: {listed(_hanabi_card(card) for card in seen['Discards'].split())}",
    ]
    for place, hand in enumerate(hands):  # the reader's own hand is the first
        player = (view.player + place) % len(hands)
        lines += [f"Hand of {seat(player, view)}, the oldest card first", *_hanabi_hand(hand, place == 0)]
    return tuple(lines)


def _tiny_hanabi_name(name: str) -> str:
    return f"action {int(name[-1]) + 1}"


def _tiny_hanabi(view: SpielView, language: str) -> tuple[Part, ...]:
    card, *actions = view.information.split()
    past: list[Turn] = [(int(action[1]), f"action {int(action[-1]) + 1}") for action in actions]
    return (f"Your card: {numbers(card)[-1] + 1}", f"Moves so far: {turns(past)}")


RENDERINGS: Mapping[str, Rendering] = {
    "hanabi": Rendering(_hanabi, _hanabi_name),
    "tiny_hanabi": Rendering(_tiny_hanabi, _tiny_hanabi_name),
}
