"""``llmarena reparse``: the replies of a run as they are read now, and its leaderboards then and now."""

import hashlib
import json
import sqlite3
from contextlib import closing

import pytest

from agents.errors import ProviderError
from llmarena_envs.core.failures import Failure, InvalidReply
from llmarena_envs.core.text_env import TextEnv
from rating.cli import main

RUN = """
seed = 3
max_errors = 1000
stop = { min_matches = 8, max_matches = 8 }
executor = "async"

[[environment]]
name = "tictactoe_v0"

[[environment]]
name = "connect_four_v0"

[[policy]]
spec = "random"
[[policy]]
name = "mumbler"
spec = "tests.rating.commands.test_reparse:mumbler"
[[policy]]
name = "absent"
spec = "tests.rating.commands.test_reparse:absent"
"""
MARK = "\x1b[m ~\n"


def mumbler():
    """Returns a policy that says a legal move with something before it that a stricter grammar does not bear."""
    calls = 0

    def policy(observation):
        nonlocal calls
        calls += 1
        return (f"{MARK} " if calls % 3 == 0 else "") + observation["legal"][0]

    policy.wants_legal = True
    return policy


def absent():
    def policy(observation):
        raise ProviderError("gone")

    return policy


def strict(patch):
    parse = TextEnv.parse

    def parse_strictly(self, reply, agent):
        if "~" in reply:
            raise InvalidReply(Failure.UNPARSABLE, "expected no tilde")
        return parse(self, reply, agent)

    patch.setattr(TextEnv, "parse", parse_strictly)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with a grammar that is stricter than that of now, in which some matches are void."""
    directory = tmp_path_factory.mktemp("reparse")
    (directory / "run.toml").write_text(RUN)
    with pytest.MonkeyPatch.context() as patch:
        strict(patch)
        assert main(["run", str(directory / "run.toml"), "--out", str(directory / "run")]) == 3
    return directory / "run"


def contents(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


def reparse(directory, capsys, *flags):
    capsys.readouterr()
    code = main(["reparse", str(directory), *flags])
    return code, capsys.readouterr().out


def test_what_is_read_otherwise_and_what_it_does(run, capsys):
    before = contents(run)
    code, output = reparse(run, capsys, "--json")
    assert code == 0
    found = json.loads(output)
    assert {row["policy"] for row in found["differences"]} == {"mumbler"}
    assert all(row["then"] == "unparsable" and row["now"] == "ok" and row["played_now"] for row in found["differences"])
    assert all(row["reply"].startswith(MARK) for row in found["differences"])
    assert sum(row["replies"] for row in found["readings"]) == len(found["differences"]) > 0
    for board, after in zip(found["was"], found["would_be"], strict=True):
        fates = found["matches"][board["environment"]]
        assert fates["not_finished"] == board["void_matches"] > 0
        assert after["void_matches"] == board["void_matches"] + fates["gone_on_otherwise"]
        assert after["matches"] == fates["read_the_same"] + fates["outcome_known"]
    assert found["problems"] == []
    assert sum(fates["outcome_known"] for fates in found["matches"].values()) > 0
    code, output = reparse(run, capsys)
    assert code == 0
    assert "\\x1b[m ~" in output
    assert "\x1b[m ~" not in output
    assert "unparsable" in output
    assert contents(run) == before


def test_with_the_grammar_of_then_nothing_changes(run, capsys, monkeypatch):
    strict(monkeypatch)
    code, output = reparse(run, capsys)
    assert code == 0
    assert output.endswith("each is read as it was\n")
    found = json.loads(reparse(run, capsys, "--json")[1])
    assert found["was"] == found["would_be"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE match SET seats = replace(seats, 'mumbler', 'someone')",
        "UPDATE match SET seed = '12345' WHERE number = 0",
        "UPDATE match SET seats = 'x' WHERE number = 3",
        "UPDATE transcript SET turns = x'00'",
        "DELETE FROM fact WHERE name = 'players'",
    ],
)
def test_a_damaged_run_is_told(run, capsys, tmp_path, change):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in run.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy / "run.db", isolation_level=None)) as db:
        db.execute(change)
    assert reparse(copy, capsys)[0] == 1
    code, output = reparse(copy, capsys, "--json")
    assert code == 1
    assert json.loads(output)["problems"]
