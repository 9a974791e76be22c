"""Runs of others: commands that read import, call and open nothing that a run file, a fact or a record names."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from llmarena_envs.sandbox import choice
from llmarena_envs.writer_editor import pass_rate
from rating.cli import main
from rating.cli.app import build_parser
from rating.play import run_directory
from rating.store import environments

ROOT = Path(__file__).parents[3]

READS = {
    "rate": [[], ["--json"], ["log.jsonl"]],
    "report": [[]],
    "compare": [["mine", "first_legal"]],
    "replay": [[], ["--json"], ["--verify"]],
    "agreement": [["--environment", "debate_v0"]],
    "export": [["--format", name] for name in ("jsonl", "csv", "battles", "matrix", "verdicts", "sft", "preference")]
    + [["--format", "grpo"], ["--format", "deals"]],
    "serve": [[]],
}
"""What each command that reads a run or a log is given behind its directory, or the log in place of it."""

OTHERS = {"list", "new", "init", "check", "play", "run", "resume", "demo", "exploit", "blame"}
"""They play, or print their own arguments."""

DRIVER = """
import io, json, sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from rating.cli import main

def look(directory):
    from starlette.testclient import TestClient
    from rating.viewer.web.app import make_app
    from rating.viewer.web.links import Links
    app = make_app(Path(directory), Links("secret", {}), {"testserver"})
    pages = TestClient(app, raise_server_exceptions=True)
    listed = [json.loads(line)["id"] for line in Path("matches").read_text().splitlines()]
    paths = ["", "/index", *(f"/match/{one}{turn}" for one in listed for turn in ("", "/1"))]
    return max(pages.get(f"/board/secret{path}").status_code for path in paths)

for command, *arguments in json.loads(sys.argv[1]):
    said, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(said), redirect_stderr(errors):
        code = look(*arguments) if command == "serve" else main([command, *arguments])
    known = [name for name in sys.modules if name.partition(".")[0] in ("trap", "antigravity")]
    touched = Path("marker").exists() or known != [] or "" in sys.path or str(Path.cwd()) in sys.path
    print(json.dumps([command, arguments, code, touched, errors.getvalue()]), flush=True)
"""

GAME = """
from agents.baselines.general import BASELINES as GENERAL
from agents.baselines.debate import BASELINES
from llmarena_envs.tictactoe.env import env, raw_env

