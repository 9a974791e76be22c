"""Every change in the record of a run is found and located."""

import json
import re
import shutil
import sqlite3
from contextlib import closing

import pytest

from rating.cli import main
from rating.store.digest import link, seal_of_identity
from rating.store.location import open_file
from rating.store.records import BUG, VOID, Match, dump_turn, void_outcome
from tests.rating.runs import play_run, run_file

STOP = "min_matches = 4\nmax_matches = 4"
RUN = run_file("tictactoe_v0", "connect_four_v0", policies=("random", "first_legal"), stop=STOP)
COLUMNS = {
    "fact": ("name", "value"),
    "match": (
        *("id", "environment", "number", "policies", "seed", "options", "status", "tries", "turns", "seats", "digest"),
        *("error", "seal"),
    ),
    "turn": ("match", "number", "payload", "seal"),
    "transcript": ("match", "turns"),
    "dictionary": ("environment", "data"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with finished matches, one that is void after two turns, one that is a bug and one that is under way."""
    directory = play_run(tmp_path_factory.mktemp("audit") / "run", RUN)
    store = open_file(directory / "run.db")
    record = next(store.records())
    first = store.counts()["tictactoe_v0", "finished"]
    void, bug, under_way = (
        Match("tictactoe_v0", first + n, record.match.policies, 7, record.match.options) for n in range(3)
    )
    for match in (void, bug, under_way):
        store.add_match(match)
        for turn in record.turns[:2]:
            store.add_turn(match, turn)
    store.finish(void, void_outcome(void, VOID), error="503")
    store.finish(bug, void_outcome(bug, BUG), error="Traceback")
    store.close()
    return directory


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run, tmp_path / "copy")


def execute(directory, *statement):
    """Executes a statement behind the back of the store and returns its rows."""
    with closing(sqlite3.connect(directory / "run.db")) as db, db:
        return db.execute(*statement).fetchall()


def rows(directory, table):
    return [row for (row,) in execute(directory, f"SELECT rowid FROM {table} ORDER BY rowid")]


def differences(directory):
    with closing(open_file(directory / "run.db")) as store:
        return store.check()


def flipped(value):
    """Yields values that differ in one place."""
    if isinstance(value, int):
        yield value + 1000
    elif isinstance(value, bytes):
        for place in sorted({0, len(value) // 2, len(value) - 1}):
            yield value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]
    elif not value:
        yield "x"
    else:
        for place in sorted({0, len(value) // 2, len(value) - 1}):
            yield value[:place] + ("x" if value[place] != "x" else "y") + value[place + 1 :]


def test_unchanged_record_is_complete(run):
    assert differences(run) == []


def test_every_column_is_tried(run):
    # No hash covers calls.
    tables = execute(run, "SELECT name FROM sqlite_master WHERE type = 'table' AND name != 'call'")
    found = {table: tuple(row[1] for row in execute(run, f"PRAGMA table_info({table})")) for (table,) in tables}
    assert found == COLUMNS


@pytest.mark.slow_except(3)
@pytest.mark.parametrize(("table", "column"), [(table, column) for table in COLUMNS for column in COLUMNS[table]])
def test_a_changed_value_is_found_in_every_column_of_every_table(copy, table, column):
    numbers = rows(copy, table)
    chosen = numbers if len(numbers) < 5 else [numbers[0], numbers[len(numbers) // 2], *numbers[-2:]]
    before = (copy / "run.db").read_bytes()
    values = {row: execute(copy, f"SELECT {column} FROM {table} WHERE rowid = ?", (row,))[0][0] for row in chosen}
    matches = [match for (match,) in execute(copy, "SELECT id FROM match")]
    names = [*matches, "tictactoe_v0", "connect_four_v0", "facts: ", "seal"]
    for row, value in values.items():
        for other in flipped(value):
            execute(copy, f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (other, row))
            found = differences(copy)
            assert found, f"{table}.{column} of row {row}: {value!r} became {other!r}"
            assert any(name in difference for difference in found for name in names), found
            (copy / "run.db").write_bytes(before)


@pytest.mark.slow_except(2)
@pytest.mark.parametrize("table", COLUMNS)
def test_a_row_taken_away_is_found(copy, table):
    before = (copy / "run.db").read_bytes()
    for row in rows(copy, table)[:: 1 if table != "fact" else 4]:
        execute(copy, f"DELETE FROM {table} WHERE rowid = ?", (row,))
        assert differences(copy), f"row {row} of {table}"
        (copy / "run.db").write_bytes(before)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO fact VALUES ('new', '')",
        "INSERT INTO match SELECT 'x', environment, 1000, policies, seed, options, status, tries, turns, seats, digest, error,"
        " seal FROM match LIMIT 1",
        "INSERT INTO turn SELECT match, number + 1, payload, seal FROM turn ORDER BY number DESC LIMIT 1",
        "INSERT INTO turn SELECT id, turns, '{}', '' FROM match WHERE status = 'finished' LIMIT 1",
        "INSERT INTO transcript SELECT match || 'x', turns FROM transcript LIMIT 1",
        "INSERT INTO dictionary VALUES ('new', x'')",
        "UPDATE match SET error = CAST(x'ff' AS TEXT) WHERE number = 3",
    ],
)
def test_an_added_row_or_foreign_text_is_found(copy, statement):
    execute(copy, statement)
    assert differences(copy)


@pytest.mark.parametrize(
    ("table", "key", "column", "where"),
    [
        ("fact", "name", "value", "1"),
        ("match", "id", "seats", "status = 'finished'"),
        ("match", "id", "seal", "1"),
        ("turn", "match || number", "payload", "match = (SELECT max(match) FROM turn)"),
        ("turn", "match || number", "match", "number = 1"),
        ("transcript", "match", "turns", "1"),
        ("dictionary", "environment", "data", "1"),
    ],
)
def test_swapped_rows_are_found(copy, table, key, column, where):
    (one, first), (two, second) = execute(
        copy, f"SELECT {key}, {column} FROM {table} WHERE {where} GROUP BY {column} ORDER BY 1 LIMIT 2"
    )
    if column == "match":  # unique with the number: out of the way first
        execute(copy, f"UPDATE {table} SET match = 'x' WHERE {key} = ?", (one,))
        execute(copy, f"UPDATE {table} SET match = ? WHERE {key} = ?", (first, two))
        execute(copy, f"UPDATE {table} SET match = ? WHERE match = 'x'", (second,))
    else:
        execute(copy, f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (second, one))
        execute(copy, f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (first, two))
    # The first turns of two matches that the fixture made from the same turns differ in their seals alone.
    assert differences(copy)


SEAL = "the seal is not that of the parts named beside it"


@pytest.mark.slow_except(2)
@pytest.mark.parametrize(
    ("name", "value", "difference"),
    [
        ("versions", "'{}'", "facts: versions changed, was added or taken away after the run was sealed"),
        ("seal", "json_set(value, '$.head', 'other')", SEAL),
        ("seal", "value || ' '", SEAL),
        ("seal", "replace(value, ', ', ',')", SEAL),
        ("seal", """'{"head": "", ' || substr(value, 2)""", SEAL),
    ],
)
def test_audit_changed_fact_is_found_after_a_seal_too(copy, name, value, difference):
    execute(copy, f"UPDATE fact SET value = {value} WHERE name = '{name}'")
    with closing(open_file(copy / "run.db")) as store:
        store.seal()  # an unchanged store is not sealed again
    assert differences(copy) == [difference]


def test_audit_missing_match_is_named(copy):
    execute(copy, "DELETE FROM match WHERE environment = 'tictactoe_v0' AND number = 2")
    assert "tictactoe_v0: expected match 2, got match 3" in differences(copy)


def test_audit_linked_turn_after_the_end_is_found(copy):
    with closing(open_file(copy / "run.db")) as store:
        record = next(store.records())
    match = record.match
    identity = (json.dumps(match.policies), str(match.seed), json.dumps(match.options, sort_keys=True))
    chain = seal_of_identity(match.id, match.environment, match.number, *identity)
    for turn in (*record.turns, record.turns[0]):
        chain = link(chain, dump_turn(turn))
    payload = dump_turn(record.turns[0])
    execute(copy, "INSERT INTO turn VALUES (?, ?, ?, ?)", (match.id, len(record.turns), payload, chain))
    where = f"match {match.id} ({match.environment} {match.number})"
    assert f"{where}: expected {len(record.turns)} turns, got {len(record.turns) + 1}" in differences(copy)


@pytest.mark.slow_except(4)
@pytest.mark.parametrize(("table", "column"), [(table, column) for table in COLUMNS for column in COLUMNS[table]])
def test_the_same_bytes_as_a_value_of_another_type_are_found(copy, table, column):
    as_type = "TEXT" if column in ("data", "turns") and table != "match" else "BLOB"
    execute(copy, f"UPDATE {table} SET {column} = CAST({column} AS {as_type}) WHERE rowid = 1")
    assert f"table {table}, row 1: expected {column} of type" in "\n".join(differences(copy))


def test_seal_after_a_change_differs(copy):
    with closing(open_file(copy / "run.db")) as store:
        sealed = store.sealed
    execute(copy, "UPDATE fact SET value = '{}' WHERE name = 'versions'")
    with closing(open_file(copy / "run.db")) as store:
        store.set_fact("more", "")
        assert store.seal() != sealed


def verified(capsys, directory):
    code = main(["replay", str(directory), "--verify"])
    return code, capsys.readouterr().out


def test_verification_shows_seal_and_digest(capsys, run):
    with closing(open_file(run / "run.db")) as store:
        sealed, digest = store.sealed, store.digest()
    code, shown = verified(capsys, run)
    assert code == 0
    assert shown.splitlines()[-2:] == [f"seal: {sealed}", f"play digest: {digest}"]
    assert main(["replay", str(run), "--verify", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert (table["seal"], table["digest"], table["changed"], table["differences"]) == (sealed, digest, [], {})


@pytest.mark.parametrize("text", ["", None, RUN.replace("[[environment]]\nname = 'tictactoe_v0'\n", "")])
def test_verification_changed_run_file_is_a_difference(capsys, copy, text):
    if text is None:
        (copy / "run.toml").unlink()
    else:
        (copy / "run.toml").write_text(text)
    code, shown = verified(capsys, copy)
    assert code == 1
    assert "run.toml" in shown
    count = re.search(r"(\d+) of (\d+) finished matches verified", shown)
    assert count[1] == count[2] != "0"


@pytest.mark.slow_except(4)
@pytest.mark.parametrize(
    ("statement", "where"),
    [
        (
            "UPDATE transcript SET turns = x'00' WHERE match = (SELECT id FROM match ORDER BY environment, number)",
            "match ",
        ),
        ("UPDATE match SET status = 'x' WHERE number = 0", "match "),
        ("UPDATE dictionary SET data = x'00'", "dictionary of tictactoe_v0"),
        ("UPDATE fact SET value = '{}' WHERE name = 'players'", "expected players and settings of a run as fact"),
        ("DELETE FROM fact", "not sealed"),
        ("CREATE TABLE more (x)", "not as they were made: more"),
        ("PRAGMA user_version = 1", "older version"),
        ("PRAGMA application_id = 1", "not written by llmarena"),
    ],
)
def test_verification_unreadable_run_is_a_difference(capsys, copy, statement, where):
    execute(copy, statement)
    code, shown = verified(capsys, copy)
    assert code == 1 and where in shown
    assert main(["replay", str(copy), "--verify", "--json"]) == 1
    assert where in "\n".join(json.loads(capsys.readouterr().out)["changed"])


def test_match_of_missing_environment_cannot_be_verified(capsys, copy):
    execute(copy, "UPDATE match SET environment = 'gone.module' WHERE environment = 'tictactoe_v0'")
    execute(copy, "UPDATE dictionary SET environment = 'gone.module' WHERE environment = 'tictactoe_v0'")
    execute(copy, "UPDATE fact SET value = replace(value, 'tictactoe_v0', 'gone.module') WHERE name = 'players'")
    code, shown = verified(capsys, copy)
    assert code == 1
    assert "OptionError: environment 'gone.module': reading a run imports only" in shown
    assert main(["replay", str(copy), "--verify", "--trust"]) == 1
    assert "OptionError: environment 'gone.module': expected a module with env" in capsys.readouterr().out


@pytest.mark.slow_except(3)
@pytest.mark.parametrize(
    ("table", "assignment"),
    [
        ("fact", "value = x'ff' WHERE name = 'versions'"),
        ("fact", "value = '[1]' WHERE name = 'versions'"),
        ("fact", "value = 'null' WHERE name = 'rules:tictactoe_v0'"),
        ("match", "number = 'x' WHERE number = 3"),
        ("match", "policies = '[1, 2]'"),
        ("match", "error = x'ff'"),
        ("match", "seats = '{}' WHERE status = 'finished'"),
        ("match", 'seats = replace(seats, \'"reward":\', \'"reward":1e999,"turns":\') WHERE number = 3'),
        ("match", "seats = replace(seats, '\"random\"', '7')"),
    ],
)
def test_commands_changed_record_is_read_or_refused(capsys, copy, table, assignment):
    execute(copy, f"UPDATE {table} SET {assignment}")
    refused = 0
    for command in (["rate"], ["report"], ["replay"], ["replay", "--json"], ["export"], ["export", "--format", "csv"]):
        code = main([command[0], str(copy), *command[1:]])
        assert code in (0, 2), command
        refused += code == 2
        assert ("damaged" in capsys.readouterr().err) == (code == 2)
    assert refused


def test_names_and_reasons_in_a_changed_record_are_shown_escaped(capsys, copy):
    execute(copy, "UPDATE fact SET value = char(27) || '[2J' WHERE name LIKE 'stopped:%'")
    execute(copy, "UPDATE match SET policies = replace(policies, 'random', '\\u001b[2J\\u202e')")
    execute(copy, "UPDATE match SET seats = replace(seats, 'random', '\\u001b[2J\\u202e')")
    for command in ("rate", "replay"):
        assert main([command, str(copy)]) == 0
        shown = capsys.readouterr().out
        assert "\\x1b[2J" in shown
        assert not re.search("[\x1b\u202e]", shown)
