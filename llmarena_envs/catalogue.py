"""The catalogue of environments: names, abilities and how matches of each are scheduled."""

from dataclasses import dataclass


@dataclass(frozen=True)
class EnvironmentEntry:
    """One environment of the suite.

    Attributes:
        name: module name below ``llmarena_envs``, e.g. ``tictactoe_v0``.
        title: what a person calls the game.
        abilities: what the game asks of a player (LLMArena, arXiv 2402.16499, section 2.4).
        simultaneous: whether a ``parallel_env`` exists.
    """

    name: str
    title: str
    abilities: tuple[str, ...]
    simultaneous: bool = False

    @property
    def registry_id(self) -> str:
        """The id for ``pettingzoo.make``, e.g. ``llmarena/tictactoe-v0``."""
        name, version = self.name.rsplit("_v", 1)
        return f"llmarena/{name}-v{version}"


CATALOGUE = (
    EnvironmentEntry("tictactoe_v0", "Tic-tac-toe", ("strategic planning", "spatial reasoning")),
    EnvironmentEntry("connect_four_v0", "Connect four", ("strategic planning", "spatial reasoning")),
)
