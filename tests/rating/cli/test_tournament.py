"""Tournaments through the command line: judges from the pool, void matches, interruptions, newcomers."""

import itertools
import json
import re
from contextlib import nullcontext

import pytest

from rating.cli import main
from rating.store.records import FINISHED
from rating.store.store import Store
from tests.rating.runs import records_of

JUDGED = "tests.rating.judged_env"
MODEL = '[[policy]]\nname = "{name}"\nspec = "tests.rating.judged_env:Model"\noptions = {{ {options} }}\n'


def text(count=7, *, options="", rules="questions = 2", environment="", top="", least=5):
    """A run file with models ``m0`` (the weakest) to ``m{count - 1}``."""
    models = [MODEL.format(name=f"m{index}", options=f"strength = {30 + 8 * index}{options}") for index in range(count)]
    return (
        f'workers = 1\nseed = 5\n{top}\n[[environment]]\nname = "{JUDGED}"\n{environment}\n'
        f"[environment.tournament]\nmin_judges = {least}\n{rules}\n{''.join(models)}"
    )


def run(folder, run_file, code=0):
    path = folder / "run.toml"
    path.write_text(run_file, encoding="utf-8")
    assert main(["run", str(path), "--out", str(folder / "run")]) == code
    return folder / "run"


def board(directory, capsys):
    capsys.readouterr()
    assert main(["rate", "--json", str(directory)]) == 0
    (found,) = json.loads(capsys.readouterr().out)["leaderboards"]
    return found


def played(directory):
    """Everything but wall times and tries that a run has left."""
    return [(record.match, record.outcome, record.digest) for record in records_of(directory)]


def committees(directory):
    return {
        record.match.number // 2: (record.match.policies[:2], record.match.policies[2:])
        for record in records_of(directory)
    }


def test_tournament_with_min_judges_excludes_families(tmp_path):
    rules = 'questions = 2\nexclude = ["m6"]\nexclude_family = true\nfamilies = { m0 = "x", m1 = "x", m2 = "y" }'
    directory = run(tmp_path, text(7, rules=rules, least=1))
    for pair, judges in committees(directory).values():
        assert "m6" not in judges
        assert not ({"m0", "m1"} & set(pair) and {"m0", "m1"} & set(judges))
    assert {record.match.options["n_judges"] for record in records_of(directory)} == {3, 4, 5}


def test_tournament_with_staff_uses_it_in_every_match(tmp_path):
    staff = '[environment.staff]\njudge = ["tests.rating.judged_env:Model"]\n'
    directory = run(tmp_path, text(4, environment=staff))
    assert {judges for _, judges in committees(directory).values()} == {("tests.rating.judged_env:Model",) * 5}


@pytest.mark.slow
@pytest.mark.parametrize("fails_as", ["", "judge"])
def test_tournament_with_void_matches_resumes_unchanged(tmp_path, capsys, fails_as):
    (tmp_path / "calm").mkdir()
    calm = run(tmp_path / "calm", text(7))
    failing = f', period = 23, fails_as = "{fails_as}"'
    directory = run(tmp_path, text(7, options=failing, top="tries = 1\nmax_errors = 10000"), code=3)
    shown = board(directory, capsys)
    assert shown["void_matches"] > 0 and shown["stop_reason"] == "void"
    assert shown["matches"] + shown["void_matches"] == 2 * (len(shown["facts"]["path"]) + 1)  # nothing on top of them
    codes = []
    while 0 not in codes and len(codes) < 60:
        codes.append(main(["resume", str(directory)]))
    assert set(codes) == {0, 3} and len(codes) > 2
    assert played(directory) == played(calm)
    assert board(directory, capsys) == board(calm, capsys)
    assert main(["replay", "--verify", str(directory)]) == 0


@pytest.mark.slow
def test_newcomer_is_placed_and_the_run_verifies(tmp_path, capsys):
    directory = run(tmp_path, text(7))
    before = records_of(directory)
    command = ["resume", str(directory), "--add", "tests.rating.judged_env:Model", "--name", "new"]
    assert main([*command, "--option", "strength=60", "--prior", "3.5"]) == 0
    after = records_of(directory)
    assert [record.match for record in after[: len(before)]] == [record.match for record in before]
    placed = {frozenset(record.match.policies[:2]) for record in after[len(before) :]}
    assert len(placed) == 3 and all("new" in pair for pair in placed)  # log2 of eight
    shown = board(directory, capsys)
    assert (shown["facts"]["newcomers"], shown["matches"]) == (["new"], 12 * 2)
    assert main(["replay", "--verify", str(directory)]) == 0
    assert main(["report", str(directory)]) == 0
    assert main([*command[:-1], "newer"]) == 0  # another one after it
    assert board(directory, capsys)["facts"]["newcomers"] == ["new", "newer"]
    assert main(command) == 2
    assert "policy: expected distinct names, got 'new' twice" in capsys.readouterr().err


@pytest.mark.slow
def test_interrupted_placing_of_a_newcomer_is_resumed(tmp_path, monkeypatch):
    add = ["--add", "tests.rating.judged_env:Model", "--name", "new", "--option", "strength=60"]
    directories = []
    for name in ("whole", "stopped"):
        (tmp_path / name).mkdir()
        directories.append(run(tmp_path / name, text(7)))
    whole, stopped = directories
    assert main(["resume", str(whole), *add]) == 0
    left, finish = itertools.count(-3), Store.finish
    with monkeypatch.context() as patched:
        patched.setattr(Store, "finish", lambda *given, **named: finish(*given, **named) if next(left) < 0 else 1 / 0)
        assert main(["resume", str(stopped), *add]) == 1
    assert main(["resume", str(stopped)]) == 0
    assert played(stopped) == played(whole)


