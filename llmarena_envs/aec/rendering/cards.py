"""Renderings of leduc hold'em, Texas hold'em and hanabi."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from llmarena_envs.aec.rendering.rendering import Rendering
from llmarena_envs.core.grid import Part

_LIMIT = ("call", "raise", "fold", "check")
_NO_LIMIT = ("fold", "", "raise half pot", "raise pot", "all in")
_COLOURS = {"R": "red", "Y": "yellow", "G": "green", "W": "white", "B": "blue"}


def _chips(env: Any, chips: Sequence[int]) -> str:
    return ", ".join(f"{agent} {int(count)}" for agent, count in zip(env.possible_agents, chips, strict=True))


def _state(env: Any, agent: str) -> dict[str, Any]:
    state: dict[str, Any] = env.env.game.get_state(env.possible_agents.index(agent))
    return state


def _leduc(env: Any, agent: str) -> tuple[Part, ...]:
    """Returns the cards without their suits, which PettingZoo does not show."""
    state = _state(env, agent)
    public = state["public_card"]
    return (
        f"Your card: {state['hand'][1]}",
        f"Public card: {public[1] if public else 'not yet dealt'}",
        f"Chips in the pot: {_chips(env, state['all_chips'])}",
    )


def _card(card: str) -> str:
    return f"{card[1]}{card[0].lower()}"


def _holdem(env: Any, agent: str) -> tuple[Part, ...]:
    state = _state(env, agent)
    lines = [
        f"Your cards: {' '.join(map(_card, state['hand']))}",
        f"Community cards: {' '.join(map(_card, state['public_cards'])) or 'none yet'}",
        f"Chips in the pot: {_chips(env, state['all_chips'])}",
    ]
    if "stakes" in state:
        lines.append(f"Chips left: {_chips(env, state['stakes'])}")
    else:
        lines.append(f"Raises in each betting round: {', '.join(map(str, state['raise_nums']))}")
    return tuple(lines)


def _bets(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple([_LIMIT[action] for action in actions])


def _free_bets(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    raised = env.env.game.round.raised
    names = (
        *_NO_LIMIT[:1],
        "call" if max(raised) > raised[env.possible_agents.index(agent)] else "check",
        *_NO_LIMIT[2:],
    )
    return tuple([names[action] for action in actions])


def _hanabi(env: Any, agent: str) -> tuple[Part, ...]:
    """Returns OpenSpiel's text, with the hands named and their cards numbered."""
    agents = env.possible_agents
    own = agents.index(agent)
    lines: list[str] = []
    hand, position, in_hands = 0, 0, False
    for line in env.hanabi_env.game_state.observation_string(own).strip().splitlines():
        if line == "Hands:":
            in_hands = True
            lines.append(f"Cards of {agent} (you):")
        elif line == "-----":
            hand, position = hand + 1, 0
            lines.append(f"Cards of {agents[(own + hand) % len(agents)]}:")
        elif in_hands and "||" in line:
            lines.append(f"  {position}: {_hinted(line)}")
            position += 1
        elif line != "Cur player":
            in_hands = False
            lines.append(line.strip())
    return tuple(lines)


_CARD = re.compile(r"(\w\w) \|\| (\w\w)\|([A-Z]*)(\d*)")


def _hinted(line: str) -> str:
    match = _CARD.match(line)
    if match is None:
        return line
    card, _, colours, ranks = match.groups()
    shown = "unknown" if card == "XX" else card
    return f"{shown}; from hints: colour {' '.join(colours)}, rank {' '.join(ranks)}"


def _tricks(env: Any, agent: str, actions: tuple[int, ...]) -> tuple[str, ...]:
    state, agents = env.hanabi_env.game_state, env.possible_agents
    own = agents.index(agent)
    names = []
    for action in actions:
        words = state.action_to_string(own, action).strip("()").split()
        if words[0] == "Reveal":
            target = agents[(own + int(words[2])) % len(agents)]
            what = _COLOURS[words[4]] if words[3] == "color" else words[4]
            names.append(f"tell {target} {what}")
        else:
            names.append(f"{words[0].lower()} {words[1]}")
    return tuple(names)


RENDERINGS: Mapping[str, Rendering] = {
    "pettingzoo.classic.leduc_holdem_v4": Rendering(_leduc, _bets),
    "pettingzoo.classic.texas_holdem_v4": Rendering(_holdem, _bets),
    "pettingzoo.classic.texas_holdem_no_limit_v6": Rendering(_holdem, _free_bets),
    "pettingzoo.classic.hanabi_v5": Rendering(_hanabi, _tricks),
}
