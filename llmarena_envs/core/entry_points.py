"""Entry points of installed distributions, read without imports."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_NOT_IN_NAMES = re.compile(r"[-_.]+")


class Entry(NamedTuple):
    """An entry point.

    Attributes:
        name: the part before the equals sign.
        value: the part after the equals sign.
        distribution: name and version of the distribution, e.g. ``iterated-dilemma 0.1.0``.
    """

    name: str
    value: str
    distribution: str


class Unreadable(NamedTuple):
    """A distribution whose entry points cannot be read.

    Attributes:
        distribution: its name and version.
        why: the exception.
    """

    distribution: str
    why: str


def find_entries(group: str) -> Iterator[Entry | Unreadable]:
    """Yields the entry points of a group; of distributions with the same name only the first counts, as for imports."""
    from importlib import metadata  # lazy: it would slow the import of every environment

    seen = set()
    for distribution in metadata.distributions():
        try:
            if group not in (distribution.read_text("entry_points.txt") or ""):
                continue
        except (OSError, UnicodeDecodeError):
            continue
        title = title_of(distribution)
        key = _NOT_IN_NAMES.sub("-", title.partition(" ")[0]).lower()
        if key in seen:
            continue
        seen.add(key)
        try:
            entries = [entry for entry in distribution.entry_points if entry.group == group]
        except Exception as error:  # the parser does not document its exceptions
            yield Unreadable(title, f"its entry_points.txt cannot be read ({type(error).__name__}: {error})")
            continue
        for entry in entries:
            yield Entry(entry.name, entry.value, title)


def title_of(distribution: "Distribution") -> str:
    """Returns name and version of a distribution."""
    name = distribution.metadata["Name"] or "a distribution without a name"
    return f"{name} {distribution.metadata['Version'] or ''}".rstrip()
