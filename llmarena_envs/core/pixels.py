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
    """Renders an SVG drawing with the fonts bundled with Matplotlib.

    Other letters, such as Chinese ones, are drawn with the fonts of this machine, and are missing if it has none.

    Returns:
        Red, green and blue from 0 to 255, of shape (height, width, 3).

    Raises:
        DependencyNotInstalled: if the extra ``pictures`` is not installed.
    """
    try:
        import resvg_py
        from PIL import Image
    except ImportError as error:
        raise DependencyNotInstalled(
            'render_mode="rgb_array" needs a package to draw with; install it with: pip install "llmarena-envs[pictures]"'
        ) from error
    png = resvg_py.svg_to_bytes(
        svg_string=svg.replace(FONT, "sans-serif").replace(MONOSPACE, "monospace"),
        background="#ffffff",
        font_files=_font_files(),
        sans_serif_family="DejaVu Sans",
        monospace_family="DejaVu Sans Mono",
    )
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))


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
