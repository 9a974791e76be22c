"""Runs of schema version 1 are converted when they are opened, with everything in them."""

import contextlib
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from agents.records import Attempt
from agents.turn import TurnSettings
from rating.cli import main
from rating.errors import RunError
from rating.records import version_1
from rating.records.file import open_file
from rating.records.outcome import FINISHED, VOID, SeatOutcome
from rating.records.record import UNFINISHED
from rating.records.sqlite import Sqlite
from rating.records.verify import verify
from rating.running import run_directory
from tests.rating.records.test_audit import run  # noqa: F401  (a fixture)

DUMP = Path(__file__).with_name("version_1.sql")
"""Made by the last release that wrote version 1: two games with two finished matches each; of the third matches, that of
tic-tac-toe is void after two tries, that of undercover was under way."""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "run.db"
    with sqlite3.connect(path) as db:
        db.executescript(DUMP.read_text(encoding="utf-8"))
        db.execute("PRAGMA journal_mode = WAL")
    db.close()
    return path


def contents(path):
    with sqlite3.connect(path) as db:
        facts = dict(db.execute("SELECT name, value FROM fact"))
        matches = db.execute(
            "SELECT environment, number, policies, seed, options, status, outcome, digest, tries, error, id FROM match"
            " ORDER BY environment, number"
        ).fetchall()
        turns = [
            [
                json.loads(text)
                for (text,) in db.execute("SELECT payload FROM turn WHERE match = ? ORDER BY number", match[-1:])
            ]
            for match in matches
        ]
    db.close()
    return facts, matches, turns


def check_converted(store, before):
    facts, matches, turns = before
    assert store.facts().items() > facts.items()
    assert store.facts()["converted"] == "from schema version 1"
    records = list(store.records())
    assert [record.status for record in records] == [FINISHED, FINISHED, VOID, FINISHED, FINISHED, UNFINISHED]
    for record, match, played in zip(records, matches, turns, strict=True):
        environment, number, policies, seed, options, _, outcome, *rest = match
        assert (record.match.environment, record.match.number, record.match.seed) == (environment, number, int(seed))
        assert (list(record.match.policies), record.match.options) == (json.loads(policies), json.loads(options))
        assert [record.digest, record.tries, record.error, record.match.id] == rest
        if record.outcome:
            seats = json.loads(outcome)["seats"]
            assert list(record.outcome.seats) == [SeatOutcome(**seat) for seat in seats]
        assert len(record.turns) == len(played) > 1
        for turn, payload in zip(record.turns, played, strict=True):
            assert {**vars(turn), "attempts": None} == {**payload, "played": "", "digest": "", "attempts": None}
            attempts = [{**one, "seconds": round(one["seconds"], 6)} for one in payload["attempts"]]
            assert list(turn.attempts) == [Attempt(**one) for one in attempts]
            assert [attempt.seconds for attempt in turn.attempts] == [one["seconds"] for one in attempts]
        if record.status == FINISHED:
            assert version_1.digest_of(record.turns) == record.digest
    assert store.check() == []


def test_nothing_of_an_old_run_is_lost(old):
    before = contents(old)
    for _ in range(2):
        store = open_file(old)
        check_converted(store, before)
        store.close()
    with sqlite3.connect(old) as db:
        assert db.execute("PRAGMA freelist_count").fetchone() == (0,)
    db.close()


def test_two_processes_may_open_an_old_run_at_once(old, monkeypatch):
    before, transaction = contents(old), Sqlite.transaction

    def beaten(db):
        monkeypatch.undo()
        open_file(old).close()
        return transaction(db)

    monkeypatch.setattr(Sqlite, "transaction", beaten)
    store = open_file(old)
    check_converted(store, before)
    store.close()


def test_an_old_run_goes_on(old):
    store = open_file(old)
    under_way = list(store.records())[-1]
    turn = replace(under_way.turns[-1], index=len(under_way.turns))
    store.add_turn(under_way.match, turn)
    assert store.turns(under_way.match) == (*under_way.turns, turn)
    store.close()
    again = open_file(old)
    assert again.check() == []
    again.close()


def test_an_old_run_is_read_where_nothing_may_be_written(old, monkeypatch):
    before, data = contents(old), old.read_bytes()
    monkeypatch.setattr("os.access", lambda path, mode: False)
    store = open_file(old)
    check_converted(store, before)
    store.close()
    assert old.read_bytes() == data
    assert [path.name for path in old.parent.iterdir()] == ["run.db"]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE turn SET payload = '{' WHERE number = 1",
        "UPDATE match SET seed = 'x'",
        "UPDATE match SET outcome = '['",
        "UPDATE match SET id = id || 'x'",
    ],
)
def test_a_damaged_old_run_is_refused_and_left_as_it_was(old, statement):
    with sqlite3.connect(old) as db:
        db.execute(statement)
        db.commit()
        before = list(db.iterdump())
    db.close()
    with pytest.raises(RunError, match="cannot be converted"):
        open_file(old)
    with sqlite3.connect(old) as db:
        assert list(db.iterdump()) == before
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
    db.close()


RUN_FILE = """
schedule = "round_robin"
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "undercover_v0"
[[policy]]
spec = "random"
[[policy]]
spec = "similarity"
environments = ["undercover_v0"]
[[policy]]
spec = "first_legal"
environments = ["tictactoe_v0"]
"""


def test_the_command_line_reads_an_old_run(old, capsys):
    assert main(["export", str(old.parent)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert main(["replay", str(old.parent)]) == 0
    assert "unfinished" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (("", ""), True),
        (('[[environment]]\nname = "tictactoe_v0"', 'ahead = 3\n[[environment]]\nname = "tictactoe_v0"'), True),
        (('spec = "similarity"', 'name = "similarity"\nspec = "silent"'), False),
        (('name = "undercover_v0"', 'name = "undercover_v0"\n[environment.turns]\nreasks = 1'), False),
    ],
)
def test_an_old_run_goes_on_with_the_players_it_was_begun_with(old, change, same):
    assert change[0] in RUN_FILE
    (old.parent / "run.toml").write_text(RUN_FILE.replace(*change))
    with contextlib.nullcontext() if same else pytest.raises(RunError, match="these were changed"):
        run_directory.reopen_run(old.parent)[1].close()


def test_a_match_of_version_1_is_verified_as_far_as_it_was_recorded(run):  # noqa: F811
    store = open_file(run / "run.db")
    record = next(store.records())
    store.close()
    turns = tuple(replace(turn, digest="", played="") for turn in record.turns)
    old = replace(record, turns=turns, digest=version_1.digest_of(turns))
    assert verify(old, TurnSettings()) == ""
    other = (replace(turns[0], rewards={"player_0": 1.0, "player_1": 0.0}), *turns[1:])
    assert "expected digest" in verify(replace(old, turns=other), TurnSettings())
    other = (replace(turns[0], action=turns[1].action), *turns[1:])
    assert "expected action" in verify(replace(old, turns=other, digest=version_1.digest_of(other)), TurnSettings())
    lost = replace(record.outcome, seats=record.outcome.seats[::-1])
    assert "expected the outcome" in verify(replace(old, outcome=lost), TurnSettings())
