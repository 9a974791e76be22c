"""The example match of each game's page: its players, and the position in the picture."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

SEED = 1


class Example(NamedTuple):
    """A match between scripted policies.

    Attributes:
        policies: spec of a policy by seat, or by role for seats that are not named.
        shown: number of the first turn that is shown, from 0; the picture is of the position before it.
        turns: how many turns are shown.
        options: of the environment, besides the language.
    """

    policies: Mapping[str, str]
    shown: int
    turns: int = 2
    options: Mapping[str, Any] = MappingProxyType({})


EXAMPLES = {
    "tictactoe_v0": Example({"player_0": "greedy", "player_1": "minimax"}, 4),
    "connect_four_v0": Example({"player_0": "greedy", "player_1": "minimax"}, 12),
    "holdem_v0": Example({"player_0": "strength", "player_1": "call"}, 4),
    "bargain_v0": Example({"player_0": "concession", "player_1": "fair"}, 2),
    "bid_v0": Example({"player_0": "half", "player_1": "truthful"}, 6, options={"rounds": 4}),
    "undercover_v0": Example({"player": "similarity"}, 4),
    "hanabi_v0": Example({"player": "convention"}, 6),
    "public_goods_v0": Example({"player_0": "free_rider", "player": "conditional_cooperator"}, 14),
    "idiom_solitaire_v0": Example({"player_0": "fewest", "player_1": "random"}, 4),
    "writer_editor_v0": Example({"player": "fixer", "writer": "fixer", "editor": "fixer", "judge": "rubric"}, 1),
    "debate_v0": Example({"debater": "debater:strength=3", "judge": "honest", "examiner": "examiner"}, 2),
    "simulation_v0": Example({"simulator": "perfect", "user": "user", "judge": "exact"}, 2),
}
