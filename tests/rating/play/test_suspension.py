"""A permanently failing policy is suspended: no match waits for it, and it plays again in the resumed run."""

from dataclasses import replace

import pytest

from agents.errors import ProviderError
from rating.cli import main
from rating.store.records import FINISHED, VOID
from rating.viewer.report.tables import to_text
from tests.rating.players import Asked
from tests.rating.runs import asked, begin, go_on

pytestmark = pytest.mark.timeout(60)

DEAD = ProviderError("401: no such key", fatal=True)
STOP = "min_matches = 12\nwindow = 4\neps = 1000.0\nrule = 'trueskill'"


def run_file(names, environment='name = "tictactoe_v0"', settings="", stop=STOP):
    return f"schedule = 'round_robin'\n{settings}\n[stop]\n{stop}\n[[environment]]\n{environment}\n{asked(names)}"


def test_suspended_policy_is_not_asked_again(tmp_path):
    Asked.failing["dead"] = DEAD
    text = run_file(["a", "b", "dead"], settings="max_errors = 1\nconcurrency = 8")
    _, void, records, facts = begin(tmp_path / "run", text)
    assert facts["stopped:tictactoe_v0"] == "mu_stable"
    assert Asked.calls["dead"] <= 8  # those under way when the first one failed
    finished = [record for record in records if record.status == FINISHED]
    assert 12 <= len(finished) <= 12 + 3 * 16  # 16 matches between the others in a batch
    assert {frozenset(record.match.policies) for record in finished} == {frozenset("ab")}
    assert sum(record.status == VOID for record in records) == void > 0
    skipped = [record for record in records if record.error.startswith("suspended: dead: 401: no such key")]
    assert len(skipped) >= void - 8
    assert {record.tries for record in skipped} == {0}
    assert facts["suspended:dead"] == "401: no such key"


@pytest.mark.slow
def test_suspended_policy_plays_again_in_resumed_run(tmp_path):
    text = run_file(["a", "b", "dead"], stop="min_matches = 40\neps = 1000.0\nrule = 'trueskill'")
    whole = begin(tmp_path / "whole", text)
    Asked.failing["dead"] = DEAD
    begin(tmp_path / "run", text)
    Asked.failing.clear()
    played = go_on(tmp_path / "run")
    assert (played.void, played.facts["suspended:dead"]) == (0, "")
    # While it was suspended the others played more than it takes with it: parts of batches, which are not rated.
    again = played._replace(run=whole.run).board()
    assert again.left_over > 0
    assert any(record.status == VOID for record in played.records)
    assert replace(again, left_over=0) == whole.board()


ENVIRONMENTS = {
    "duels": ('name = "tictactoe_v0"', ["a", "b"]),
    "mean_reward": ('name = "bid_v0"\nscheme = "mean_reward"', ["a", "b"]),
    "means": ('name = "tictactoe_v0"\nscheme = "mean_reward"', ["a", "b"]),
    "cooperation": ('name = "hanabi_v0"', ["a"]),
    "self_play": ('name = "tictactoe_v0"\nscheme = "self_play"', ["a"]),
    "field": ('name = "tictactoe_v0"\nscheme = "field"\nopponent = "dead"', []),
    "roles": ('name = "tictactoe_v0"\nscheme = "roles"', ["a", "b"]),
    "tournament": ('name = "tictactoe_v0"\nscheme = "tournament"\ntournament = { questions = 4 }', ["a", "b"]),
}


@pytest.mark.slow_except(2)
@pytest.mark.parametrize("scheme", ENVIRONMENTS)
def test_schemes_stop_when_all_policies_are_suspended(tmp_path, scheme):
    environment, _ = ENVIRONMENTS[scheme]
    Asked.failing.update(dict.fromkeys(["dead", "gone"], DEAD))
    stop = "min_matches = 4\nmax_matches = 1000\nmatches = 1000\n" + (
        "half_width = 0.001\n" if scheme == "means" else ""
    )
    pool = ["dead"] if scheme == "field" else ["dead", "gone"]
    _, void, records, facts = begin(tmp_path / "run", run_file(pool, environment, "concurrency = 2", stop))
    reason = next(value for name, value in facts.items() if name.startswith("stopped:"))
    assert reason == ("void" if scheme == "tournament" else "suspended")
    assert void > 0
    assert sum(Asked.calls.values()) <= 4
    assert not any(record.status == FINISHED for record in records)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("scheme", ["duels", "mean_reward", "means", "cooperation", "self_play", "roles"])
def test_schemes_finish_without_a_suspended_policy(tmp_path, scheme):
    environment, names = ENVIRONMENTS[scheme]
    Asked.failing["dead"] = DEAD
    stop = "min_matches = 4\nmax_matches = 1000\nmatches = 20\nwindow = 4\n" + (
        "half_width = 1000.0\n" if scheme == "means" else "eps = 1000.0\nrule = 'trueskill'\n"
    )
    _, void, records, facts = begin(tmp_path / "run", run_file([*names, "dead"], environment, "max_errors = 1", stop))
    reason = next(value for name, value in facts.items() if name.startswith("stopped:"))
    assert reason in ("count", "mu_stable", "settled")
    assert void > 0
    own = [record for record in records if set(record.match.policies) <= set(names)]
    assert {record.status for record in own} == {FINISHED}


def test_suspended_staff_ends_only_its_environment(tmp_path):
    judged = 'name = "tests.rating.judged_env"\nscheme = "duels"\nstaff = { judge = ["dead"] }'
    text = run_file(["a", "b", "dead"], judged, "concurrency = 1") + '[[environment]]\nname = "tictactoe_v0"\n'
    text = text.replace(asked(["dead"]), asked(["dead"]) + "rated = false\n")
    Asked.failing["dead"] = DEAD
    _, void, _, facts = played = begin(tmp_path / "run", text)
    shown = to_text(played.board("tests.rating.judged_env"))
    assert void > 0
    assert "\ndead is suspended: 401: no such key; repair it" in shown
    assert facts["stopped:tests.rating.judged_env"] == "suspended"
    assert facts["stopped:tictactoe_v0"] == "mu_stable"
    assert Asked.calls["dead"] == 1


@pytest.mark.slow
def test_suspension_holds_in_all_environments(tmp_path):
    text = run_file(["a", "b", "dead"], settings="concurrency = 1") + '[[environment]]\nname = "connect_four_v0"\n'
    Asked.failing["dead"] = DEAD
    facts = begin(tmp_path / "run", text).facts
    reasons = {name: value for name, value in facts.items() if name.startswith("stopped:")}
    assert Asked.calls["dead"] == 1
    assert set(reasons.values()) == {"mu_stable"}


def test_final_failure_is_not_retried_in_this_session(tmp_path):
    Asked.failing["dead"] = ProviderError("no reply", final=True)
    settings = "tries = 3\nmax_errors = 1000"
    _, void, records, _ = begin(tmp_path / "run", run_file(["a", "dead"], settings=settings, stop="max_matches = 8"))
    assert {record.tries for record in records} == {1}
    assert Asked.calls["dead"] == void == 8
    assert go_on(tmp_path / "run").void == 8
    assert Asked.calls["dead"] == 16


def test_command_with_suspended_policy_exits_with_3(tmp_path, capsys):
    Asked.failing["dead"] = DEAD
    path = tmp_path / "mine.toml"
    path.write_text(run_file(["a", "b", "dead"]))
    assert main(["run", str(path), "--out", str(tmp_path / "run")]) == 3
    captured = capsys.readouterr()
    assert captured.err.count("dead is suspended, the others go on: 401: no such key") == 1
    assert "void" in captured.err
