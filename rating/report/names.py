"""Long names of policies, cut where there is no room for them."""

from collections.abc import Sequence

from rich.cells import cell_len

GAP = ".."


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Cuts names in the middle, where they differ least, so that those that differ still do.

    Args:
        names: of policies, one a row.
        width: columns of a terminal for each; at least 8. Names that fit stay whole.
    """
    middle = (width - len(GAP)) // 2
    for head in sorted(range(1, width - len(GAP)), key=lambda head: abs(head - middle)):
        cut = [_cut(name, head, width) for name in names]
        if len(set(cut)) == len(set(names)):
            return cut
    return _numbered(names, width)


def _numbered(names: Sequence[str], width: int) -> list[str]:
    """Cuts names and tells those apart by numbers that are the same otherwise."""
    room = width - len(f"#{len(names)}")
    numbers = {name: f"#{number}" for number, name in enumerate(dict.fromkeys(names), 1)}
    return [name if cell_len(name) <= width else _cut(name, room // 2, room) + numbers[name] for name in names]


def _cut(name: str, head: int, width: int) -> str:
    if cell_len(name) <= width:
        return name
    beginning = _fitting(name, head)
    return beginning + GAP + _fitting(name[::-1], width - len(GAP) - cell_len(beginning))[::-1]


def _fitting(text: str, width: int) -> str:
    """Returns the beginning of a text that fits into ``width`` columns."""
    used = 0
    for end, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:end]
    return text
