"""Going on with a run whose run file was edited: what may change, who may leave and who may come."""

import re

import pytest

from agents.errors import ProviderError
from llmarena_envs.core.options import OptionError
from rating.cli import main
from rating.errors import RunError
from rating.store.records import FINISHED, VOID
from rating.viewer.report.tables import to_text
from tests.rating.interruption import ended_after
from tests.rating.players import Asked
from tests.rating.runs import asked, begin, go_on

pytestmark = pytest.mark.timeout(120)

DEAD = ProviderError("401: no such key", fatal=True)
HERE = "tests.rating.players"

SCHEMES = {
    "duels": ('name = "tictactoe_v0"', "ab"),
    "adaptive": ('name = "tictactoe_v0"\nschedule = "adaptive"', "abd"),
    "mean_reward": ('name = "tictactoe_v0"\nscheme = "mean_reward"', "ab"),
    "means": ('name = "tictactoe_v0"\nscheme = "mean_reward"', "ab"),
    "cooperation": ('name = "hanabi_v0"\nscheme = "cooperation"', "ab"),
    "self_play": ('name = "tictactoe_v0"\nscheme = "self_play"', "ab"),
    "field": ('name = "tictactoe_v0"\nscheme = "field"\nopponent = "random"', "ab"),
    "settling": ('name = "tictactoe_v0"\nscheme = "field"\nopponent = "a"', "ab"),
    "named_roles": ('name = "tictactoe_v0"\nscheme = "roles"', "ab"),
    "hidden_roles": ('name = "undercover_v0"', "ab"),
}
STOP = "rule = 'trueskill'\nmin_matches = 12\nwindow = 4\neps = 1000.0\nmatches = 8"
STOPS = {"means": "min_matches = 8\nhalf_width = 1000.0", "settling": "min_matches = 8\nhalf_width = 1000.0"}


def policies(names):
    return asked(names, f"{HERE}:Reached")


def run_file(
    names,
    environment='name = "tictactoe_v0"',
    stop=STOP,
    extra="",
):
    return f"schedule = 'round_robin'\n{extra}\n[stop]\n{stop}\n[[environment]]\n{environment}\n{policies(names)}"


def played(records):
    return {record.match.id: record.digest for record in records if record.status == FINISHED}


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('options = { name = "a" }', 'options = { name = "a", timeout = 5.0 }'),
        (f'spec = "{HERE}:Reached:name=a,timeout=2"', f'spec = "{HERE}:Reached:timeout=7,name=a"'),
        (f'spec = "{HERE}:Reached:name=a"', f'spec = "{HERE}:Reached"\noptions = {{ timeout = 3.0, name = "a" }}'),
    ],
)
def test_operational_options_may_change(tmp_path, before, after):
    is_named = before.startswith("options")
    head = f'name = "a"\nspec = "{HERE}:Reached"\n' if is_named else ""
    text = run_file("b", stop="max_matches = 10") + f"[[policy]]\n{head}{before}\n"
    _, _, records, _ = begin(tmp_path / "run", text)
    changed = text.replace("max_matches = 10", "max_matches = 20").replace(before, after)
    _, void, more, _ = go_on(tmp_path / "run", changed)
    assert void == 0
    assert played(records).items() < played(more).items()
    assert len({name for record in more for name in record.match.policies}) == 2


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('name = "a" }', 'name = "a", depth = 3 }', "policy 'a': depth: nothing became 3"),
        ('name = "a" }', 'name = "other" }', 'policy \'a\': name: "a" became "other"'),
        (f'"a"\nspec = "{HERE}:Reached"', '"a"\nspec = "tests.rating.players:Asked"', "policy 'a': spec:"),
        ("[stop]", "ahead = 3\n[stop]", "ahead: 2 became 3"),
        ("[stop]", "turns = { reasks = 0 }\n[stop]", "tictactoe_v0: turns: reasks: 2 became 0"),
        ('"tictactoe_v0"', '"connect_four_v0"', "tictactoe_v0: the environment was taken out"),
        ("'round_robin'", "'adaptive'", 'tictactoe_v0: schedule: "round_robin" became "adaptive"'),
    ],
)
def test_forbidden_changes_are_named_with_both_values(tmp_path, before, after, said):
    text = run_file("ab", stop="max_matches = 4")
    begin(tmp_path / "run", text)
    with pytest.raises(RunError) as error:
        go_on(tmp_path / "run", text.replace(before, after))
    assert said in str(error.value)
    go_on(tmp_path / "run", text)


