"""The command line as a user meets it: output, JSON, exit codes, refusals."""

import io
import json
import re
import shutil
import signal
import sys

import pytest

from agents.errors import ProviderError, Quit
from llmarena_envs.core.options import OptionError
from rating.cli import main
from rating.cli.app import build_parser
from rating.cli.run import read_policies
from rating.errors import BudgetExceeded, ErrorBudgetExceeded, IncompleteRun, RunError, StoreError

TICTACTOE = ["--env", "tictactoe_v0"]
POLICIES = ["--policy", "random", "--policy", "first_legal"]


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runs") / "run"
    flags = ["--seed", "5", "--max-matches", "10", "--min-matches", "6", "--workers", "1"]
    assert (
        main(["run", "--env", "tictactoe_v0", "--env", "connect_four_v0", *POLICIES, *flags, "--out", str(directory)])
        == 0
    )
    return directory


def output(capsys, *arguments):
    assert main(list(map(str, arguments))) == 0
    return capsys.readouterr().out


def refusal(capsys, *arguments):
    assert main(list(map(str, arguments))) == 2
    return capsys.readouterr().err


def test_list_prints_environments_and_policies(capsys):
    environments = json.loads(output(capsys, "list", "--json"))
    assert {"name": "tictactoe_v0", "id": "llmarena/tictactoe-v0"}.items() <= environments[0].items()
    assert "tictactoe_v0" in output(capsys, "list")
    (row,) = json.loads(output(capsys, "list", "connect_four_v0", "--json"))
    assert {"random", "first_legal", "greedy", "minimax"} <= row["policies"].keys()
    assert "with configurable biases. (praise=4.0)\n" in output(capsys, "list", "simulation_v0")


@pytest.mark.parametrize(
    ("command", "resume"),
    [
        (["play", "tictactoe_v0", "--policy", "player_0=human", "--policy", "player_1=random"], ""),
        (["run", *TICTACTOE, "--policy", "human", "--policy", "random"], "Resume with: llmarena resume {out}\n"),
        (
            ["run", *TICTACTOE, "--policy", "human", "--policy", "random", "--executor", "process"],
            "{out} --executor process\n",
        ),
    ],
)
def test_person_who_leaves_gets_the_resume_command(capsys, monkeypatch, tmp_path, command, resume):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    out = tmp_path / "run"
    assert main([*command, "--out", str(out)]) == 130
    assert capsys.readouterr().err.endswith(f"{resume.format(out=out)}llmarena: you left the match\n")


def test_interruption_while_modules_load_shows_no_traceback(capsys, monkeypatch):
    monkeypatch.setattr("rating.cli.app._run", lambda args: signal.raise_signal(signal.SIGINT))
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "llmarena: interrupted\n"


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (StoreError("malformed"), 2, "malformed"),
        (RunError("no run"), 2, "no run"),
        (OptionError("no option"), 2, "no option"),
        (PermissionError("no way"), 2, "no way"),
        (BudgetExceeded("the budget is used up"), 4, "used up"),
        (ErrorBudgetExceeded("too many"), 3, "too many"),
        (IncompleteRun("two are void"), 3, "two are void"),
        (ProviderError("no reply"), 3, "no reply"),
        (Quit("left"), 130, "left"),
        (ZeroDivisionError("a bug"), 1, "internal error"),
    ],
)
def test_errors_become_a_message_and_an_exit_code(capsys, monkeypatch, error, code, message):
    def fail(args):
        raise error

    monkeypatch.setattr("rating.cli.environments.main", fail)
    assert main(["list"]) == code
    shown = capsys.readouterr()
    assert message in shown.err and shown.out == ""
    assert ("Traceback" in shown.err) == (code == 1)


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("15m", 900), ("1h30m", 5400), ("2h5s", 7205)])
def test_max_time_reads_hours_minutes_and_seconds(text, seconds):
    assert build_parser().parse_args(["resume", "run", "--max-time", text]).max_time == seconds


@pytest.mark.parametrize(
    ("flag", "value"),
    [("time", ""), ("time", "0"), ("time", "-5"), ("time", "1.5h"), ("time", "m"), ("cost", "nan"), ("cost", "0")],
)
def test_invalid_limits_are_refused(capsys, flag, value):
    with pytest.raises(SystemExit) as left:
        build_parser().parse_args(["resume", "run", f"--max-{flag}={value}"])
    assert left.value.code == 2
    assert "expected" in capsys.readouterr().err


