"""A full or read-only disk: the error is reported, nothing is lost, and the run resumes once there is room."""

import shutil
from functools import cache

import pytest

from rating.cli import main
from tests.rating.runs import left_by
from tests.support.disks import read_only, small_disk

RUN = ["--env", "tictactoe_v0", "--policy", "random", "--policy", "greedy", "--seed", "3"]
RUN += ["--min-matches", "40", "--max-matches", "40", "--workers", "1"]
HERE = ["--policy", "tests.rating.players:dawdles"]
"""Policies that play in the process of the command."""


def said(capsys, *arguments, code=2):
    """Runs a command that fails and returns its message."""
    assert main([str(argument) for argument in arguments]) == code
    errors = capsys.readouterr().err
    assert "Traceback" not in errors
    return errors


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Plays runs that never lack room, by where they are played."""

    @cache
    def play(name):
        directory = tmp_path_factory.mktemp("whole") / "run"
        assert main(["run", *RUN, *(HERE if name == "here" else []), "--quiet", "--out", str(directory)]) == 0
        return directory

    return play


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alone", "here"])
def test_run_on_full_disk_resumes_with_room(capsys, tmp_path, whole, name):
    disk, moved = tmp_path / "disk", tmp_path / "moved"
    disk.mkdir()
    policies = HERE if name == "here" else []
    with small_disk(disk, 400_000):
        errors = said(capsys, "run", *RUN, *policies, "--quiet", "--out", disk / "run")
        assert f"{disk / 'run' / 'run.db'}: the database of the run cannot be used: " in errors
        assert f"Resume with: llmarena resume {disk / 'run'}" in errors
        assert str(disk / "run") in said(capsys, "resume", disk / "run", "--quiet")
        shutil.copytree(disk / "run", moved)
    begun = left_by(moved)[0]
    assert '"turns": [{' in begun
    assert main(["resume", str(moved), "--quiet"]) == 0
    assert left_by(moved) == left_by(whole(name))
    assert main(["replay", str(moved), "--verify"]) == 0


def test_run_on_full_disk_leaves_no_files(capsys, tmp_path, whole):
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, 16_384):
        assert str(disk / "run") in said(capsys, "run", *RUN, "--out", disk / "run")
        kept = shutil.copytree(disk / "run", tmp_path / "run")
    assert main(["run", *RUN, "--quiet", "--out", str(kept)]) == 0
    assert left_by(kept) == left_by(whole("alone"))


def test_a_report_without_room_leaves_the_earlier_one(capsys, tmp_path, whole):
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk(disk, 50_000):
        (disk / "report.html").write_text("earlier")
        errors = said(capsys, "report", whole("alone"), "--output", disk / "report.html")
        assert str(disk / "report.html") in errors
        assert [path.name for path in disk.iterdir()] == ["report.html"]
        assert (disk / "report.html").read_text() == "earlier"


@pytest.mark.slow
@pytest.mark.needs
def test_a_directory_that_may_only_be_read_is_read(capsys, tmp_path, whole):
    folder = tmp_path / "folder"
    run = shutil.copytree(whole("alone"), folder / "run")
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    with read_only(run):
        for arguments in (["resume", run], ["report", run], ["run", *RUN, "--out", run / "new"]):
            assert str(run) in said(capsys, *arguments)
        for arguments in (["rate"], ["export"], ["replay", "--verify"], ["report", "--output", tmp_path / "page"]):
            assert main([arguments[0], str(run), *map(str, arguments[1:])]) == 0
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
