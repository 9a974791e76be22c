"""Renderings of trick-taking games."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.playing_cards import SUITS, rank_first, suits, trick_lines, tricks
from llmarena_envs.openspiel.rendering.reading import fields, listed, numbers, per_player, seat
from llmarena_envs.openspiel.rendering.rendering import Rendering

_COMPASS = "NESW"
_PASSES = {
    "No Pass": "no cards are passed",
    "Left": "three cards to the next player",
    "Across": "three cards to the player across",
    "Right": "three cards to the previous player",
}

"""OpenSpiel writes ``Pick up!`` for the first bid of the second round and omits its suit."""


def _hand(text: str) -> str:
    return f"Your hand: {listed(suits(text))}"


def _is_over(text: str) -> bool:
    """Says whether a text shows all hands, as at the end of a match: their lines are indented."""
    return bool(re.search(r"^ {8}[CDHS] ", text, re.MULTILINE))


def _hearts(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.information
    seen = fields(text)
    lines = [f"Passing: {_PASSES.get(seen['Pass Direction'], seen['Pass Direction'])}"]
    if not _is_over(text):
        lines.append(_hand(text))
        for name, label in (("Passed Cards", "You passed"), ("Received Cards", "You received")):
            if name in seen:
                lines.append(f"{label}: {listed(seen[name].split())}")
    lines += trick_lines(tricks(text, _COMPASS, 4))
    if "N" in seen:
        lines.append(per_player("Points", [seen[name] for name in _COMPASS], view))
    return tuple(lines)


def _oh_hell_name(name: str) -> str:
    return f"bid {name}" if name.isdigit() else rank_first(name)


def _oh_hell(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.information
    seen = fields(text)
    bids, won = numbers(seen["Bids"]), numbers(seen["Tricks Won"])
    own = re.search(rf"Player: {view.player}\n((?: +[CDHS]:.*\n)*)", text)
    hand = "Your hand" if "Phase" not in seen else "Your hand at the start"
    return (
        f"Tricks in this match: {seen['Num Total Tricks']}",
        f"Dealer: {seat(int(seen['Dealer']), view)}",
        f"Trump: {SUITS[seen['Trump'][0]]} ({rank_first(seen['Trump'])} is turned up)",
        f"{hand}: {listed(suits(own[1] if own else ''))}",
        *trick_lines(tricks(text, [str(player) for player in range(len(bids))], len(bids))),
        per_player("Bids", ["none yet" if bid < 0 else bid for bid in bids], view),
        per_player("Tricks won", won, view),
    )


def _spades_name(name: str) -> str:
    return f"bid {name}" if name.isdigit() or name == "Nil" else rank_first(name)


def _spades(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.observation
    rows = re.search(r"^North East +South +West *\n(.*)$", text, re.MULTILINE)
    bids = re.findall(r"Nil|\d+", rows[1]) if rows else []
    won = re.search(r"Tricks taken:\s+North East +South +West\n(.*)", text)
    lines = [] if _is_over(text) else [_hand(text)]
    lines.append(per_player("Bids", bids, view) if bids else "Bids: none")
    lines += trick_lines(tricks(text, _COMPASS, 4))
    if won:
        lines.append(per_player("Tricks won", numbers(won[1]), view))
    score = re.search(r"Score: N/S (\S+) E/W (\S+)", text)
    if score:
        lines.append(f"Score: {score[1]} for player_0 and player_2, {score[2]} for player_1 and player_3")
    return tuple(lines)


RENDERINGS: Mapping[str, Rendering] = {
    "hearts": Rendering(_hearts),
    "oh_hell": Rendering(_oh_hell, _oh_hell_name),
    "spades": Rendering(_spades, _spades_name),
}
