"""Pictures as arrays of pixels, for libraries that record or show images."""

import io

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray


def pixels_of(svg: str) -> NDArray[np.uint8]:
    """Draws an SVG picture with the fonts of this machine: letters differ by a few pixels from one machine to the next.

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
    image = Image.open(io.BytesIO(resvg_py.svg_to_bytes(svg_string=svg, background="#ffffff")))
    return np.array(image.convert("RGB"))
