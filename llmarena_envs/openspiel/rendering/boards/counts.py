"""Renderings of games of counters: Backgammon, Mancala, Oware and Nim."""

import re
from collections.abc import Mapping
from itertools import pairwise

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.boards.common import Words, letters, lines_of, numbers, shown
from llmarena_envs.openspiel.rendering.rendering import Rendering

_CHECKERS = {mark: tuple([f"{mark}{number}" for number in range(1, 16)]) for mark in "xo"}


def _mancala(view: SpielView, words: Words) -> tuple[Part, ...]:
    far, stores, near = [re.findall(r"\d+", line) for line in lines_of(view.observation)[:3]]
    grid = Grid(
        (tuple(map(str, range(13, 7, -1))), tuple(far), tuple(near), numbers(6)),
        (words("pit"), words("stones"), words("stones"), words("pit")),
    )
    return (grid, words("stores", near=stores[1], far=stores[0]))


def _oware(view: SpielView, words: Words) -> tuple[Part, ...]:
    _, scores, seeds = [part.split() for part in view.observation.split("|")]
    half = len(seeds) // 2
    names = letters(half)
    rows = (names[::-1], tuple(seeds[half:][::-1]), tuple(seeds[:half]), tuple(map(str.upper, names)))
    grid = Grid(rows, (words("house"), words("seeds"), words("seeds"), words("house")))
    return (grid, words("scores", near=scores[0], far=scores[1]))


def _nim(view: SpielView, words: Words) -> tuple[Part, ...]:
    piles = tuple(re.findall(r"\d+", view.observation.partition(":")[2]))
    return (Grid((numbers(len(piles)), piles), (words("pile"), words("objects"))),)


def _nim_name(name: str) -> str:
    return name.rstrip(";").replace(":", " ").replace(",", "")


def _stack(signs: str) -> str:
    """Returns a stack, e.g. ``x5``; ``signs`` are read downwards, and digits stand for a number above five."""
    number = "".join(sign for sign in signs if sign.isdigit())
    marks = "".join(sign for sign in signs if sign in "xo")
    return f"{marks[0]}{number or len(marks)}" if marks else "."


def _backgammon(view: SpielView, words: Words) -> tuple[Part, ...]:
    lines = view.observation.split("\n")
    halves = [line.replace("|", "") for line in lines[1:12]]
    upper = [_stack("".join(line[column] for line in halves[:5])) for column in range(12)]
    lower = [_stack("".join(line[column] for line in halves[6:])) for column in range(12)]
    far, near = (lower, upper) if view.player == 0 else (upper, lower)
    points = tuple(map(str, range(13, 25))), tuple(map(str, range(12, 0, -1)))
    grid = Grid(
        (points[0], tuple(far), tuple(near), points[1]),
        (words("point"), words("checkers"), words("checkers"), words("point")),
        dark=_CHECKERS["x"],
        light=_CHECKERS["o"],
    )
    values = dict(line.split(":", 1) for line in lines[13:] if ":" in line)
    off = re.findall(r"\d+", view.observation.rpartition("Scores")[2])
    bar = values.get("Bar", "")
    dice = values.get("Dice", "").strip()
    facts = [words("bar", x=bar.count("x"), o=bar.count("o")), words("off", x=off[0], o=off[1])]
    if dice:
        facts.append(words("dice", mark=values["Turn"].strip(), dice=", ".join(dice)))
        if values.get("Extra turn", "").strip() == "1":
            facts.append(words("second"))
    return (grid, *facts)


_LOW_DIE_FIRST = 26 * 26
"""The first action that plays the lower die first."""


def _backgammon_name(name: str) -> str:
    """Returns the steps in the order of play, e.g. ``13/9 9/8``; OpenSpiel's names leave the order to the number before them."""
    action, _, text = name.partition(" - ")
    if not text:
        return name.lower()
    steps: list[tuple[str, str]] = []
    for part in text.replace("*", "").split():
        stops = part.removesuffix("(2)").split("/")
        pairs = list(pairwise(stops)) or [("Pass", "")]
        steps += pairs * (2 if part.endswith("(2)") else 1)
    written = " ".join("/".join(stop for stop in step if stop).lower() for step in _in_order(int(action), steps))
    if [end for _, end in steps] == ["Off", "Off"] and int(action) >= _LOW_DIE_FIRST:
        return f"{written} (lower die first)"
    return written


def _in_order(action: int, steps: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns the two steps in the order that the number of the action encodes."""
    low_die_first, origins = divmod(action, _LOW_DIE_FIRST)
    starts = [start for start, _ in steps]
    orders = [_starts(origins % 26, origins // 26, side) for side in range(2)]
    possible = [order for order in orders if order in (starts, starts[::-1])]
    is_clear = all(order == possible[0] for order in possible) or _length(steps[0]) == _length(steps[1])
    if is_clear and starts[0] != starts[1]:
        return steps if possible[0] == starts else steps[::-1]
    return sorted(steps, key=_length, reverse=not low_die_first)


def _starts(first: int, second: int, side: int) -> list[str]:
    """Returns the points of two places of an action; OpenSpiel counts the places of x and of o in opposite directions."""
    names = {24: "Bar", 25: "Pass"}
    return [names.get(place, str(place + 1 if side else 24 - place)) for place in (first, second)]


def _length(step: tuple[str, str]) -> int:
    start, end = [{"Bar": "25", "Off": "0", "Pass": "0", "": "0"}.get(stop, stop) for stop in step]
    return int(start) - int(end)


RENDERINGS: Mapping[str, Rendering] = {
    "backgammon": shown("backgammon", _backgammon, _backgammon_name),
    "mancala": shown("mancala", _mancala),
    "nim": shown("nim", _nim, _nim_name),
    "oware": shown("oware", _oware),
}
