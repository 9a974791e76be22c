"""Shortening of long policy names."""

from collections.abc import Sequence

from rich.cells import cell_len

GAP = ".."

_MOST_PILED = 4
"""Maximum consecutive zero-width characters. No letter of a natural script has more."""


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Cuts names in the middle. Different names stay different.

    Args:
        names: policy names, one per row.
        width: terminal columns per name, at least 8. Names that fit are not cut, except for stacked accents.
    """
    low = [_lowered(name) for name in names]
    middle = (width - len(GAP)) // 2
    for head in sorted(range(1, width - len(GAP)), key=lambda head: abs(head - middle)):
        cut = [_cut(name, head, width) for name in low]
        if len(set(cut)) == len(set(names)):
            return cut
    return _numbered(names, low, width)


def _lowered(name: str) -> str:
    """Removes excess zero-width characters: stacked accents would overlap the lines above and below."""
    kept: list[str] = []
    pile = 0
    for character in name:
        pile = pile + 1 if cell_len(character) == 0 else 0
        if pile <= _MOST_PILED:
            kept.append(character)
    return "".join(kept)


def _numbered(names: Sequence[str], low: Sequence[str], width: int) -> list[str]:
    """Cuts names and appends numbers to keep different names different."""
    room = width - len(f"#{len(names)}")
    numbers = {name: f"#{number}" for number, name in enumerate(dict.fromkeys(names), 1)}
    return [
        name if name == kept and cell_len(name) <= width else _cut(kept, room // 2, room) + numbers[name]
        for name, kept in zip(names, low, strict=True)
    ]


def _cut(name: str, head: int, width: int) -> str:
    if cell_len(name) <= width:
        return name
    beginning = _fitting(name, head)
    return beginning + GAP + _fitting(name[::-1], width - len(GAP) - cell_len(beginning))[::-1]


def _fitting(text: str, width: int) -> str:
    """Returns the longest beginning of a text that fits into ``width`` columns."""
    used = 0
    for end, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:end]
    return text
