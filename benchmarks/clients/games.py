"""Environments for the libraries: every environment in each of its forms, with the nearest one of PettingZoo's own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from llmarena_envs.catalogue import CATALOGUE, NAMES, load_environment

VECTOR = "vector"
TEXT = "text"
PARALLEL = "parallel"
FORMS = (VECTOR, TEXT, PARALLEL)
"""Numeric observations with a mask; texts; numeric observations with all agents moving at once."""

ALL = NAMES
"""Every environment."""

TEXT_ACTIONS = (
    "bargain_v0",
    "undercover_v0",
    "idiom_solitaire_v0",
    "writer_editor_v0",
    "debate_v0",
    "simulation_v0",
)
"""Environments whose actions are texts in the form ``text``."""

Make = Callable[..., Any]
"""Makes an environment; takes further options such as ``render_mode``."""

_PEERS = {
    "tictactoe_v0": "tictactoe_v3",
    "connect_four_v0": "connect_four_v3",
    "hanabi_v0": "hanabi_v5",
}
_SMALL_HANABI = {
    "players": 2, "colors": 2, "ranks": 5, "hand_size": 2, "max_information_tokens": 3, "max_life_tokens": 1,
}  # fmt: skip
_PEER_OPTIONS = {"hanabi_v5": _SMALL_HANABI}
_MASKED_PEER = "texas_holdem_no_limit_v6"
_PARALLEL_PEER = "rps_v2"


@dataclass(frozen=True)
class Subject:
    """An environment as a library is given it.

    Attributes:
        game: module name, e.g. ``tictactoe_v0``.
        form: one of ``FORMS``.
        peer: name of the environment of PettingZoo that resembles it most, or ``""`` if none has such observations.
    """

    game: str
    form: str
    peer: str

    def make(self, **options: Any) -> Any:
        """Makes the environment."""
        module = import_module(f"llmarena_envs.{self.game}")
        if self.form == PARALLEL:
            return module.parallel_env(obs_type="vector", **options)
        return module.env(obs_type=self.form, **options)

    def make_peer(self, **options: Any) -> Any:
        """Makes PettingZoo's environment."""
        module = import_module(f"pettingzoo.classic.{self.peer}")
        make = module.parallel_env if self.form == PARALLEL else module.env
        return make(**_PEER_OPTIONS.get(self.peer, {}), **options)


def subjects(form: str, only: Sequence[str] = ()) -> list[Subject]:
    """Returns all environments that have a form, in the order of the catalogue.

    Args:
        form: one of ``FORMS``.
        only: names of environments to keep; all of them by default.
    """
    entries = [entry for entry in CATALOGUE if not only or entry.name in only]
    if form == TEXT:
        return [Subject(entry.name, form, "") for entry in entries]
    if form == PARALLEL:
        return [Subject(entry.name, form, _PARALLEL_PEER) for entry in entries if entry.simultaneous]
    return [
        Subject(entry.name, form, _PEERS.get(entry.name, _MASKED_PEER))
        for entry in entries
        if "vector" in load_environment(entry.name).obs_types
    ]
