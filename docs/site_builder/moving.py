"""A moving picture: the positions of a match as one SVG that plays by itself, without a script."""

import itertools
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter

from llmarena_envs.core.svg import xml_text

_NAMESPACE = "http://www.w3.org/2000/svg"
_STEP = 0.7
"""Seconds that a position is shown."""
_REST = 5.0
"""Seconds that the last one is shown."""
_TIMES = 3
"""How often the match is shown before its last position stays."""

REDUCED_MOTION = "--force-prefers-reduced-motion"
"""Chromium flag for reduced motion: the picture shows the last position only."""

# With reduced motion, or without animation support, only the last position is visible.
_STYLE = (
    "@media (prefers-reduced-motion: reduce) { .kept { visibility: visible !important }"
    " .gone { visibility: hidden !important } }"
)

_Part = tuple[str, int]
"""An element of a picture as it is written, and how many like it stand before it."""


def moving_picture(pictures: Sequence[str], title: str, description: str) -> str:
    """Returns one SVG that shows several pictures as an animation.

    It contains a style sheet, so embed it as an image, not inline.

    Args:
        pictures: SVG of the same size; equal parts must have equal markup.
        title: title of the animation.
        description: text alternative.

    Raises:
        graphlib.CycleError: if two parts are stacked in different orders in different pictures.
    """
    ET.register_namespace("", _NAMESPACE)
    roots = [ET.fromstring(picture) for picture in pictures]
    shown = [[*_parts(root)] for root in roots]
    order = _merged(shown)
    frames = [frozenset(parts) for parts in shown]
    words = f"<title>{xml_text(title)}</title><desc>{xml_text(description)}</desc><style>{_STYLE}</style>"
    body = "".join(
        _animated("".join(text for text, _ in parts), pattern)
        for pattern, parts in itertools.groupby(order, lambda part: tuple(part in frame for frame in frames))
    )
    opening = _written(roots[0]).partition(">")[0]
    return f'{opening} xmlns="{_NAMESPACE}">{words}{body}</svg>\n'


def _parts(root: ET.Element) -> Iterator[_Part]:
    """Yields the parts of a picture, with plain groups flattened."""
    seen: Counter[str] = Counter()
    for element in _leaves(root):
        text = _written(element)
        yield text, seen[text]
        seen[text] += 1


def _leaves(root: ET.Element) -> Iterator[ET.Element]:
    for child in root:
        tag = child.tag.removeprefix(f"{{{_NAMESPACE}}}")
        if tag == "g" and not child.attrib:
            yield from _leaves(child)
        elif tag not in ("title", "desc"):
            yield child


def _merged(frames: Sequence[Sequence[_Part]]) -> list[_Part]:
    """Returns every part once, in an order consistent with each frame's."""
    order: TopologicalSorter[_Part] = TopologicalSorter()
    for frame in frames:
        for before, part in itertools.pairwise(frame):
            order.add(part, before)
    return [*order.static_order()]


def _animated(text: str, pattern: tuple[bool, ...]) -> str:
    """Returns elements with a common visibility pattern, animated unless they are always visible."""
    if all(pattern):
        return text
    whole = _STEP * (len(pattern) - 1) + _REST
    changes = [place for place in range(len(pattern)) if place == 0 or pattern[place] != pattern[place - 1]]
    values = ";".join("visible" if pattern[place] else "hidden" for place in changes)
    times = ";".join(f"{_STEP * place / whole:.4g}" for place in changes)
    kept = 'class="kept"' if pattern[-1] else 'class="gone" visibility="hidden"'
    return (
        f'<g {kept}>{text}<animate attributeName="visibility" values="{values}" keyTimes="{times}" dur="{whole:g}s"'
        f' calcMode="discrete" repeatCount="{_TIMES}" fill="freeze"/></g>'
    )


def _written(element: ET.Element) -> str:
    return ET.tostring(element, encoding="unicode").replace(f' xmlns="{_NAMESPACE}"', "").strip()
