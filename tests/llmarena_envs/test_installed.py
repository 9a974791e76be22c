"""Environments of other packages: found in the metadata, imported when they are used, and no danger to the suite's own."""

import importlib
import subprocess
import sys
from importlib import metadata
from importlib.metadata import version
from pathlib import Path

import pytest

from agents.registry import baselines
from agents.training import Deal
from llmarena_envs.catalogue import CATALOGUE, canonical_name, installed, load_environment, make_environment, origin
from llmarena_envs.core.entry_points import title_of
from llmarena_envs.core.options import OptionError
from llmarena_envs.installed import find_installed
from tests.rating.third_party import write_environment
from tests.support.distributions import write_distribution

TWO = ("player_0", "player_1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder on the import path, as for installed packages."""
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    find_installed.cache_clear()
    yield tmp_path
    find_installed.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] in ("elsewhere", "another")]:
        del sys.modules[name]


def test_installed_environment_is_found_by_name_and_id(folder: Path) -> None:
    module = write_environment(folder, "numbers", TWO, "")
    write_distribution(folder, "number-games", "1.2", {"numbers_v0": module})
    assert installed().refused == ()
    assert "elsewhere" not in sys.modules
    assert canonical_name("elsewhere/numbers-v0") == "numbers_v0"
    assert canonical_name("elsewhere/numbers-v0#label") == "numbers_v0#label"
    assert make_environment("numbers_v0#label", {}).unwrapped.metadata["name"] == "numbers_v0"
    assert load_environment("elsewhere/numbers-v0") is load_environment(module) is load_environment("numbers_v0")
    assert origin("numbers_v0") == "number-games 1.2"
    assert origin(module) == "number-games 1.2"
    assert origin("tictactoe_v0") == ""
    match = Deal("numbers_v0", 0, {"player_0": "random"}).match()
    question = match.start_sync()
    assert question is not None
    assert match.reply_sync("7") is None
    assert match.reward("player_1") == 7.0


def test_players_are_found_beside_the_class(folder: Path) -> None:
    module = write_environment(folder, "numbers", TWO, "")
    write_distribution(folder, "number-games", "1.2", {"numbers_v0": module})
    assert sorted(baselines("numbers_v0")) == ["first_legal", "mcts", "random"]
    players = folder / "elsewhere" / "baselines.py"
    players.write_text("def nine():\n    return lambda observation: '9'\n\n\nBASELINES = {'nine': nine}\n")
    importlib.invalidate_caches()
    assert sorted(baselines("numbers_v0")) == sorted(baselines(module)) == ["first_legal", "mcts", "nine", "random"]
    for text, message in (
        ("raise RuntimeError('no licence')", r"elsewhere.baselines\): RuntimeError: no licence"),
        ("BASELINES = ['nine']", "expected BASELINES to be a table of policies by name, got .'nine'."),
    ):
        players.write_text(text)
        sys.modules.pop("elsewhere.baselines", None)
        importlib.invalidate_caches()
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            with pytest.raises(OptionError, match=message):
                baselines("numbers_v0")
        finally:
            sys.dont_write_bytecode = before


