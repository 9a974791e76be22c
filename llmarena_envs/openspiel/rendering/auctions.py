"""Renderings of card games that begin with an auction."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.playing_cards import by_suit, rank_first
from llmarena_envs.openspiel.rendering.reading import alternating, listed, numbers, seat, turns
from llmarena_envs.openspiel.rendering.rendering import Rendering

_SEATS = ("North", "East", "South", "West")
_SYMBOLS = {"♣": "C", "♦": "D", "♥": "H", "♠": "S"}
_SKAT_SUITS = {0xA: "S", 0xB: "H", 0xC: "D", 0xD: "C"}
_SKAT_RANKS = {1: "A", 10: "T", 11: "J", 13: "Q", 14: "K"}
_SKAT_CARD = re.compile("[\U0001f0a1-\U0001f0de]")
_DIZHU_RANKS = ("3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2", "black joker", "red joker")


def _bridge_name(name: str) -> str:
    for symbol, letter in _SYMBOLS.items():
        name = name.replace(symbol, letter)
    return {"Dbl": "Double", "RDbl": "Redouble"}.get(name, name)


def _bridge(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.information
    held = re.search(r"you hold:\n((?:[♣♦♥♠].*\n)*)", text)
    dealer = re.search(r"Dealer (\w+)", text)
    vulnerable = re.search(r"Vul: (.*)", text)
    first = _SEATS.index(dealer[1]) if dealer else 0
    lines = [
        f"You are {_SEATS[view.player]}; your partner is player_{(view.player + 2) % 4}.",
        f"Dealer: {seat(first, view)}",
        f"Vulnerable: {vulnerable[1].lower() if vulnerable else 'none'}",
    ]
    if held:
        lines.append(f"Your hand: {by_suit(_bridge_cards(held[1]))}")
    table = re.search(r"^West  North East  South\n((?:.*\S.*\n?)*)", text, re.MULTILINE)
    calls = re.findall(r"Pass|R?Dbl|\d(?:NT|[♣♦♥♠])", table[1]) if table else []
    past = [((first + number) % 4, _bridge_name(call)) for number, call in enumerate(calls)]
    lines.append(f"Calls: {turns(past)}")
    result = re.search(r"Declarer tricks: (\d+)\n.*Score: N/S (\S+) E/W (\S+)", text)
    if result:
        lines.append(f"Tricks of the declarer: {result[1]}")
        lines.append(f"Score: {result[2]} for player_0 and player_2, {result[3]} for player_1 and player_3")
    return tuple(lines)


def _bridge_cards(text: str) -> list[str]:
    rows = [(line[0], line[1:].replace("none", "").replace("10", "T").split()) for line in text.splitlines()]
    return [rank + _SYMBOLS[symbol] for symbol, ranks in rows for rank in ranks]


def _tiny_bridge(view: SpielView, language: str) -> tuple[Part, ...]:
    hand, *auction = view.information.split()
    calls = auction[-1].split("-") if auction else []
    return (
        f"Your hand: {listed(card[1] + card[0] for card in (hand[:2], hand[2:]))}",
        f"Calls: {turns(alternating(calls, 2))}",
    )


def _skat_name(name: str) -> str:
    return "pass" if name == "unknown/pass" else rank_first(name)


def _skat_cards(text: str) -> list[str]:
    codes = [ord(symbol) - 0x1F000 for symbol in _SKAT_CARD.findall(text)]
    return [_SKAT_RANKS.get(code % 16, str(code % 16)) + _SKAT_SUITS[code // 16] for code in codes]


def _skat_trick(text: str) -> str:
    leader = numbers(text)[0]
    return turns([((leader + place) % 3, card) for place, card in enumerate(_skat_cards(text))])


def _skat(view: SpielView, language: str) -> tuple[Part, ...]:
    parts = view.observation.split("|")
    seen = {name: value for name, _, value in (part.partition(":") for part in parts)}
    solo = int(seen["SoloPl"])
    lines = [f"Phase: {seen['Phase']}", f"Your hand: {by_suit(_skat_cards(seen['Hand']))}"]
    if solo < 0:
        lines.append("No player has chosen a game.")
    else:
        lines.append(f"{seat(solo, view)} plays alone; the game is {seen['Game']}.")
    skat = _skat_cards(seen["Skat"])
    if skat:
        lines.append(f"Cards in the skat: {listed(skat)}")
    for part in parts:
        name, _, value = part.partition("(Leader:")
        if name in ("CurrTrick", "PrevTrick") and _skat_cards(value):
            lines.append(f"{'Current' if name == 'CurrTrick' else 'Previous'} trick: {_skat_trick(value)}")
    return tuple(lines)


def _dizhu_name(name: str) -> str:
    return name.replace("(BWJ)", "B").replace("(CJ)", "R")


def _dou_dizhu(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.observation
    hand = _dizhu_name(re.search(r"My hand (.*)", text)[1])  # type: ignore[index]
    played = _dizhu_name(re.search(r"Played cards (.*)", text)[1])  # type: ignore[index]
    upcard, first, position = numbers(text[text.index("face up") :])
    lines = [
        f"Your hand: {' '.join(hand) or 'none'} ({len(hand)} cards)",
        f"Cards played by all players: {' '.join(played) or 'none'}",
        f"Card turned up in the deal: {_DIZHU_RANKS[upcard]}; player_{first} bids first.",
    ]
    if played or len(hand) > 17:
        lines.append(f"Landlord: {seat((view.player - position) % 3, view)}")
    return tuple(lines)


RENDERINGS: Mapping[str, Rendering] = {
    "bridge": Rendering(_bridge, _bridge_name),
    "dou_dizhu": Rendering(_dou_dizhu, _dizhu_name),
    "skat": Rendering(_skat, _skat_name),
    "tiny_bridge_2p": Rendering(_tiny_bridge),
}
