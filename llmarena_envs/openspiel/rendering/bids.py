"""Renderings of games of sealed bids."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import Move, SpielView
from llmarena_envs.openspiel.rendering.reading import fields, listed, numbers, per_player, seat, turns
from llmarena_envs.openspiel.rendering.rendering import Rendering


def _bid(name: str) -> str:
    """Returns ``bid 4`` for a name that ends with the number 4."""
    found = re.search(r"\d+$", name)
    return f"bid {found[0]}" if found else name


def _rounds(view: SpielView, players: int) -> list[tuple[Move, ...]]:
    """Returns the public moves by round; every player acts once in a round."""
    return [view.moves[start : start + players] for start in range(0, len(view.moves), players)]


def _named(moves: tuple[Move, ...]) -> str:
    return turns([(move.player, _bid(move.name)) for move in moves])


def _goofspiel(view: SpielView, language: str) -> tuple[Part, ...]:
    seen, past = fields(view.observation), fields(view.information)
    points = numbers(seen["Points"])
    winners = numbers(seen["Win sequence"])
    prizes = numbers(past["Point card sequence"])
    hands = {player: numbers(seen[f"P{player} hand"]) for player in range(len(points)) if f"P{player} hand" in seen}
    cards = len(hands[view.player]) + len(winners)
    bids = _rounds(view, len(points))
    lines = []
    for number, (prize, winner) in enumerate(zip(prizes, winners, strict=False)):
        shown = f"{_named(bids[number])}, " if number < len(bids) else ""
        result = f"{seat(winner, view)} wins it" if winner >= 0 else "a tie, discarded"
        lines.append(f"Round {number + 1}: prize {prize}, {shown}{result}")
    if len(prizes) > len(winners):
        lines.append(f"Prize of this round: {prizes[-1]}")
    coming = sorted(set(range(1, cards + 1)) - set(prizes))
    return (
        *lines,
        f"Prizes still to come, in unknown order: {listed(coming)}",
        *[f"Bid cards of {seat(player, view)}: {listed(hand)}" for player, hand in hands.items()],
        per_player("Points", points, view),
    )


def _blotto(view: SpielView, language: str) -> tuple[Part, ...]:
    if not view.moves:
        return ("No choices yet: all players choose at the same time.",)
    return (f"Choices: {turns(view.moves)}",)


def _auction(view: SpielView, language: str) -> tuple[Part, ...]:
    value, *bid = numbers(view.information.partition("val")[2])
    return (f"The object is worth {value} to you.", *[f"Your bid: {amount}" for amount in bid])


def _oshi_zumo(view: SpielView, language: str) -> tuple[Part, ...]:
    coins, _, field = view.observation.strip().partition(", Field: ")
    position, middle = field.index("W"), len(field) // 2
    if position == middle:
        place = "in the middle"
    elif position in (0, len(field) - 1):
        place = f"pushed off the edge of player_{0 if position == 0 else 1}"
    else:
        place = f"{abs(position - middle)} from the middle, on the side of player_{0 if position < middle else 1}"
    rounds = [f"Round {number}: {_named(moves)}" for number, moves in enumerate(_rounds(view, 2), 1)]
    return (
        *rounds,
        per_player("Coins", numbers(coins), view),
        f"Field, from the edge of player_0 to the edge of player_1: {field}",
        f"The wrestler (W) is {place}; {middle} from the middle is off the edge.",
    )


RENDERINGS: Mapping[str, Rendering] = {
    "blotto": Rendering(_blotto, shows_moves=True),
    "first_sealed_auction": Rendering(_auction, _bid),
    "goofspiel": Rendering(_goofspiel, _bid, shows_moves=True),
    "oshi_zumo": Rendering(_oshi_zumo, _bid, shows_moves=True),
}
