"""Renderings of games of bargaining and of collecting coins."""

import re
from collections.abc import Mapping, Sequence

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.reading import fields, numbers, seat
from llmarena_envs.openspiel.rendering.rendering import Rendering

_GOODS = ("books", "hats", "basketballs")


def _coin_game(view: SpielView, language: str) -> tuple[Part, ...]:
    lines = view.observation.splitlines()
    colours = lines[1].split()
    collected = [numbers(line.partition(" ")[2]) for line in lines if line.startswith("player")]
    board = tuple([tuple(line[1:-1].replace(" ", ".")) for line in lines if line.startswith("|")])
    counts = [
        f"{seat(player, view)}: " + ", ".join(f"{count} {colour}" for count, colour in zip(row, colours, strict=True))
        for player, row in enumerate(collected)
    ]
    return (
        f"Your colour: {colours[int(lines[0])]}",
        "Coins collected",
        *counts,
        "Board: a number is the square of a player, a letter is a coin, a dot is an empty square.",
        Grid(board),
    )


def _negotiation_name(name: str) -> str:
    kind, _, values = name.partition(":")
    if "Agreement" in values:
        return "agree"
    return f"{'say' if 'Utterance' in kind else 'keep'} {_row(numbers(values))}"


def _row(values: Sequence[int]) -> str:
    return " ".join(map(str, values))


def _negotiation(view: SpielView, language: str) -> tuple[Part, ...]:
    seen = fields(view.observation)
    current = int(seen["Current player"])
    lines = [
        f"Items on the table, by kind: {_row(numbers(seen['Item pool']))}",
        f"Value of one item to you, by kind: {_row(numbers(seen[f'Agent {view.player} util vec']))}",
        f"Proposals at most: {seen['Max steps']}",
    ]
    talks = seen["Turn Type"] == "Utterance"
    if "Most recent proposal" in seen:
        proposer = "its player" if current < 0 else seat(current if talks else 1 - current, view)
        lines.append(f"Last proposal: {proposer} keeps {_row(numbers(seen['Most recent proposal']))}")
    if "Most recent utterance" in seen:
        lines.append(f"Last message: {_row(numbers(seen['Most recent utterance']))}")
    if current >= 0:
        lines.append(f"{seat(current, view)} is to {'send a message' if talks else 'make a proposal'}.")
    return tuple(lines)


def _bargaining_name(name: str) -> str:
    return f"take {_row(numbers(name))}" if name.startswith("Offer") else name.lower()


def _goods(text: str) -> str:
    return ", ".join(f"{good} {count}" for good, count in zip(_GOODS, numbers(text), strict=True))


def _bargaining(view: SpielView, language: str) -> tuple[Part, ...]:
    seen = fields(view.information)
    offers = re.findall(r"^P(\d) offers: (.*)$", view.information, re.MULTILINE)
    lines = [
        f"Items on the table: {_goods(seen['Pool'])}",
        f"Value of one item to you: {_goods(seen['My values'])}",
        f"Offers made: {len(offers)}",
    ]
    lines += [
        f"Offer {number}: player_{player} takes {_goods(offer)}; the other player gets the rest"
        for number, (player, offer) in enumerate(offers, 1)
    ]
    if "Agreement reached? 1" in view.information:
        lines.append("The last offer was accepted.")
    return tuple(lines)


RENDERINGS: Mapping[str, Rendering] = {
    "bargaining": Rendering(_bargaining, _bargaining_name),
    "coin_game": Rendering(_coin_game),
    "negotiation": Rendering(_negotiation, _negotiation_name),
}
