"""The screenshots of the documentation, without the one of the site (it needs the tools that build the site)."""

import struct

import pytest

from site_builder import screenshots

MOST_BYTES = 250_000
MOST_SHEET_BYTES = 150_000


@pytest.mark.parametrize("take", [screenshots.play, screenshots.board, screenshots.answer, screenshots.report])
def test_a_screenshot_is_taken_and_small(take, browser, tmp_path):
    picture = tmp_path / "picture.png"
    take(browser, picture)
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (screenshots.WIDTH, screenshots.HEIGHT)
    assert 30_000 < len(data) < MOST_BYTES  # a page without its content takes less


def test_every_tab_of_a_report_is_taken_in_both_themes_and_sizes(browser, tmp_path):
    sheets = screenshots.tabs(browser, tmp_path, tmp_path)
    assert len(sheets) == 4 and all(30_000 < sheet.stat().st_size < MOST_SHEET_BYTES for sheet in sheets)
    names = {path.name.partition("-")[0] for path in tmp_path.iterdir() if path not in sheets}
    assert names == {"games", "pairs", "judges", "failures", "cost", "matches", "methods"}
    singles = [path.read_bytes() for path in tmp_path.iterdir() if path not in sheets]
    assert len(singles) == 28 and len({*singles}) == 28
