"""The catalogue of environments: names, abilities and how matches of each are rated."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class EnvironmentEntry:
    """One environment of the suite.

    Attributes:
        name: module name below ``llmarena_envs``, e.g. ``tictactoe_v0``.
        title: what a person calls the game.
        abilities: what the game asks of a player (LLMArena, arXiv 2402.16499, section 2.4).
        simultaneous: whether a ``parallel_env`` exists.
        enumerated: whether actions are numbers, so that the general baselines can play; otherwise they are texts.
        history: what a language model is sent by default: ``single_turn`` where a text holds the whole state, ``full`` where
            players talk or learn from earlier turns.
        rated_options: constructor options of rated matches; deterministic players would repeat one game without a random
            opening.
        fallback_unparsable: what is played in rated matches after the last reply without a move: ``forfeit``,
            ``random_legal`` or ``noop``.
        fallback_illegal: the same after a last reply whose move is not allowed.
        llmarena_reasks: how often a reply without a move is asked for again under the ``llmarena`` preset.
        rating: how policies are compared: ``skill`` (two players, rated by who wins), ``mean_reward``, ``cooperative``
            (all receive the same) or ``undercover`` (one seat has a role of its own).
    """

    name: str
    title: str
    abilities: tuple[str, ...]
    simultaneous: bool = False
    enumerated: bool = True
    history: str = "single_turn"
    rated_options: Mapping[str, Any] = field(default_factory=dict)
    fallback_unparsable: str = "random_legal"
    fallback_illegal: str = "forfeit"
    llmarena_reasks: int = 2
    rating: str = "skill"

    @property
    def registry_id(self) -> str:
        """The id for ``pettingzoo.make``, e.g. ``llmarena/tictactoe-v0``."""
        name, version = self.name.rsplit("_v", 1)
        return f"llmarena/{name}-v{version}"


CATALOGUE = (
    EnvironmentEntry(
        "tictactoe_v0",
        "Tic-tac-toe",
        ("strategic planning", "spatial reasoning"),
        rated_options={"random_opening": 2},
    ),
    EnvironmentEntry(
        "connect_four_v0",
        "Connect four",
        ("strategic planning", "spatial reasoning"),
        rated_options={"random_opening": 4},
    ),
    EnvironmentEntry(
        "holdem_v0",
        "Hold'em",
        ("numerical reasoning", "opponent modelling", "risk assessment"),
        fallback_illegal="random_legal",
    ),
    EnvironmentEntry(
        "bargain_v0",
        "Bargain",
        ("numerical reasoning", "communication", "opponent modelling"),
        enumerated=False,
        history="full",
        fallback_illegal="random_legal",
    ),
    EnvironmentEntry(
        "bid_v0",
        "Bid",
        ("numerical reasoning", "opponent modelling"),
        simultaneous=True,
        history="full",
        fallback_unparsable="noop",
        fallback_illegal="noop",
        llmarena_reasks=0,
        rating="mean_reward",
    ),
    EnvironmentEntry(
        "undercover_v0",
        "Undercover",
        ("communication", "opponent modelling", "team collaboration"),
        enumerated=False,
        history="full",
        fallback_unparsable="noop",
        fallback_illegal="noop",
        rating="undercover",
    ),
    EnvironmentEntry(
        "hanabi_v0",
        "Hanabi",
        ("team collaboration", "strategic planning", "numerical reasoning"),
        fallback_illegal="random_legal",
        rating="cooperative",
    ),
)


def find(name: str) -> EnvironmentEntry | None:
    """Returns the entry with this module name or registry id, or ``None`` for an environment of somebody else."""
    return next((entry for entry in CATALOGUE if name in (entry.name, entry.registry_id)), None)