@pytest.mark.parametrize(
    ("name", "module", "message"),
    [
        ("tictactoe_v0", "elsewhere.numbers", "the suite itself has an environment of this name"),
        ("numbers", "elsewhere.numbers", "ends in a version"),
        ("number.games_v0", "elsewhere.numbers", "ends in a version"),
        (
            "numbers_v0",
            "elsewhere.numbers:env",
            "expected the name of a module, e.g. dilemma.env, got 'elsewhere.numbers:env'",
        ),
        ("numbers_v0", "", "expected the name of a module"),
    ],
)
def test_unusable_names_are_refused_with_the_distribution(folder: Path, name: str, module: str, message: str) -> None:
    write_distribution(folder, "number-games", "1.2", {name: module})
    (refused,) = installed().refused
    assert "number-games 1.2" in refused.why
    assert message in refused.why
    assert name == refused.name
    assert name not in installed().environments
    assert len({load_environment(entry.name) for entry in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("last_first", [False, True])  # the order of a directory depends on the file system
def test_a_name_that_two_packages_have_belongs_to_none(
    last_first: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = metadata.distributions
    monkeypatch.setattr(metadata, "distributions", lambda: sorted(known(), key=title_of, reverse=last_first))
    module = write_environment(folder, "numbers", TWO, "")
    write_distribution(folder, "number-games", "1.2", {"numbers_v0": module, "more_v0": module})
    write_distribution(folder, "other-games", "3.4", {"numbers_v0": "another.env"})
    assert list(installed().environments) == ["more_v0"]
    with pytest.raises(
        OptionError, match=r"number-games 1\.2 .*other-games 3\.4 .*both have one; uninstall one"
    ) as error:
        load_environment("numbers_v0")
    assert "elsewhere.numbers" in str(error.value)
    load_environment(module)


def test_a_distribution_that_is_found_twice_counts_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = write_environment(folder, "numbers", TWO, "")
    write_distribution(folder, "number-games", "2.0", {"numbers_v0": module})
    below = folder / "below"
    write_distribution(below, "Number_Games", "1.0", {"numbers_v0": module})
    sys.path.append(str(below))
    try:
        find_installed.cache_clear()
        assert origin("numbers_v0") == "number-games 2.0"
    finally:
        sys.path.remove(str(below))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import a_package_that_is_missing", "No module named 'a_package_that_is_missing'"),
        ("env = 1", "has no attribute 'raw_env'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit('needs a display')", "SystemExit: needs a display"),
        ("def env(: pass", "SyntaxError"),
        ("env = raw_env = int", "expected raw_env to be a subclass of TextEnv"),
    ],
)
def test_unusable_code_is_an_error_with_the_distribution(folder: Path, source: str, message: str) -> None:
    (folder / "another.py").write_text(source)
    write_distribution(folder, "number-games", "1.2", {"numbers_v0": "another"})
    assert "numbers_v0" in installed().environments
    with pytest.raises(OptionError) as error:
        load_environment("numbers_v0")
    assert message in str(error.value)
    assert "number-games 1.2" in str(error.value)


def test_metadata_that_cannot_be_read_are_refused_or_passed_over(folder: Path) -> None:
    module = write_environment(folder, "numbers", TWO, "")
    write_distribution(folder, "number-games", "1.2", {"numbers_v0": module})
    torn = write_distribution(folder, "torn-games", "1.0", {"torn_v0": "torn"})
    (torn / "entry_points.txt").write_text("[llmarena_envs.environments]\nno equals sign here\n")
    binary = write_distribution(folder, "binary", "1.0", {})
    (binary / "entry_points.txt").write_bytes(b"\xff\xfe")
    bare = write_distribution(folder, "bare", "1.0", {"bare_v0": module})
    (bare / "METADATA").unlink()
    assert sorted(installed().environments) == ["bare_v0", "numbers_v0"]
    (refused,) = installed().refused
    assert "torn-games 1.0" in refused.why
    with pytest.raises(OptionError, match=r"expected one of tictactoe_v0, .*numbers_v0.*did you mean 'numbers_v0'"):
        load_environment("number_v0")


def test_a_module_is_of_the_distribution_that_has_its_file(folder: Path) -> None:
    assert origin("treys.card") == f"treys {version('treys')}"
    module = write_environment(folder, "numbers", TWO, "")
    assert origin(module) == ""
    place = write_distribution(folder, "number-games", "1.2", {})
    (place / "RECORD").write_text("elsewhere/other.py,,\n")
    assert origin(module) == ""
    (place / "RECORD").write_text("elsewhere/numbers.py,,\n")
    assert origin(module) == "number-games 1.2"
    (place / "RECORD").write_bytes(b"\xff")
    assert origin(module) == ""


@pytest.mark.slow
def test_packages_are_searched_only_for_foreign_names() -> None:
    code = """
import sys, importlib.metadata
importlib.metadata.distributions = lambda *_, **__: sys.exit("looked for")
import llmarena_envs
from llmarena_envs.catalogue import CATALOGUE, load_environment, canonical_name
for entry in CATALOGUE:
    load_environment(entry.name)
    assert canonical_name(entry.name) == entry.name
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
