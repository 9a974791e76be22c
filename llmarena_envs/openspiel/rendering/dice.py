"""Renderings of dice games."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.reading import alternating, fields, listed, numbers, prompts, seat, turns
from llmarena_envs.openspiel.rendering.rendering import Rendering

_FACES = ("one", "two", "three", "four", "five", "six")


def _pig(view: SpielView, language: str) -> tuple[Part, ...]:
    scores, total = fields(view.observation)["Scores"].split(",")
    current = int(fields(view.observation)["Current player"])
    text = prompts(language).render(
        "pig",
        scores=", ".join(f"{seat(player, view, language)} {score}" for player, score in enumerate(numbers(scores))),
        player=f"player_{current}",
        total=numbers(total)[0],
    )
    return (text,)


def _bid(name: str) -> str:
    """Returns ``2 fives`` for ``2-5``."""
    found = re.fullmatch(r"(\d+)-(\d+)", name)
    if not found:
        return name
    count, face = int(found[1]), int(found[2])
    if face > len(_FACES):
        return f"{count} of face {face}"
    word = _FACES[face - 1]
    if count == 1:
        return f"1 {word}"
    return f"{count} {word}{'es' if word == 'six' else 's'}"


def _liars_dice(view: SpielView, language: str) -> tuple[Part, ...]:
    dice, *bids = view.information.split()
    text = prompts(language).render(
        "liars_dice", dice=" ".join(dice), bids=turns(alternating([_bid(bid) for bid in bids], 2), language)
    )
    return (text,)


_CATEGORIES = {
    "Ones": "Ones",
    "Twos": "Twos",
    "Threes": "Threes",
    "Fours": "Fours",
    "Fives": "Fives",
    "Sixes": "Sixes",
    "Chance": "Chance",
    "4Kind": "Four of a Kind",
    "Full": "Full House",
    "SmStr": "Small Straight",
    "LgStr": "Large Straight",
    "Yacht": "Yacht",
}


def _yacht_name(name: str) -> str:
    if name.startswith("Reroll"):
        return "Reroll " + " ".join(str(position + 1) for position in numbers(name))
    return name.replace(" (proceed to scoring)", "")


def _yacht(view: SpielView, language: str) -> tuple[Part, ...]:
    turn, *sheets = re.split(r"^Player (?=\d)", view.observation, flags=re.MULTILINE)
    seen = fields(turn)
    dice = numbers(seen["Dice"])
    rolled, rolls = numbers(seen["Roll"])
    lines = []
    if any(dice):
        shown = ", ".join(f"die {number} shows {face}" for number, face in enumerate(dice, 1))
        lines.append(f"Turn of {seat(int(seen['Turn player']), view)}, roll {rolled} of {rolls}: {shown}")
    return (*lines, *[_yacht_sheet(player, sheet, view) for player, sheet in enumerate(sheets)])


def _yacht_sheet(player: int, sheet: str, view: SpielView) -> str:
    total = numbers(sheet)[1]
    scored = re.findall(r"^ +(\w+): (\d+)", sheet, re.MULTILINE)
    shown = listed([f"{_CATEGORIES.get(name, name)} {points}" for name, points in scored])
    return f"Sheet of {seat(player, view)}, {total} points: {shown}"


def _liars_dice_ir(view: SpielView, language: str) -> tuple[Part, ...]:
    """Reads dice and the last bids, whose number is limited."""
    _, dice, *bids = view.information.split()
    return (
        f"Your dice: {' '.join(dice)}",
        f"Last bids, the oldest first, of both players in turn: {listed([_bid(bid) for bid in bids])}",
    )


RENDERINGS: Mapping[str, Rendering] = {
    "liars_dice": Rendering(_liars_dice, _bid),
    "liars_dice_ir": Rendering(_liars_dice_ir, _bid),
    "pig": Rendering(_pig, shows_moves=True),
    "yacht": Rendering(_yacht, _yacht_name, shows_moves=True),
}
