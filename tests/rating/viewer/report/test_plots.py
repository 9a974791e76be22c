"""Figures as files: safe names, replaced files and files of others."""

import json
import re
import sys
from pathlib import Path

import pytest

from rating.cli import main
from rating.errors import RunError
from rating.play import run_directory
from rating.schemes.figures import Intervals
from rating.viewer.report import figures
from rating.viewer.report.plots import Plot, file_names, write_plots
from rating.viewer.report.write import plots_directory, write_report
from tests.rating.viewer.report.test_report import RUN, directory
from tests.support.disks import read_only

__all__ = ["directory"]

FIGURE = figures.intervals(Intervals([("a", 1.0, 0.0, 2.0)], "rating"), "title")


def plots(*names, what="ratings"):
    return [Plot(name, what, FIGURE) for name in names]


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_file_names_of_hostile_environments_are_safe():
    hostile = (
        "../../etc/passwd",
        "a/b\\c:d",
        "通义",
        "",
        "..",
        "A",
        "a",
        "x" * 500,
        "-rf",
        "tictactoe_v0#hint",
        "a\x00\n",
    )
    names = file_names(plots(*hostile))
    assert len({name.lower() for name in names}) == len(names)
    for name in names:
        assert re.fullmatch(r"[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,118}", name)
    assert names[0] == "etc-passwd-ratings" and names[5:7] == ["A-ratings", "a-ratings-2"]


def test_write_plots_replaces_only_its_own_files(tmp_path):
    folder = tmp_path / "plots"
    assert len(write_plots(plots("old_v0", "game_v0"), folder)) == 4
    before = contents(folder)
    (folder / "mine.svg").write_text("<svg/>")
    (folder / "notes.txt").write_text("llmarena report")
    (folder / "down.svg").mkdir()
    write_plots(plots("game_v0"), folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        *("down.svg", "game_v0-ratings.png", "game_v0-ratings.svg", "mine.svg", "notes.txt")
    ]
    assert all((folder / name).read_bytes() == before[name] for name in before if name.startswith("game"))


def test_write_plots_over_a_foreign_file_is_refused(tmp_path):
    (tmp_path / "game_v0-ratings.png").write_bytes(b"\x89PNG of mine")
    with pytest.raises(RunError, match=r"game_v0-ratings\.png: expected a file that an earlier report wrote"):
        write_plots(plots("game_v0"), tmp_path)
    assert contents(tmp_path) == {"game_v0-ratings.png": b"\x89PNG of mine"}


@pytest.mark.slow
def test_report_plots_are_the_figures_of_the_page(directory):
    page = write_report(directory, directory / "report.html").read_text(encoding="utf-8")
    first = contents(directory / "plots")
    drawings = [data.decode() for name, data in first.items() if name.endswith(".svg")]
    shown = [text for text in drawings if text[text.index("<svg") :].strip() in page]
    assert len(shown) == page.count("<figure><svg") == len(drawings) - 1 == len(first) / 2 - 1  # a table has the pairs
    write_report(directory, directory / "report.html")
    assert contents(directory / "plots") == first


def test_write_plots_without_pictures_writes_svg_only(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert [path.name for path in write_plots(plots("game_v0"), tmp_path / "plots")] == ["game_v0-ratings.svg"]


@pytest.mark.slow
def test_report_elsewhere_has_its_plots_beside_it(directory, tmp_path):
    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*")}
    write_report(directory, tmp_path / "mine.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine-plots", "mine.html"]
    assert "tictactoe_v0-calibration.svg" in contents(tmp_path / "mine-plots")
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*")} == before


@pytest.mark.slow
def test_report_into_a_device_has_no_plots(directory):
    assert plots_directory(directory, write_report(directory, Path("/dev/null"))) is None


def test_report_without_a_finished_match_has_no_plots(tmp_path, capsys):
    folder = tmp_path / "run"
    run_directory.create(folder, RUN, "run.toml")[1].close()
    assert not main(["report", str(folder)])
    assert capsys.readouterr().out == f"Report: {folder / 'report.html'}\n"
    assert "No match has ended yet" in (folder / "report.html").read_text(encoding="utf-8")
    assert not main(["report", "--json", str(folder)])
    assert json.loads(capsys.readouterr().out)["plots"] is None


@pytest.mark.needs
def test_report_into_a_read_only_run_suggests_output(directory, tmp_path):
    with read_only(directory):
        with pytest.raises(RunError, match=r"report\.html: expected a place that can be written.*--output FILE"):
            write_report(directory, directory / "report.html")
        write_report(directory, tmp_path / "mine.html")
    assert (tmp_path / "mine.html").exists()
