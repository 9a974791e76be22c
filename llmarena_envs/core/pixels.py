"""SVG drawings as pixel arrays, for libraries that record or show images."""

import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from llmarena_envs.core.svg import FONT, MONOSPACE

_FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf")


def pixels_of(svg: str) -> NDArray[np.uint8]:
    """Renders an SVG drawing as ``png_of`` does.

    Returns:
        Red, green and blue from 0 to 255, of shape (height, width, 3).

    Raises:
        DependencyNotInstalled: if the extra ``pictures`` is not installed.
    """
    png = png_of(svg)
    from PIL import Image

    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))


def png_of(svg: str, zoom: float = 1.0) -> bytes:
    """Renders an SVG drawing with the fonts bundled with Matplotlib, and returns a PNG image.

    Other letters, such as Chinese ones, are drawn with the fonts of this machine, and are missing if it has none.

    Args:
        svg: the drawing.
        zoom: pixels of the image per pixel of the drawing.

    Raises:
        DependencyNotInstalled: if the extra ``pictures`` is not installed.
    """
    if not has_pictures():
        raise DependencyNotInstalled(
            'render_mode="rgb_array" needs a package to draw with; install it with: pip install "llmarena-envs[pictures]"'
        )
    import resvg_py

    png: bytes = resvg_py.svg_to_bytes(
        svg_string=svg.replace(FONT, "sans-serif").replace(MONOSPACE, "monospace"),
        background="#ffffff",
        zoom=zoom,
        font_files=_font_files(),
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
    )
    return png


def has_pictures() -> bool:
    """Returns whether the extra ``pictures`` is installed."""
    return find_spec("resvg_py") is not None and find_spec("PIL") is not None


@cache
def _font_files() -> list[str]:
    """Returns the font files bundled with Matplotlib, without importing it; empty if it is not installed."""
    found = find_spec("matplotlib")
    folders = (
        [Path(place) / "mpl-data" / "fonts" / "ttf" for place in found.submodule_search_locations or ()]
        if found
        else []
    )
    return [str(folder / name) for folder in folders for name in _FONTS if (folder / name).is_file()]