def test_policy_of_the_current_directory_is_found(capsys, monkeypatch, tmp_path):
    (tmp_path / "policies_of_mine.py").write_text(
        "def leftmost():\n    return lambda observation: int(observation['action_mask'].argmax())\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    seats = ["--policy", "player_0=policies_of_mine:leftmost", "--policy", "player_1=random"]
    assert ": +1\n" in output(capsys, "play", "tictactoe_v0", *seats)


@pytest.mark.slow
def test_run_with_void_matches_exits_with_3_and_resumes(capsys, monkeypatch, tmp_path):
    run_file, out = tmp_path / "run.toml", tmp_path / "run"
    run_file.write_text(
        'schedule = "round_robin"\nmax_errors = 1000\ntries = 1\nworkers = 1\n'
        '[stop]\nmax_matches = 4\nmin_matches = 4\n[[environment]]\nname = "tictactoe_v0"\n'
        + "".join(f'[[policy]]\nspec = "{spec}"\n' for spec in ("random", "greedy", "tests.rating.players:raises"))
    )
    assert main(["run", str(run_file), "--out", str(out)]) == 3
    shown = capsys.readouterr()
    assert "greedy" in shown.out
    assert re.search(r"^tictactoe_v0: match \d+ is void: the policy raised OSError: the line is dead$", shown.err, re.M)
    assert re.search(r"incomplete run: \d matches are void.*llmarena resume", shown.err)
    monkeypatch.setattr("tests.rating.players.raises", lambda: lambda seen: int(seen["action_mask"].argmax()))
    assert main(["resume", str(out)]) == 0
    assert "void" not in capsys.readouterr().err


def test_control_characters_of_servers_are_escaped(capsys, monkeypatch, tmp_path):
    def raises():
        def policy(observation):
            raise ProviderError("\x1b[2J\u202e503")

        return policy

    monkeypatch.setattr("tests.rating.players.raises", raises)
    run_file = tmp_path / "run.toml"
    run_file.write_text(
        'max_errors = 1\nworkers = 1\n[[environment]]\nname = "tictactoe_v0"\n'
        + "".join(f'[[policy]]\nspec = "{spec}"\n' for spec in ("random", "tests.rating.players:raises"))
    )
    assert main(["run", str(run_file), "--out", str(tmp_path / "run")]) == 3
    shown = capsys.readouterr()
    assert shown.err.count("\\x1b[2J\\u202e503") == 2  # as it happens, and at the end
    assert main(["replay", str(tmp_path / "run")]) == 0
    assert not re.search("[\x1b\u202e]", shown.err + capsys.readouterr().out)


def test_policies_are_restricted_to_the_named_environments():
    environments = ["tictactoe_v0", "connect_four_v0", "bid_v0"]
    named = [
        "random",
        "greedy@tictactoe_v0,connect_four_v0",
        "minimax@tictactoe_v0",
        "minimax@llmarena/connect-four-v0",
    ]
    assert read_policies(named, environments) == (
        ["random", "greedy", "minimax"],
        {
            "greedy": ["tictactoe_v0", "connect_four_v0"],
            "minimax": ["tictactoe_v0", "llmarena/connect-four-v0"],
        },
    )
    assert read_policies(["openai:haiku@20251001", "openai:a@mine"], ["mine"]) == (
        ["openai:haiku@20251001", "openai:a"],
        {"openai:a": ["mine"]},
    )


PLAY, RUN = "play tictactoe_v0", "run --out OUT --env tictactoe_v0"
TWO = "--policy random --policy first_legal"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("play tictacto --policy player_0=random", "did you mean 'tictactoe_v0'"),
        (f"{PLAY}#a#b --policy player_0=random", "expected a label"),
        (f"{PLAY}#{'x' * 41} --policy player_0=random", "expected a label"),
        (f"{RUN}#a --env llmarena/tictactoe-v0#a {TWO}", "expected distinct names, got 'tictactoe_v0#a' twice"),
        (f"{PLAY} --policy player_2=random", "seat: expected one of 'player_0', 'player_1', got 'player_2'"),
        (f"{PLAY} --policy random", "expected SEAT=POLICY"),
        (f"{PLAY} --policy player_0=a --policy player_0=b", "expected one for player_0, got 'a' and 'b'"),
        (f"{PLAY} --policy player_0=minmax --policy player_1=random", "did you mean 'minimax'"),
        (f"{PLAY} --option obs_type=vector --policy player_0=random", "option: expected one of 'hint', 'random_op"),
        (f"run --env tictactoe_v0 {TWO} --out /dev/null/x", "Not a directory"),
        (RUN, "--games and at least one --policy or --model"),
        (f"{RUN} --policy random", "expected 2 policies or more"),
        ("run missing.toml --out OUT", "missing.toml: expected a run file"),
        (f"{RUN} missing.toml", "expected a run file or flags, got both"),
        (f"{RUN} {TWO} --policy greedy@tictactoe", "got 'tictactoe'; did you mean 'tictactoe_v0'"),
        (f"{RUN} {TWO} --stop sperman=0.9", "stop rule: expected trueskill, or one or several of these"),
        ("run missing.toml --stop trueskill --out OUT", "expected a run file or flags, got both"),
        *(
            (f"{name} OUT", "expected the directory of a run")
            for name in ("rate", "resume", "report", "replay", "export")
        ),
        ("compare OUT a b", "expected the directory of a run"),
    ],
)
def test_wrong_arguments_are_refused(capsys, tmp_path, command, message):
    assert message in refusal(capsys, *command.replace("OUT", str(tmp_path / "out")).split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("arguments", [("rate",), ("serve",), ("run", "study.toml", "--out")])
def test_url_in_place_of_a_directory_is_not_repeated(capsys, arguments):
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "postgresql://me:geheim@h/d"])
    error = capsys.readouterr().err
    assert ended.value.code == 2 and "by its directory" in error and "geheim" not in error


