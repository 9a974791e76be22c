"""A game whose first matches give no information is paused, on any number of workers at the same match."""

import json
import re
import shlex
from collections import Counter

import pytest

from agents.errors import ProviderError
from rating.cli import main
from rating.config.run_file import parse_run_file
from rating.play import run_directory
from rating.play.run import Run
from rating.play.session import ONE_GO, Session
from rating.store.records import FINISHED, VOID
from tests.rating import runs
from tests.rating.interruption import ended_after
from tests.rating.players import Asked

pytestmark = pytest.mark.timeout(120)

HERE = "tests.rating.players"
TIES = [f'name = "{name}"\nspec = "{HERE}:ties"' for name in "ab"]
FORFEITS = [f'name = "{name}"\nspec = "{HERE}:answers:value=none"' for name in "ab"]
FAILING = [f'name = "{name}"\nspec = "{HERE}:Asked"\noptions = {{ name = "{name}" }}' for name in "ab"]
FORFEIT = '[turns]\nreasks = 0\nunparsable = "forfeit"'
WINS = ['spec = "first_legal"', 'spec = "greedy"']


def run_file(policies, settings="", slots=20, environment='name = "tictactoe_v0"'):
    stop = f"[stop]\nmatches = 70\nmax_matches = 70\nalike = 0\n{FORFEIT}"
    head = f'executor = "asyncio"\nconcurrency = {slots}\nmax_errors = 1000\n{settings}\n{stop}'
    tables = "".join(f"[[policy]]\n{policy}\n" for policy in policies)
    return f"{head}\n[[environment]]\n{environment}\nrated_options = false\n{tables}"


def begin(directory, text):
    run_directory.create(directory, text, "run.toml")[1].close()
    return go_on(directory)


def go_on(directory, session=ONE_GO):
    """Plays a run and returns the statuses of its matches, why it stopped, and its records."""
    _, _, records, facts = runs.go_on(directory, session=session)
    return Counter(record.status for record in records), facts["stopped:tictactoe_v0"], records


@pytest.mark.slow
@pytest.mark.parametrize("policies", [TIES, FORFEITS])
def test_a_game_without_information_pauses_at_the_same_match(tmp_path, policies):
    first = begin(tmp_path / "0", run_file(policies, slots=1))
    assert first[:2] == ({FINISHED: 60}, "paused")
    for slots in (7, 500):
        assert begin(tmp_path / str(slots), run_file(policies, slots=slots)) == first
    assert go_on(tmp_path / "0") == first
    statuses, reason, _ = go_on(tmp_path / "0", Session(keep_going=True))
    assert statuses[FINISHED] > 60 and reason != "paused"
    assert begin(tmp_path / "file", run_file(policies, "keep_going = true"))[0] == statuses


@pytest.mark.slow
def test_a_game_that_has_gone_on_is_not_paused_again(tmp_path, monkeypatch):
    whole = begin(tmp_path / "whole", run_file(TIES, "keep_going = true"))
    run_directory.create(tmp_path / "run", run_file(TIES), "run.toml")[1].close()
    with ended_after(monkeypatch, 70):
        go_on(tmp_path / "run", Session(keep_going=True))
    assert go_on(tmp_path / "run") == whole


@pytest.mark.slow
def test_void_matches_that_are_played_again_end_a_pause(tmp_path):
    Asked.failing["a"] = ProviderError("503")
    assert begin(tmp_path / "run", run_file(FAILING, "tries = 1"))[:2] == ({VOID: 60}, "paused")
    Asked.failing.clear()
    statuses, reason, _ = go_on(tmp_path / "run")
    assert VOID not in statuses and statuses[FINISHED] > 60 and reason != "paused"


@pytest.mark.slow
def test_rewards_of_a_single_policy_are_no_ties(tmp_path):
    alone = 'name = "tictactoe_v0"\nscheme = "self_play"'
    assert begin(tmp_path / "run", run_file(TIES, environment=alone))[1] == "count"


def test_a_tournament_is_looked_at_after_its_first_round():
    text = run_file([*TIES, *WINS], environment='name = "tictactoe_v0"\nscheme = "tournament"')
    assert Run(parse_run_file(text, "test")).scheme("tictactoe_v0").first_matches == 2 * 40


@pytest.mark.slow
def test_a_paused_game_is_named_with_a_command_that_plays_on(tmp_path, capsys):
    text = run_file([*TIES, *(f'{name}\nenvironments = ["connect_four_v0"]' for name in WINS)])
    text += '[[environment]]\nname = "connect_four_v0"\n'
    (tmp_path / "run.toml").write_text(text)
    directory = tmp_path / "it's a run"
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(directory), "--quiet"]) == 3
    out, err = capsys.readouterr()
    said = "paused: every match tied (the first 30); no information"
    assert said in " ".join(out.split()) and f"tictactoe_v0 is {said}" in err
    assert "run: tictactoe_v0 paused: the first matches are all tied, forfeited or void; resume with: " in err
    assert main(["rate", str(directory), "--json"]) == 0
    boards = {board["environment"]: board for board in json.loads(capsys.readouterr().out)["leaderboards"]}
    assert f"paused: {boards['tictactoe_v0']['paused']}" == said
    assert boards["connect_four_v0"]["paused"] == "" and boards["connect_four_v0"]["stop_reason"] == "cap"
    command = re.search(r"resume with: (llmarena .*)", err)[1]
    assert main(shlex.split(command)[1:]) == 0
    assert "paused:" not in capsys.readouterr().out