def test_withdrawn_policy_leaves_too_few_for_top(tmp_path):
    text = run_file("abd", stop="max_matches = 4\nrule = 'top=2'")
    begin(tmp_path / "run", text)
    with pytest.raises(OptionError, match=r"K below the number of policies, 2 \(a, b\); got top=2"):
        go_on(tmp_path / "run", text.replace(policies("d"), ""))
    go_on(tmp_path / "run", text)


@pytest.mark.slow
@pytest.mark.parametrize("withdraw", ["delete", "flag"])
def test_withdrawn_policy_leaves_a_complete_run(tmp_path, withdraw):
    text = run_file("abd")
    whole = begin(tmp_path / "whole", text)
    Asked.failing["d"] = DEAD
    _, void, before, _ = begin(tmp_path / "run", text)
    assert void > 0
    out = text.replace(policies("d"), policies("d") + "withdrawn = true\n" if withdraw == "flag" else "")
    calls = Asked.calls["d"]
    _, void, records, facts = left = go_on(tmp_path / "run", out)
    assert (void, facts["stopped:tictactoe_v0"], Asked.calls["d"]) == (0, "mu_stable", calls)
    assert played(before).items() <= played(records).items()
    assert {record.error for record in records if record.status == VOID} == {"withdrawn: d"}
    shown = to_text(left.board())
    assert (
        re.search(r"^\S* +d .*  withdrawn  ", shown, re.M)
        and "d is withdrawn: its row is of what it had played" in shown
    )
    assert "suspended" not in shown
    Asked.failing.clear()
    again = go_on(tmp_path / "run", text)
    assert again.void == 0
    assert again.board().rows == whole.board().rows


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_newcomers_play_the_same_deals_in_a_new_phase(tmp_path, scheme):
    environment, names = SCHEMES[scheme]
    stop = STOPS.get(scheme, STOP)
    _, _, first, _ = begin(tmp_path / "run", run_file(names, environment, stop))
    text = run_file([*names, "c"], environment, stop)
    run, void, records, facts = played_on = go_on(tmp_path / "run", text)
    name = run.config.environment[0].name
    own = [record for record in records if record.match.number < len(first)]
    later = [record for record in records if record.match.number >= len(first)]
    assert void == 0 and own == first
    assert [record.match.number for record in records] == list(range(len(records)))
    assert later and all("c" in record.match.policies for record in later)
    assert {record.match.seed for record in later[:2]} <= {record.match.seed for record in first}
    assert facts[f"phases:{name}"] == f"[{len(first)}]"
    assert facts[f"stopped:{name}"] in ("count", "mu_stable", "settled")
    shown = played_on.board(name)
    assert {row.policy for row in shown.rows} == {*names, "c"}
    assert shown.reached.startswith("c among the others: ")
    assert go_on(tmp_path / "run")[2] == records
    # One more comes, and one of the first leaves.
    text = run_file([*names, "c", "e"], environment, stop).replace(policies("b"), "")
    _, void, more, facts = go_on(tmp_path / "run", text)
    assert void == 0
    assert more[: len(records)] == records
    assert facts[f"phases:{name}"] == f"[{len(first)}, {len(records)}]"
    assert all("e" in record.match.policies for record in more[len(records) :])


@pytest.mark.slow
def test_interrupted_newcomer_phase_is_resumed(tmp_path, monkeypatch):
    text = run_file("abc", extra="concurrency = 3")
    for name in ("whole", "stopped"):
        begin(tmp_path / name, run_file("ab", extra="concurrency = 3"))
    *_, whole, facts = go_on(tmp_path / "whole", text)
    with ended_after(monkeypatch, 10):
        go_on(tmp_path / "stopped", text)
    *_, records, again = go_on(tmp_path / "stopped")
    assert played(records) == played(whole)
    assert again["phases:tictactoe_v0"] == facts["phases:tictactoe_v0"]


