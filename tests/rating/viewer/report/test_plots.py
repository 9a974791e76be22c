"""Figures as files: safe names, replaced files and files of others."""

import json
import re
import sys

import pytest

from rating.cli import main
from rating.errors import RunError
from rating.play import run_directory
from rating.schemes.figures import Intervals
from rating.viewer.report import figures
from rating.viewer.report.plots import Plot, file_names, write_plots
from rating.viewer.report.write import write_page_of, write_report
from rating.viewer.source import open_source
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
def test_report_plots_are_the_figures_of_the_page(directory, tmp_path):
    def written():
        with open_source(directory) as source:
            return write_page_of(source, directory, tmp_path / "mine.html", tmp_path / "figures" / "mine")

    before = {path: path.stat().st_mtime_ns for path in directory.rglob("*")}
    page, plots = written()
    first = contents(tmp_path / "figures" / "mine")
    assert sorted(path.name for path in plots) == [*first] and "tictactoe_v0-calibration.svg" in first
    shown = page.read_text(encoding="utf-8")
    drawings = [data.decode() for name, data in first.items() if name.endswith(".svg")]
    found = [text for text in drawings if text[text.index("<svg") :].strip() in shown]
    assert len(found) == shown.count("<figure><svg") == len(drawings) - 1 == len(first) / 2 - 1  # a table has the pairs
    written()
    assert contents(tmp_path / "figures" / "mine") == first
    assert {path: path.stat().st_mtime_ns for path in directory.rglob("*")} == before


def test_write_plots_without_pictures_writes_svg_only(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert [path.name for path in write_plots(plots("game_v0"), tmp_path / "plots")] == ["game_v0-ratings.svg"]


def test_report_without_a_finished_match_has_no_plots(tmp_path, capsys):
    folder = tmp_path / "run"
    run_directory.create(folder, RUN, "run.toml")[1].close()
    assert not main(["report", str(folder), "--plots"])
    assert capsys.readouterr() == (f"Report: {folder / 'report.html'}\n", "")
    assert "No match has ended yet" in (folder / "report.html").read_text(encoding="utf-8")
    assert not (folder / "plots").exists()
    assert not main(["report", "--json", str(folder), "--plots"])
    assert json.loads(capsys.readouterr().out)["plots"] is None


def test_report_of_a_log_names_where_to_write(tmp_path, capsys):
    log = tmp_path / "battles.csv"
    log.write_text("model_a,model_b,winner\na,b,model_a\nb,a,model_a\n")
    assert main(["report", str(log)]) == 2
    assert "a report of a log needs --output FILE" in capsys.readouterr().err
    page = ["report", str(log), "--output", str(tmp_path / "page.html"), "--plots"]
    assert main(page) == 2
    assert "figures of a log need --plots FOLDER" in capsys.readouterr().err
    assert main([*page, str(log)]) == 2
    assert "battles.csv: expected a place that can be written" in capsys.readouterr().err
    assert not main([*page, str(tmp_path / "plots")]) and (tmp_path / "plots" / "battles-ratings.svg").exists()


@pytest.mark.needs
def test_report_into_a_read_only_run_suggests_output(directory, tmp_path):
    with read_only(directory):
        with pytest.raises(RunError, match=r"report\.html: expected a place that can be written.*--output FILE"):
            write_report(directory, directory / "report.html")
        write_report(directory, tmp_path / "mine.html")
    assert (tmp_path / "mine.html").exists()
