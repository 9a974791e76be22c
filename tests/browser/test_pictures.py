"""The screenshots of the documentation, without the one of the site (it needs the tools that build the site)."""

import struct

import pytest

from site_builder import screenshots

MOST_BYTES = 250_000


@pytest.mark.parametrize("take", [screenshots.play, screenshots.board, screenshots.answer, screenshots.report])
def test_a_screenshot_is_taken_and_small(take, browser, tmp_path):
    picture = tmp_path / "picture.png"
    take(browser, picture)
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (screenshots.WIDTH, screenshots.HEIGHT)
    assert 30_000 < len(data) < MOST_BYTES  # a page without its content takes less
