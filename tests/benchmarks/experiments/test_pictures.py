"""Pictures: the same bytes for the same figures, names as they are, and a word where no font has them."""

import pytest

from benchmarks.experiments.pictures import estimates, plain, save
from rating.stats.estimates import Estimate

ROWS = {"random": Estimate(0.5, 0.25, 0.75, 12, 12), "a$b$ & <c>": Estimate(0.1, None, None, 1, 1), "nobody": None}


def saved(folder, rows=ROWS):
    folder.mkdir()
    return save(estimates(rows, "wins, %", lines={"chance": 0.6}), folder / "picture")


def test_the_same_figures_give_the_same_bytes(tmp_path):
    first, second = saved(tmp_path / "first"), saved(tmp_path / "second")
    assert [path.name for path in first] == ["picture.png", "picture.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    svg = first[1].read_text()
    assert "a$b$ &amp; &lt;c&gt;" in svg
    assert "nobody" not in svg
    assert "chance" in svg


def test_a_long_name_keeps_its_beginning_and_its_end():
    assert plain("openai:" + "x" * 100 + "-instruct", 20) == "openai:xxx…x-instruct"
    assert plain("$5") == r"\$5"


@pytest.fixture
def no_other_font(monkeypatch):
    from benchmarks.experiments import pictures

    monkeypatch.setitem(pictures._STYLE, "font.family", ["DejaVu Sans"])


def test_characters_without_a_font_are_noted_and_kept_in_svg(tmp_path, capsys, no_other_font):
    png, svg = saved(tmp_path / "chinese", {"通义千问": Estimate(0.5, 0.25, 0.75, 12, 12)})
    assert f"{png}: no font has all of its characters" in capsys.readouterr().err
    assert "通义千问" in svg.read_text()