@pytest.mark.slow
def test_replayed_void_matches_do_not_move_a_phase(tmp_path):
    Asked.failing["d"] = DEAD
    begin(tmp_path / "run", run_file("abd"))
    _, void, before, facts = go_on(tmp_path / "run", run_file("abdc"))
    assert void > 0 and any("c" in record.match.policies for record in before)
    Asked.failing.clear()
    _, void, records, again = go_on(tmp_path / "run")
    assert void == 0
    assert again["phases:tictactoe_v0"] == facts["phases:tictactoe_v0"]
    assert played(before).items() <= played(records).items()
    assert {record.status for record in records} == {FINISHED}


@pytest.mark.slow
@pytest.mark.parametrize("shorter", ["repaired", "rule"])
def test_newcomers_play_after_all_begun_matches(tmp_path, shorter):
    long = "min_matches = 20\neps = 1.5\nrule = 'trueskill'\nsigma = 0.01"
    if shorter == "repaired":  # without d there was more to play, which is there with d in it as void matches
        Asked.failing["d"] = DEAD
        *_, before, _ = begin(tmp_path / "run", run_file("abd", stop=long))
        Asked.failing.clear()
        text = run_file("abdc", stop=long)
    else:
        *_, before, _ = begin(
            tmp_path / "run", run_file("abd", stop="min_matches = 40\neps = 1000.0\nrule = 'trueskill'")
        )
        text = run_file("abdc")
    _, void, records, facts = go_on(tmp_path / "run", text)
    assert void == 0
    assert facts["phases:tictactoe_v0"] == f"[{len(before)}]"
    assert played(before).items() <= played(records).items()
    assert all("c" in record.match.policies for record in records[len(before) :])
    assert {record.status for record in records} == {FINISHED}


TOURNAMENT = 'name = "tictactoe_v0"\nscheme = "tournament"\ntournament = { questions = 2 }'


def test_tournament_explains_how_to_add_newcomers(tmp_path):
    begin(tmp_path / "run", run_file("ab", TOURNAMENT))
    with pytest.raises(RunError, match="'c' was added; add it with: llmarena resume DIR --add"):
        go_on(tmp_path / "run", run_file("abc", TOURNAMENT))


def test_tournament_continues_without_withdrawn_policy(tmp_path, caplog):
    Asked.failing["d"] = DEAD
    _, void, _, facts = begin(tmp_path / "run", run_file("abcd", TOURNAMENT))
    assert void > 0 and facts["stopped:tictactoe_v0"] == "void"
    assert "pairing blocked by void matches: d suspended: fix the failed policy" in caplog.text
    _, void, records, facts = go_on(tmp_path / "run", run_file("abc", TOURNAMENT))
    assert (void, facts["stopped:tictactoe_v0"]) == (0, "rounds")
    assert {record.status for record in records if "d" not in record.match.policies} == {FINISHED}


@pytest.mark.slow
def test_commands_show_withdrawn_policies_and_end_with_0(tmp_path, capsys):
    path, directory = tmp_path / "mine.toml", tmp_path / "run"
    text = run_file("abd")
    path.write_text(text)
    Asked.failing["d"] = DEAD
    assert main(["run", str(path), "--out", str(directory)]) == 3
    (directory / "run.toml").write_text(text.replace(policies("d"), ""))
    assert main(["resume", str(directory)]) == 0
    assert re.search(r"  d .* withdrawn *\n", capsys.readouterr().out)
    for command in (["rate"], ["report"], ["replay", "--verify"]):
        assert main([command[0], str(directory), *command[1:]]) == 0


@pytest.mark.slow
def test_an_environment_that_was_taken_out_is_no_internal_error(tmp_path, capsys):
    text = run_file("ab", stop="max_matches = 2") + '[[environment]]\nname = "connect_four_v0"\n'
    begin(tmp_path / "run", text)
    (tmp_path / "run" / "run.toml").write_text(run_file("ab", stop="max_matches = 2"))
    for command, code in (("rate", 2), ("report", 2), ("replay", 0), ("resume", 2)):
        assert main([command, str(tmp_path / "run")]) == code
    assert "connect_four_v0: the environment was taken out" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "run"), "--verify"]) == 1
    captured = capsys.readouterr()
    assert "4 of 4 finished matches verified" in captured.out and captured.err == ""
