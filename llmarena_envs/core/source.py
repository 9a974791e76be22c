"""Sources of an environment's data, and tools that measure or run beside the game."""

from typing import NamedTuple


class Source(NamedTuple):
    """Data of a package, of this project, or of a user's file; or a tool, e.g. the sandbox of programs.

    Attributes:
        name: name of the package, file or tool.
        version: version of the package, or the tool's protections in force; empty for a file.
        licence: its licence; empty if unknown.
        size: number of items; ``None`` for a tool.
    """

    name: str
    version: str
    licence: str
    size: int | None = None

    def description(self) -> str:
        """Returns version, licence and size, e.g. ``1.2.0, CC BY-SA 4.0, 4764 items``."""
        items = "" if self.size is None else f"{self.size} items"
        return ", ".join([part for part in (self.version, self.licence, items) if part])
