"""The preflight check calls every model once before play; an unreachable model stops the run, which can be resumed."""

import asyncio
from types import SimpleNamespace

import pytest

from agents.errors import ProviderError
from agents.models.cache import ReplyCache
from rating.cli import main
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session

RUN_FILE = """
schedule = "round_robin"
[stop]
min_matches = 2
max_matches = 2
[[environment]]
name = "{environment}"
{keys}
[[policy]]
name = "model"
spec = "tests.rating.players:Checked"
options = {{ folder = "{folder}" }}
[[policy]]
name = "other"
spec = "tests.rating.players:Checked"
options = {{ folder = "{folder}" }}
[[policy]]
spec = "random"
"""


@pytest.fixture
def preflight(monkeypatch):
    """Counts the checked policies, and lets the named ones fail."""
    checked, failing = [], {}

    async def check_models(policies, observations):
        await asyncio.sleep(0)
        checked.append(sorted(policies))
        return {name: error for name, error in failing.items() if name in policies}

    monkeypatch.setattr("rating.play.players.check_models", check_models)
    return SimpleNamespace(checked=checked, failing=failing)


def run_file(tmp_path, environment="tictactoe_v0", keys=""):
    (tmp_path / "asked").mkdir()
    return RUN_FILE.format(environment=environment, keys=keys, folder=tmp_path / "asked")


def test_preflight_failures_name_all_models_and_play_nothing(tmp_path, preflight, capsys):
    path, directory = tmp_path / "mine.toml", tmp_path / "run"
    path.write_text(run_file(tmp_path))
    preflight.failing.update(model=ProviderError("401"), other=ProviderError("refused"))
    assert main(["run", str(path), "--out", str(directory)]) == 3
    errors = capsys.readouterr().err
    assert "nothing was played, since 2 of 2 models cannot be asked:\n  model: 401\n  other: refused" in errors
    assert f"llmarena resume {directory}" in errors
    assert not any((tmp_path / "asked").iterdir())
    assert main(["resume", str(directory)]) == 3
    preflight.failing.clear()
    assert main(["resume", str(directory)]) == 0
    assert preflight.checked == [["model", "other"]] * 3
    assert main(["resume", str(directory)]) == 0
    assert len(preflight.checked) == 3  # nothing is left to play, so no model is checked


def test_unplayed_run_is_replaced_by_corrected_run_file(tmp_path, preflight, capsys):
    path, directory = tmp_path / "mine.toml", tmp_path / "run"
    path.write_text(run_file(tmp_path))
    preflight.failing.update(model=ProviderError("404: no such model"))
    assert main(["run", str(path), "--out", str(directory)]) == 3
    assert "into the same directory" in capsys.readouterr().err
    path.write_text(path.read_text().replace('name = "model"', 'name = "right"'))
    (directory / "notes.txt").write_text("of somebody else")
    assert main(["run", str(path), "--out", str(directory)]) == 2
    (directory / "notes.txt").unlink()
    assert main(["run", str(path), "--out", str(directory)]) == 0
    store = run_directory.open_store(directory)
    assert {name for record in store.records() for name in record.match.policies} == {"right", "other", "random"}
    store.close()
    assert main(["run", str(path), "--out", str(directory)]) == 2  # existing results are not modified


def test_preflight_checks_staff_models_and_none_offline(tmp_path, preflight):
    keys = 'options = { start = "人山人海", accept_outside = true }\nstaff = { judge = ["judge"] }'
    judge = (
        f'[[policy]]\nname = "judge"\nspec = "tests.rating.players:Checked"\noptions = {{ folder = "{tmp_path}" }}\n'
    )
    text = run_file(tmp_path, "idiom_solitaire_v0", keys) + judge + "rated = false\n"
    run, store = run_directory.create(tmp_path / "run", text, "run.toml")
    preflight.failing.update(judge=ProviderError("404"))
    with pytest.raises(ProviderError, match="judge: 404"):
        asyncio.run(Runner(run, store).run())
    assert preflight.checked == [["judge", "model", "other"]]
    ReplyCache(tmp_path / "cache", create=True).close()
    asyncio.run(Runner(run, store, Session(offline=True, cache=tmp_path / "cache")).run())
    store.close()
    assert len(preflight.checked) == 1
