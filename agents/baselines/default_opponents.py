"""Default co-players of a human player."""

from collections.abc import Mapping

from llmarena_envs.catalogue import module_name
from llmarena_envs.core.declaration import role_of

_OPPONENTS: Mapping[str, Mapping[str, str]] = {
    "tictactoe_v0": {"player": "minimax"},
    "connect_four_v0": {"player": "minimax"},
    "holdem_v0": {"player": "strength"},
    "bargain_v0": {"player": "concession"},
    "bid_v0": {"player": "half"},
    "undercover_v0": {"player": "similarity"},
    "hanabi_v0": {"player": "convention"},
    "public_goods_v0": {"player": "conditional_cooperator"},
    "idiom_solitaire_v0": {"player": "common", "judge": "common"},
    "writer_editor_v0": {"writer": "fixer", "editor": "fixer", "judge": "rubric"},
    "debate_v0": {"examiner": "examiner", "debater": "debater", "judge": "honest"},
    "simulation_v0": {"user": "user", "simulator": "flawed", "judge": "exact"},
}


def default_opponent(environment: str, agent: str) -> str:
    """Returns the default baseline for ``agent`` next to a human player; ``random`` for third-party games.

    Args:
        environment: e.g. ``connect_four_v0``.
        agent: e.g. ``player_1``.
    """
    return _OPPONENTS.get(module_name(environment), {}).get(role_of(agent), "random")
