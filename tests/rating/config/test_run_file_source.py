"""Run files by their paths and by the names that installed packages give them."""

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

from rating.cli import main
from rating.config.run_file import parse_run_file
from rating.config.run_file_source import GROUP, named_run_files, read_run_file
from rating.errors import RunError
from tests.support.distributions import write_distribution

ROOT = Path(__file__).parents[3]
RUN_FILE = """
prices = "prices.toml"

[stop]
min_matches = 2
max_matches = 2

[[environment]]
name = "tictactoe_v0"
scheme = "tournament"
tournament = { questions = 2, prior = "scores/prior.csv" }

[[policy]]
spec = "random"

[[policy]]
spec = "first_legal"
"""
SUITE = ["auto-arena-demo", "deepeval-demo", "llmarena-demo", "simulbench-demo"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current directory, which is empty; beside it a folder of installed packages, and a distribution in it."""
    site = tmp_path / "site"
    package = site / "dilemma" / "studies"
    (package / "scores").mkdir(parents=True)
    (package / "first.toml").write_text(RUN_FILE, encoding="utf-8")
    (package / "prices.toml").write_text("[[price]]\nmodel = 'm'\ninput = 1.0\noutput = 2.0\n", encoding="utf-8")
    (package / "scores" / "prior.csv").write_text("policy,score\nrandom,3\n", encoding="utf-8")
    (package / "__init__.py").write_text(
        "raise SystemExit('to read its run files it is not imported')\n", encoding="utf-8"
    )
    (site / "dilemma" / "__init__.py").touch()
    write_distribution(site, "dilemma-games", "1.2", {"dilemma": "dilemma.studies"}, GROUP)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.syspath_prepend(site)
    importlib.invalidate_caches()
    yield tmp_path / "here"
    for name in [name for name in sys.modules if name.partition(".")[0] == "dilemma"]:
        del sys.modules[name]


@pytest.fixture
def suite(tmp_path):
    """The suite's own run files, as its metadata name them."""
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"][GROUP]
    write_distribution(tmp_path / "site", "llmarena-envs", "0.1.0", entries, GROUP)


def test_run_files_of_installed_packages_are_listed(here, suite, capsys):
    assert [name for name in named_run_files() if name in SUITE] == SUITE
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    help = capsys.readouterr().out
    assert all(f"\n  {name}\n" in help for name in ["dilemma-first", *SUITE])


@pytest.mark.parametrize("name", SUITE)
def test_run_files_of_the_suite_are_valid(name, here, suite):
    text, where = read_run_file(Path(name))
    assert where == f"{name} of llmarena-envs 0.1.0"
    parse_run_file(text, where)


@pytest.mark.slow
def test_run_file_with_relative_paths_is_played(here, capsys):
    assert main(["run", "dilemma-first", "--out", "run"]) == 0
    kept = (here / "run" / "run.toml").read_text(encoding="utf-8")
    assert tomllib.loads(kept)["environment"][0]["tournament"]["prior"] == {"random": 3.0}
    assert tomllib.loads(kept)["price"][0]["model"] == "m"
    assert main(["replay", "--verify", "run"]) == 0
    assert main(["resume", "run"]) == 0
    assert main(["report", "run"]) == 0


@pytest.mark.slow
def test_named_run_file_has_a_default_directory(here, capsys):
    assert main(["run", "dilemma-first"]) == 0
    assert main(["report", "dilemma-first"]) == 0
    assert main(["run", "dilemma-first"]) == 0  # there is a directory of this name now, which is no run file
    assert sorted(path.name for path in here.iterdir()) == ["dilemma-first", "dilemma-first-2"]
    (here / "mine.toml").write_text(RUN_FILE, encoding="utf-8")
    assert main(["run", "mine.toml"]) == 2
    assert "expected a directory for the run" in capsys.readouterr().err


def test_paths_lead_from_the_folder_of_a_run_file(here):
    (here / "study").mkdir()
    (here / "study" / "mine.toml").write_text(RUN_FILE, encoding="utf-8")
    text, where = read_run_file(Path("study/mine.toml"))
    assert where == str(Path("study/mine.toml"))
    assert tomllib.loads(text)["prices"] == str(Path("study/prices.toml"))
    (here / "mine.toml").write_text(RUN_FILE, encoding="utf-8")
    assert read_run_file(Path("mine.toml")).text == RUN_FILE
    absolute = RUN_FILE.replace("prices.toml", str(here / "p.toml"))
    (here / "study" / "mine.toml").write_text(absolute, encoding="utf-8")
    assert tomllib.loads(read_run_file(Path("study/mine.toml")).text)["prices"] == str(here / "p.toml")


@pytest.mark.parametrize(
    "text", ["prices = 3", "environment = 7", "environment = [7, {tournament = 1}]", "= no TOML", "[" * 9999]
)
def test_other_files_are_left_to_their_reader(here, text):
    (here / "study").mkdir()
    (here / "study" / "wrong.toml").write_text(text, encoding="utf-8")
    assert read_run_file(Path("study/wrong.toml")).text == text


def test_a_file_comes_before_a_name_and_a_directory_does_not(here):
    (here / "dilemma-first").mkdir()
    assert read_run_file(Path("dilemma-first")).where == "dilemma-first of dilemma-games 1.2"
    (here / "dilemma-first").rmdir()
    (here / "dilemma-first").write_text("# mine", encoding="utf-8")
    assert read_run_file(Path("dilemma-first")) == ("# mine", "dilemma-first")


def test_a_name_that_is_not_there_or_is_there_twice(here):
    with pytest.raises(
        RunError, match=r"dilemma-frist: expected a run file .*dilemma-first.*did you mean 'dilemma-first'"
    ):
        read_run_file(Path("dilemma-frist"))
    write_distribution(here.parent / "site", "other-games", "3.4", {"dilemma": "dilemma.studies"}, GROUP)
    write_distribution(
        here.parent / "site", "broken-games", "0.1", {"broken": "no.such.package", "worse": "..b"}, GROUP
    )
    with pytest.raises(RunError, match=r"dilemma-games 1.2 and other-games 3.4 both have"):
        read_run_file(Path("dilemma-first"))
