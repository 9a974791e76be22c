"""Where the data come from that an environment is played with, and what measures beside the game."""

from typing import NamedTuple


class Source(NamedTuple):
    """Data of a package, of this project, or of a user's file; or a tool, e.g. the sandbox in which programs run.

    Attributes:
        name: of the package, file or tool.
        version: of the package, or what is in force of the tool; empty for a file.
        licence: its licence; empty if it is not known.
        size: number of items that it holds; ``None`` for a tool.
    """

    name: str
    version: str
    licence: str
    size: int | None = None

    def description(self) -> str:
        """Returns version, licence and size as people write them, e.g. ``1.2.0, CC BY-SA 4.0, 4764 items``."""
        items = "" if self.size is None else f"{self.size} items"
        return ", ".join([part for part in (self.version, self.licence, items) if part])
