"""Renderings of games of messages, bribes, trades and hidden roles."""

import re
from collections.abc import Mapping

from llmarena_envs.core.grid import Grid, Part
from llmarena_envs.openspiel.game import SpielView
from llmarena_envs.openspiel.rendering.reading import fields, listed, numbers, seat, turns
from llmarena_envs.openspiel.rendering.rendering import Rendering


def _sheriff_name(name: str) -> str:
    if name.startswith("Inspection"):
        return "inspect" if "True" in name else "let pass"
    return f"{'load' if name.startswith('Place') else 'bribe'} {numbers(name)[0]}"


def _sheriff(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.information
    loaded = re.search(r"num_illegal_items:(\d+)", text)
    bribes = re.findall(r"bribe:(\d+)", text)
    answers = re.findall(r"feedback:(\d)", text)
    lines = [f"Illegal items in your cargo: {loaded[1] if loaded else 'not chosen'}"] if view.player == 0 else []
    if not bribes:
        lines.append("No bribe has been offered.")
    for number, bribe in enumerate(bribes):
        answer = ", no answer yet"
        if number < len(answers):
            answer = f", player_1 says {'inspect' if answers[number] == '1' else 'let pass'}"
        lines.append(f"Round {number + 1}: player_0 offers {bribe}{answer}")
    return tuple(lines)


def _trade_name(name: str) -> str:
    values = numbers(name)
    return f"say {values[0]}" if name.startswith("Utter") else f"give {values[0]} get {values[1]}"


def _trade_comm(view: SpielView, language: str) -> tuple[Part, ...]:
    seen = fields(view.observation)
    said = [(number % 2, f"say {message}") for number, message in enumerate(numbers(seen["Comm history"]))]
    lines = [f"Your item: {seen['My item']}", f"Messages: {turns(said)}"]
    for name, label in (("Observer's trade offer", "Your trade"), ("Other players's trade offer", "The other trade")):
        if name in seen:
            give, get = numbers(seen[name])
            lines.append(f"{label}: give {give} get {get}")
    return tuple(lines)


def _lewis_name(name: str) -> str:
    return name.lower()


def _lewis(view: SpielView, language: str) -> tuple[Part, ...]:
    seen = fields(view.observation)
    if "State" in seen:
        return (f"You are the sender. The state is {seen['State']}.",)
    message = int(seen["Message"])
    return ("You are the receiver.", f"Message of the sender: {message if message >= 0 else 'none yet'}")


def _trails_name(name: str) -> str:
    trade = name.partition(": ")[2].rstrip(".")
    if "with proposer" in trade:
        return f"accept player_{trade[-1]}"
    if name.startswith("No Deal"):
        return "accept none"
    return "no trade" if trade.startswith("Pass") else f"give {trade.replace(' for ', ' get ')}"


def _colored_trails(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.observation
    seen = fields(text)
    rows = tuple([tuple(row) for row in re.findall(r"^[A-Z]+$", text, re.MULTILINE)])
    size = len(rows)
    *places, flag = [f"row {cell // size + 1}, column {cell % size + 1}" for cell in numbers(seen["Pos"])]
    names = tuple([str(number) for number in range(1, size + 1)])
    lines: list[Part] = [Grid(rows, names, names), f"Flag: {flag}"]
    lines += [f"Place of {seat(player, view)}: {place}" for player, place in enumerate(places)]
    for name, label in (
        ("My chips", "Your chips"),
        ("Responder chips", "Chips of player_2"),
        ("P0 chips", "Chips of player_0"),
        ("P1 chips", "Chips of player_1"),
    ):
        if name in seen:
            lines.append(f"{label}: {' '.join(seen[name])}")
    for player in (0, 1):
        if f"Proposal {player}" in seen:
            lines.append(f"Proposal of player_{player}: {_trails_name(': ' + seen[f'Proposal {player}'])}")
    return tuple(lines)


def _social_name(name: str) -> str:
    """Returns ``accuse player_3`` for ``ACCUSE_PLAYER_3`` and ``claim innocent`` for ``CLAIM_INNOCENT``."""
    return name.lower().replace("_", " ").replace("player ", "player_")


def _social_deduction(view: SpielView, language: str) -> tuple[Part, ...]:
    text = view.observation
    head, *rounds = re.split(r"^Round (?=\d)", text, flags=re.MULTILINE)
    seen = fields(head)
    lines = [f"Your role: {seen['Role'].lower()}"]
    if "ImposterTeam" in seen:
        lines.append(f"Imposters: {listed(f'player_{player}' for player in numbers(seen['ImposterTeam']))}")
    lines.append(f"Still in the game: {listed(seat(player, view) for player in numbers(seen['Alive']))}")
    for record in rounds:
        lines += _social_round(record)
    return tuple(lines)


def _social_round(record: str) -> list[str]:
    number, seen = int(numbers(record)[0]), fields(record)
    messages = re.findall(r"(\d+)=(\w+)", seen["Messages"])
    votes = re.findall(r"(\d+)->(\d+)", seen["Votes"])
    lines = [f"Round {number + 1}"]
    if "Signal" in seen:
        lines.append(f"- signal: {seen['Signal'].replace('player ', 'player_').replace(' ', ' is ', 1)}")
    if messages:
        lines.append(f"- messages: {turns([(int(player), _social_name(message)) for player, message in messages])}")
    if votes:
        lines.append(f"- votes: {listed(f'player_{voter} for player_{target}' for voter, target in votes)}")
    if "Eliminated" in seen:
        lines.append(f"- player_{seen['Eliminated']} is voted out.")
    return lines


RENDERINGS: Mapping[str, Rendering] = {
    "colored_trails": Rendering(_colored_trails, _trails_name),
    "lewis_signaling": Rendering(_lewis, _lewis_name),
    "sheriff": Rendering(_sheriff, _sheriff_name),
    "social_deduction": Rendering(_social_deduction, _social_name),
    "trade_comm": Rendering(_trade_comm, _trade_name),
}