def test_run_directory_is_never_overwritten(capsys, finished_run, tmp_path):
    before = (finished_run / "run.db").read_bytes()
    assert "got one with files" in refusal(capsys, "run", "--env", "tictactoe_v0", *POLICIES, "--out", finished_run)
    assert (finished_run / "run.db").read_bytes() == before
    (tmp_path / "file").write_text("mine")
    assert "got one with files" in refusal(capsys, "run", "--env", "tictactoe_v0", *POLICIES, "--out", tmp_path)


def test_rate_prints_leaderboards(capsys, finished_run):
    found = json.loads(output(capsys, "rate", finished_run, "--json"))
    boards = found["leaderboards"]
    assert [board["environment"] for board in boards] == ["tictactoe_v0", "connect_four_v0"]
    assert {row["policy"] for row in boards[0]["rows"]} == {"random", "first_legal"}
    assert found["summary"]["pool"] == {
        "environments": ["tictactoe_v0", "connect_four_v0"],
        "policies": ["first_legal", "random"],
    }
    shown, wide = output(capsys, "rate", finished_run), output(capsys, "rate", finished_run, "--wide")
    assert max(map(len, shown.splitlines())) <= 100 < max(map(len, wide.splitlines()))
    assert "first_legal" in shown and "95 % confidence" in shown and "shuffled" not in shown
    assert "shuffled" in wide and "W/D/L" in wide and re.search(r" \d+/\d+/\d+ ", wide)


def test_resume_of_a_finished_run_plays_nothing(capsys, finished_run):
    before = output(capsys, "export", finished_run)
    assert re.search(
        r"^Seal: [0-9a-f]{64}\nPlay digest: [0-9a-f]{64}$", output(capsys, "resume", finished_run, "--explain"), re.M
    )
    assert output(capsys, "export", finished_run) == before


def test_resume_adds_a_policy_in_the_named_environments(capsys, finished_run, tmp_path):
    copy = shutil.copytree(finished_run, tmp_path / "copy")
    output(capsys, "resume", copy, "--add", "minimax@tictactoe_v0", "--option", "depth=1", "--name", "one_ply")
    boards = json.loads(output(capsys, "rate", copy, "--json"))["leaderboards"]
    assert {row["policy"] for row in boards[0]["rows"]} == {"random", "first_legal", "one_ply"}
    assert {row["policy"] for row in boards[1]["rows"]} == {"random", "first_legal"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--name", "x"], "say which with --add"),
        (["--add", "greedy", "--prior", "3"], "only a tournament has initial scores"),
        (["--add", "gredy"], "did you mean 'greedy'"),
        (["--add", "greedy@tictacto_v0"], "did you mean 'tictactoe_v0'"),
        (["--add", "random"], "expected distinct names, got 'random' twice"),
    ],
)
def test_resume_with_wrong_added_policy_changes_nothing(capsys, finished_run, tmp_path, flags, message):
    copy = shutil.copytree(finished_run, tmp_path / "copy")
    assert message in refusal(capsys, "resume", copy, *flags)
    assert (copy / "run.toml").read_text() == (finished_run / "run.toml").read_text()


def test_stop_rule_without_effect_is_noted(capsys, tmp_path):
    policies = [f"--policy={name}" for name in ("random", "free_rider", "full_contributor", "conditional_cooperator")]
    flags = ["--workers", "1", "--stop", "width=60", "--max-matches", "4", "--out", tmp_path / "run"]
    assert main(["run", "--env", "public_goods_v0", *policies, *map(str, flags)]) == 0
    assert "note: public_goods_v0: the stop rule 'width=60' has no effect" in capsys.readouterr().err


def test_replay_lists_shows_and_verifies(capsys, finished_run):
    listed = output(capsys, "replay", finished_run).splitlines()
    match = listed[0].split()[0]
    assert "Moves so far:" in output(capsys, "replay", finished_run, match[:8])
    assert f"{len(listed)} of {len(listed)} finished matches verified" in output(
        capsys, "replay", finished_run, "--verify"
    )
    assert "expected an id of a match" in refusal(capsys, "replay", finished_run, "zzz")


@pytest.mark.slow
def test_report_prints_its_path(capsys, finished_run, tmp_path):
    path = tmp_path / "r.html"
    assert output(capsys, "report", finished_run, "--output", path) == f"Report: {path}\n"
    assert [*tmp_path.iterdir()] == [path] and not (finished_run / "plots").exists()
    plots = tmp_path / "new" / "figures"
    printed = json.loads(output(capsys, "report", finished_run, "--output", path, "--json", "--plots", plots))
    assert printed == {"report": str(path), "plots": str(plots)} and any(plots.glob("*.svg"))
    first = path.read_bytes()
    output(capsys, "report", finished_run, "--output", path)
    assert path.read_bytes() == first