def test_newcomer_of_an_incomplete_tournament_is_refused(tmp_path, capsys):
    directory = run(tmp_path, text(7, options=", period = 23", top="tries = 1\nmax_errors = 10000"), code=3)
    kept = (directory / "run.toml").read_text()
    assert main(["resume", str(directory), "--add", "tests.rating.judged_env:Model"]) == 2
    assert f"first run: llmarena resume {directory}" in capsys.readouterr().err
    assert (directory / "run.toml").read_text() == kept


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("command", [["no_such_policy"], ["tests.rating.judged_env:Model", "--prior", "nan"]])
def test_invalid_newcomer_changes_nothing(tmp_path, capsys, command):
    directory = run(tmp_path, text(7))
    kept, found = (directory / "run.toml").read_text(), played(directory)
    with pytest.raises(SystemExit) if "--prior" in command else nullcontext():
        assert main(["resume", str(directory), "--add", *command]) == 2
    assert re.search("no_such_policy|finite number", capsys.readouterr().err)
    assert ((directory / "run.toml").read_text(), played(directory)) == (kept, found)
    assert main(["replay", "--verify", str(directory)]) == 0


def test_stop_table_of_a_tournament_is_noted_as_unused(tmp_path, capsys):
    run(tmp_path, text(7, rules="questions = 1", top="stop = { max_matches = 4 }"))
    told = capsys.readouterr().err
    assert f"note: {JUDGED}: [stop] (max_matches) has no effect on a tournament, which ends with its last round" in told


@pytest.mark.slow
def test_newcomer_plays_only_the_named_environment(tmp_path):
    others = """[[policy]]
spec = "random"
[[policy]]
spec = "greedy"
environments = ["tictactoe_v0"]
[[environment]]
name = "tictactoe_v0"
[stop]
min_matches = 4
max_matches = 4
"""
    models = text(7, rules="questions = 1").replace("[[policy]]\n", f'[[policy]]\nenvironments = ["{JUDGED}"]\n')
    directory = run(tmp_path, models + others)
    assert main(["resume", str(directory), "--add", f"random@{JUDGED}", "--name", "late"]) == 0
    boards = [record.match for record in records_of(directory) if record.match.environment == "tictactoe_v0"]
    assert {name for match in boards for name in match.policies} == {"random", "greedy"}
    assert all(record.status == FINISHED for record in records_of(directory))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("prior = { m7 = 1.0 }", "tournament.prior: expected one of .*'m0'.*got 'm7'; did you mean 'm"),
        ('families = { n0 = "x" }', "tournament.families: .*got 'n0'; did you mean 'm0'"),
        ("prior = { m1 = nan }", "prior.*m1.*finite number"),
        ("question = 3", "unknown key .*question.*did you mean 'questions'"),
        ("questions = 0", "questions.*greater than or equal to 1"),
        ('ties = "third"', "ties.*'half' or 'drop'"),
        ('exclude = ["m0"]', "committee: expected 5 judges or more for .*, got 4; .*min_judges"),
        ('prior = "nowhere.csv"', "prior: expected a CSV file, got '.*nowhere.csv'"),
    ],
)
def test_invalid_rules_are_refused_without_a_directory(tmp_path, capsys, rules, message):
    run(tmp_path, text(7, rules=rules), code=2)
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


def test_rules_without_a_tournament_are_refused(tmp_path, capsys):
    run(tmp_path, text(7, environment='scheme = "duels"\n[environment.staff]\njudge = ["random"]'), code=2)
    assert "tournament: expected no rules of one, since policies are compared by 'duels'" in capsys.readouterr().err


def test_run_keeps_scores_of_a_file_and_refuses_others(tmp_path, capsys, monkeypatch):
    scores = tmp_path / "prior.csv"
    scores.write_text("policy,score\nm0,10\nm1,\nm2\n\nm3, 4.5\n", encoding="utf-8")
    directory = run(tmp_path, text(7, rules=f"questions = 2\nprior = {json.dumps(str(scores))}"))
    kept = (directory / "run.toml").read_text()
    assert "m0 = 10.0, m3 = 4.5" in kept
    scores.unlink()
    assert main(["resume", str(directory)]) == 0
    (directory / "run.toml").write_text(kept.replace("m3 = 4.5", "m3 = 5.5"))
    assert main(["resume", str(directory)]) == 2
    assert "tests.rating.judged_env: tournament: prior:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("policy,score\nm0,1\nm1,nan\n", "line 3: expected a finite number as score, or nothing, got 'nan'"),
        ("policy,score\nm0,good\n", "line 2: .*got 'good'"),
        ("policy,score\nm0,1\nm1,2\nm0,\n", "line 4: expected every policy once, got 'm0' as in line 2"),
        ("policy,score\nm0,1,2\n", "line 2: expected a policy and its score"),
        ("name,score\nm0,1\n", "expected the header 'policy,score', got 'name,score'"),
        ("policy,score\nm00,1\n", "got 'm00'; did you mean 'm0'"),
    ],
)
def test_invalid_scores_are_refused_with_their_line(tmp_path, capsys, table, message):
    (tmp_path / "prior.csv").write_text(table, encoding="utf-8")
    run(tmp_path, text(7, rules=f"prior = {json.dumps(str(tmp_path / 'prior.csv'))}"), code=2)
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "run").exists()
