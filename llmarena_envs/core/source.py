"""Where the data come from that an environment is played with."""

from typing import NamedTuple


class Source(NamedTuple):
    """Data of a package, of this project, or of a user's file.

    Attributes:
        name: of the package or file.
        version: of the package; empty for a file.
        licence: its licence; empty if it is not known.
        size: number of items that it holds.
    """

    name: str
    version: str
    licence: str
    size: int

    def description(self) -> str:
        """Returns version, licence and size as people write them, e.g. ``1.2.0, CC BY-SA 4.0, 4764 items``."""
        return ", ".join([part for part in (self.version, self.licence, f"{self.size} items") if part])