player, debater, judge = GENERAL["first_legal"], BASELINES["debater"], BASELINES["constant"]
"""

TRAP = "from pathlib import Path\n\nPath('marker').touch()\n"

OWN_POLICIES = """
seed = 3
workers = 1
stop = { matches = 2, max_matches = 2, min_matches = 2 }
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "debate_v0"
scheme = "field"
opponent = "trap.game:debater"
options = { n_judges = 1 }
[environment.staff]
judge = ["trap.game:judge"]
[[policy]]
name = "mine"
spec = "trap.game:player"
environments = ["tictactoe_v0"]
[[policy]]
spec = "first_legal"
environments = ["tictactoe_v0"]
[[policy]]
spec = "debater"
environments = ["debate_v0"]
"""

OWN_GAME = """
workers = 1
stop = { matches = 2, max_matches = 2 }
environment = [{ name = "trap.game" }]
policy = [{ name = "mine", spec = "random" }, { spec = "first_legal" }]
"""


def llmarena(folder, *commands):
    """Runs commands in a process that starts in a folder, and returns of each the code, whether the trap closed, and errors."""
    code = [sys.executable, "-P", "-c", DRIVER, json.dumps(commands)]
    ran = subprocess.run(code, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def trapped(folder, text):
    """Plays a run of the code in a folder, arms that code, and returns the directory of the run."""
    game = folder / "trap" / "game.py"
    game.parent.mkdir(parents=True)
    game.write_text(GAME)
    (folder / "run.toml").write_text(text)
    command = [sys.executable, "-P", "-m", "rating.cli", "run", "run.toml", "--out", "run", "--quiet"]
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
    with closing(run_directory.open_store(folder / "run")) as store:
        (folder / "matches").write_text("".join(json.dumps({"id": name}) + "\n" for name in store.seals_of_matches()))
    game.write_text(TRAP)
    for name in ("run.py", "rating.py"):
        (folder / name).write_text(TRAP)
        shutil.copy(folder / name, folder / "run" / name)
    return folder / "run"


@pytest.fixture(scope="module")
def own_policies(tmp_path_factory):
    return trapped(tmp_path_factory.mktemp("policies"), OWN_POLICIES)


@pytest.fixture(scope="module")
def own_game(tmp_path_factory):
    return trapped(tmp_path_factory.mktemp("game"), OWN_GAME)


def commands_on(run, *, logs=True):
    """Returns every command that reads, on a copy of a run; with or without those that read a log."""
    folder = run.parent
    battle = {"environment": "trap.game", "model_a": "a", "model_b": "b", "winner": "model_a"}
    (folder / "log.jsonl").write_text(json.dumps(battle) + "\n")
    return [
        [command, *([] if "log.jsonl" in arguments else [str(run)]), *arguments]
        for command, all_arguments in READS.items()
        for arguments in all_arguments
        if logs or "log.jsonl" not in arguments
    ]


def test_every_command_is_in_one_of_the_tables():
    (commands,) = (action.choices for action in build_parser()._actions if isinstance(action.choices, dict))
    assert set(commands) <= READS.keys() | OTHERS


@pytest.mark.slow
def test_reading_a_run_imports_no_policies(own_policies):
    done = llmarena(own_policies.parent, *commands_on(own_policies))
    assert [(command, arguments) for command, arguments, _, touched, _ in done if touched] == []
    codes = {command: code for command, _, code, _, _ in done}
    assert codes.pop("serve") == 200
    assert {command: code for command, code in codes.items() if code} == {}


@pytest.mark.slow
def test_reading_a_run_imports_no_environment(own_game):
    done = llmarena(own_game.parent, *commands_on(own_game, logs=False))
    assert [(command, arguments) for command, arguments, _, touched, _ in done if touched] == []
    for command in ("rate", "report", "compare", "agreement"):
        assert all(code == 2 and "--trust" in error for name, _, code, _, error in done if name == command)
    (verified,) = (code for command, arguments, code, _, _ in done if "--verify" in arguments)
    assert verified == 1


@pytest.mark.slow
def test_trust_imports_an_environment_of_the_directory(own_game):
    game = own_game.parent / "trap" / "game.py"
    game.write_text(GAME)
    try:
        commands = (["rate", str(own_game), "--trust"], ["replay", str(own_game), "--verify", "--trust"])
        done = llmarena(own_game.parent, *commands)
    finally:
        game.write_text(TRAP)
    assert [(code, touched) for _, _, code, touched, _ in done] == [(0, True)] * 2


CALL = 'name = "mine"\nspec = "subprocess:getoutput"\noptions = { cmd = "touch marker" }'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "mine"\nspec = "trap.game:player"', CALL, 'spec: "trap.game:player" became "subprocess:getoutput"'),
        (
            'spec = "first_legal"',
            'spec = "os:system:command=touch marker"',
            "'os:system:command=touch marker' was added",
        ),
        ('["trap.game:judge"]', '["subprocess:getoutput:cmd=touch marker"]', "debate_v0: staff: judge"),
        ('opponent = "trap.game:debater"', 'opponent = "antigravity:x"', 'opponent: "trap.game:debater" became'),
        (
            'name = "tictactoe_v0"\n[[env',
            'name = "antigravity.x"\n[[env',
            "tictactoe_v0: the environment was taken out",
        ),
        ("seed = 3", "seed = 4", "seed: 3 became 4"),
        ("n_judges = 1", "n_judges = 2", "debate_v0: options: n_judges: 1 became 2"),
    ],
)
def test_changed_run_file_is_refused_without_imports(own_policies, tmp_path, old, new, said):
    run = shutil.copytree(own_policies.parent, tmp_path / "copy") / "run"
    text = (run / "run.toml").read_text()
    assert old in text
    (run / "run.toml").write_text(text.replace(old, new))
    done = llmarena(run.parent, *({one[0]: one for one in commands_on(run, logs=False) if one[0] != "serve"}.values()))
    assert not any(touched for _, _, _, touched, _ in done)
    for command in ("rate", "report", "compare", "agreement"):
        assert all(code == 2 and said in error for name, _, code, _, error in done if name == command)


@pytest.mark.slow
def test_resume_of_changed_run_file_imports_no_module(own_policies, tmp_path):
    run = shutil.copytree(own_policies.parent, tmp_path / "copy") / "run"
    (run / "run.toml").write_text(
        (run / "run.toml").read_text().replace('name = "tictactoe_v0"\n', 'name = "trap.x"\n')
    )
    ((_, _, code, touched, error),) = llmarena(run.parent, ["resume", str(run)])
    assert (code, touched) == (2, False)
    assert "the environment was taken out" in error


@pytest.mark.slow
def test_changed_facts_and_records_import_no_module(own_policies, tmp_path):
    run = shutil.copytree(own_policies.parent, tmp_path / "copy") / "run"
    with closing(sqlite3.connect(run / "run.db")) as db, db:
        for old, new in (
            ("tictactoe_v0", "trap.game"),
            ("debate_v0", "antigravity.x"),
            ('"debater"', '"trap.game:debater"'),
        ):
            db.execute("UPDATE fact SET value = replace(value, ?, ?)", (old, new))
            for table in ("match", "dictionary"):
                db.execute(f"UPDATE {table} SET environment = replace(environment, ?, ?)", (old, new))
            (run / "run.toml").write_text((run / "run.toml").read_text().replace(old, new))
    done = llmarena(run.parent, *(one for one in commands_on(run, logs=False) if one[0] != "serve"))
    assert not any(touched for _, _, _, touched, _ in done)


WORDS = """
workers = 1
stop = {{ matches = 4 }}
environment = [{{ name = "undercover_v0", options = {{ word_pairs = "{path}" }} }}]
policy = [{{ spec = "random" }}, {{ spec = "first_legal" }}]
"""


@pytest.fixture
def distrusting(monkeypatch):
    """Lets this process know nothing of the runs that it has played."""

    def forget():
        monkeypatch.setattr(environments, "_files", set())

    return forget


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("command", "code"),
    [(["rate"], 2), (["report"], 2), (["replay", "--verify"], 1), (["export", "--format", "sft"], 1)],
)
def test_files_named_by_records_are_opened_only_with_trust(tmp_path, capsys, distrusting, command, code):
    (tmp_path / "words.csv").write_text("category,a,b\n" + "".join(f"food,apple{n},pear{n}\n" for n in range(9)))
    (tmp_path / "run.toml").write_text(WORDS.format(path=tmp_path / "words.csv").replace("first_legal", "silent"))
    run = str(tmp_path / "run")
    assert main(["run", str(tmp_path / "run.toml"), "--out", run, "--quiet"]) == 0, capsys.readouterr().err
    distrusting()
    capsys.readouterr()
    assert main([command[0], run, *command[1:]]) == code
    shown = capsys.readouterr()
    assert "opens no file that it names" in shown.out + shown.err and "--trust" in shown.out + shown.err
    assert main([command[0], run, *command[1:], "--trust"]) == 0


PROGRAMS = """
workers = 1
stop = {{ matches = 1 }}
[[environment]]
name = "writer_editor_v0"
options = {{ max_rounds = 1, sandbox = "unisolated" }}
staff = {{ judge = ["rubric"] }}
[[policy]]
spec = "{module}:Leaving"
[[policy]]
spec = "fixer"
"""


class Leaving:
    """A writer whose programs leave a file."""

    def __call__(self, observation):
        return f"```python\nopen({os.environ['LEFT']!r}, 'w').close()\n```"


@pytest.fixture
def programs(tmp_path, monkeypatch, capsys, distrusting):
    """A run whose programs left a file when they were tested, which is gone."""
    left = tmp_path / "left"
    monkeypatch.setenv("LEFT", str(left))
    (tmp_path / "run.toml").write_text(PROGRAMS.format(module=__name__))
    assert main(["run", str(tmp_path / "run.toml"), "--out", str(tmp_path / "run"), "--quiet"]) == 0
    assert left.exists()
    left.unlink()
    pass_rate._share_passed.cache_clear()
    distrusting()
    capsys.readouterr()
    yield tmp_path / "run", left
    pass_rate._share_passed.cache_clear()


READ_PROGRAMS = (["replay", "--verify"], ["rate"], ["report"], ["export", "--format", "sft"])


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("commands", "trust"), [(READ_PROGRAMS[:1], []), (READ_PROGRAMS[1:], []), (READ_PROGRAMS, ["--trust"])]
)
def test_recorded_programs_run_in_an_isolating_sandbox(programs, commands, trust):
    run, left = programs
    for command in commands:
        main([command[0], str(run), *command[1:], *trust])
        assert not left.exists()


@pytest.mark.slow
def test_programs_are_not_replayed_without_a_sandbox(programs, monkeypatch, capsys):
    run, left = programs
    monkeypatch.setattr(choice, "ISOLATING", {})
    choice.find_sandbox.cache_clear()
    pass_rate._why_missing.cache_clear()
    try:
        for command in READ_PROGRAMS:
            main([command[0], str(run), *command[1:], "--trust"])
            assert not left.exists()
        capsys.readouterr()
        assert main(["replay", str(run), "--verify"]) == 1
        assert "run only in a sandbox that isolates them" in capsys.readouterr().out
    finally:
        choice.find_sandbox.cache_clear()
        pass_rate._why_missing.cache_clear()


def test_links_of_a_run_are_not_followed(tmp_path, capsys):
    run = tmp_path / "run"
    run_directory.create(run, OWN_GAME.replace("trap.game", "tictactoe_v0"), "run.toml")[1].close()
    (tmp_path / "mine").write_text("mine")
    for name in ("report.html", "plots", "run.lock", "run.toml"):
        path = run / name
        kept = path.read_bytes() if path.exists() else None
        path.unlink(missing_ok=True)
        path.symlink_to(tmp_path / "mine")
        assert main(["report", str(run), "--plots"]) == 2
        assert "symbolic link" in capsys.readouterr().err
        path.unlink()
        if kept is not None:
            path.write_bytes(kept)
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.slow
def test_workers_do_not_import_from_the_working_directory(tmp_path):
    for name in ("random", "socket", "threading", "pickle", "rating", "agents"):
        (tmp_path / f"{name}.py").write_text(TRAP)
    policies = ["--policy", "random", "--policy", "first_legal", "--max-matches", "4", "--workers", "2"]
    ((_, _, code, touched, error),) = llmarena(
        tmp_path, ["run", "--env", "tictactoe_v0", *policies, "--executor", "process", "--out", "run", "--quiet"]
    )
    assert (code, touched) == (0, False), error
