"""Environments of other people, from the run file to the report: compared as they declare, served by the staff of the run."""

import importlib
import json
import re
import sys

import pytest

from rating.cli import main
from tests.rating.third_party import write_environment

NUMBER = """
[[policy]]
name = "{name}"
spec = "tests.rating.players:answers"
options = {{ value = {value} }}
{more}
"""
MAJORITY = """votes = [said[name] for name in AGENTS if name.startswith("judge")]
    first = sum(vote == 0 for vote in votes) * 2 > len(votes)
    return {"debater_0": 1 if first else -1, "debater_1": -1 if first else 1}"""
JUDGES = ("debater_0", "judge_0", "debater_1", "judge_1", "judge_2")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "elsewhere"]:
        del sys.modules[name]


def policy(name, value, more=""):
    return NUMBER.format(name=name, value=value, more=more)


def run_text(environment, policies, staff="", top=""):
    stop = "[stop]\nmatches = 6\nmin_matches = 6\nmax_matches = 20\n"
    return f'workers = 1\n{top}\n{stop}[[environment]]\nname = "{environment}"\n{staff}\n{"".join(policies)}'


def rated(folder, capsys, text, code=0):
    """Runs and rates through the command line; returns the leaderboard."""
    (folder / "run.toml").write_text(text, encoding="utf-8")
    assert main(["run", str(folder / "run.toml"), "--out", str(folder / "run")]) == code
    capsys.readouterr()
    assert main(["rate", "--json", str(folder / "run")]) == 0
    (board,) = json.loads(capsys.readouterr().out)["leaderboards"]
    assert main(["replay", "--verify", str(folder / "run")]) == 0
    return board


def play_digest(folder, capsys):
    """Returns how many matches were played, and tries and digest of them all."""
    capsys.readouterr()
    assert main(["replay", "--json", str(folder / "run")]) == 0
    return [(record["id"], record["tries"], record["digest"]) for record in json.loads(capsys.readouterr().out)]


def refused(folder, capsys, text):
    (folder / "run.toml").write_text(text, encoding="utf-8")
    assert main(["run", str(folder / "run.toml"), "--out", str(folder / "run")]) == 2
    assert not (folder / "run").exists()
    return capsys.readouterr().err


@pytest.mark.slow
def test_matches_without_a_verdict_are_counted_and_not_rated(folder, capsys):
    name = write_environment(folder, "debate", JUDGES, 'rated_roles=("debater",)', MAJORITY)
    staff = '[environment.staff]\njudge = ["silent"]\n'
    policies = [policy("weak", 1), policy("strong", 2), policy("silent", 9, "rated = false")]
    board = rated(folder, capsys, run_text(name, policies, staff))
    assert (board["matches"], board["void_matches"], board["stop_reason"]) == (0, 0, "cap")
    assert board["undecided_matches"] >= 20
    for row in board["rows"]:
        assert (row["rating"], row["mu"], row["effort"]["undecided_matches"]) == (
            None,
            None,
            board["undecided_matches"],
        )
    assert main(["report", str(folder / "run")]) == 0
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert f"left out: {board['undecided_matches']} matches without a result" in page
    digest = play_digest(folder, capsys)
    assert main(["resume", str(folder / "run")]) == 0  # nothing is played again
    assert play_digest(folder, capsys) == digest


def test_failing_judge_voids_matches(folder, capsys):
    name = write_environment(folder, "debate", JUDGES, 'rated_roles=("debater",)', MAJORITY)
    staff = '[environment.staff]\njudge = ["tests.rating.players:raises", "weak"]\n'
    text = run_text(name, [policy("weak", 1), policy("strong", 2)], staff, "max_errors = 1000\ntries = 1")
    board = rated(folder, capsys, text, code=3)
    assert (board["matches"], board["void_matches"], board["stop_reason"]) == (0, 24, "cap")
    assert {row["policy"]: row["effort"]["void_matches"] for row in board["rows"]} == {"weak": 24, "strong": 24}
    assert [row["rating"] for row in board["rows"]] == [None, None]
    assert {row["policy"] for row in board["staff"]} == {"tests.rating.players:raises", "weak"}


def test_one_rated_seat_gets_the_same_deals_for_every_policy(folder, capsys):
    declaration = 'scheme="mean_reward", rated_roles=("simulator",)'
    name = write_environment(folder, "simulation", ("user_0", "simulator_0", "judge_0"), declaration)
    staff = '[environment.staff]\nuser = ["random"]\njudge = ["random"]\n'
    board = rated(folder, capsys, run_text(name, [policy("a", 3), policy("b", 5)], staff))
    assert [(row["policy"], row["reward"]["value"]) for row in board["rows"]] == [("b", 5.0), ("a", 3.0)]
    assert {row["reward"]["clusters"] for row in board["rows"]} == {board["matches"] // 2}


@pytest.mark.parametrize(
    ("declaration", "staff", "message"),
    [
        ('rated_roles=("debater",)', "", r'\[environment.staff\]\njudge = \["random"\]'),
        ('rated_roles=("debater",)', '[environment.staff]\njuge = ["random"]', "did you mean 'judge'"),
        (
            'rated_roles=("debater",)',
            '[environment.staff]\njudge = ["random", "a", "random", "b"]',
            r"as there are seats of judge or fewer \(3\), got 4",
        ),
        ('rated_roles=("debater",)', "[environment.staff]\njudge = []", "staff.judge: .*at least 1 item"),
        ('rated_roles=("debater",)', '[environment.staff]\njudge = ["randon"]', "did you mean 'random'"),
        ('rated_roles=("speaker",)', "", "expected seats with one of the roles .*speaker"),
        ('rated_roles="debater"', "", "expected a tuple of roles, got the text 'debater'"),
        ('scheme="duel"', "", "scheme: expected one of .*cooperation.*did you mean 'duels'"),
        ('scheme="duels"', "", "compared by duels: expected an environment with 2 rated seats, got 5"),
        ('scheme="mean_reward"', "", "expected 5 policies or more, got"),
        ('scheme="roles", rated_roles=("debater",)', 'opponent = "a"', "opponent: expected none"),
        ('scheme="mean_reward"', '[environment.staff]\njudge = ["random"]', "every seat is rated here, got 'judge'"),
    ],
)
def test_invalid_declaration_or_staff_is_refused(folder, capsys, declaration, staff, message):
    name = write_environment(folder, "debate", JUDGES, declaration, MAJORITY)
    if "opponent" in staff:
        staff += '\n[environment.staff]\njudge = ["random"]'
    policies = [policy(letter, 1) for letter in ("ab" if "every" not in message else "abcde")]
    assert re.search(message, refused(folder, capsys, run_text(name, policies, staff)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Declaration()", "{}", "expected a Declaration in raw_env"),
        ("class raw_env", "raw_env = lambda: None\n\n\nclass Raw", "expected raw_env to be a subclass of TextEnv"),
    ],
)
def test_environment_without_a_declaration_is_refused(folder, capsys, old, new, message):
    name = write_environment(folder, "silent", ("player_0", "player_1"), "")
    path = folder / "elsewhere" / "silent.py"
    path.write_text(path.read_text().replace(old, new))
    assert message in refused(folder, capsys, run_text(name, [policy("a", 1), policy("b", 2)]))
