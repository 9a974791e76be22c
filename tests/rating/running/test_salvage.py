"""A damaged run is salvaged: what verifies is kept, the rest listed; what goes on ends like a run that was never damaged."""

import asyncio
import hashlib
import io
import json
import random
import re
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from agents.models.calls import Call, CallStatus
from rating.cli import main
from rating.records.calls import CALLS, CallLog, LoggedCall
from rating.records.export import write_jsonl
from rating.records.file import open_file
from rating.records.match import Match
from rating.records.outcome import BUG, VOID
from rating.records.postgres.address import parse_address
from rating.records.record import void_outcome
from rating.running import run_directory
from rating.running.lock import Lock
from rating.running.places import set_address
from rating.running.runner import Runner
from tests.rating.interruption import ended_after

PAGE = 4096
RUN = """
seed = 4
workers = 1
[stop]
min_matches = 12
max_matches = 12
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "connect_four_v0"
[[policy]]
spec = "random"
[[policy]]
spec = "first_legal"
"""


def play(directory):
    config, store = run_directory.reopen_run(directory)
    with closing(store):
        run_directory.keep_run_file(directory, store)
        asyncio.run(Runner(config, store).run())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was played to its end and sealed."""
    directory = tmp_path_factory.mktemp("whole") / "run"
    config, store = run_directory.create(directory, RUN, "run.toml")
    with closing(store):
        asyncio.run(Runner(config, store).run())
    return directory


@pytest.fixture(scope="module")
def mixed(tmp_path_factory, whole):
    """The same with matches besides: one that is void after two turns, two bugs, one of them unpacked, and one under way."""
    directory = shutil.copytree(whole, tmp_path_factory.mktemp("mixed") / "run")
    with closing(open_file(directory / "run.db")) as store:
        record = next(store.records())
        first = store.sizes()["tictactoe_v0"]
        matches = [Match("tictactoe_v0", first + n, record.match.policies, 7, record.match.options) for n in range(4)]
        for match in matches:
            store.add_match(match)
            for turn in record.turns[:2]:
                store.add_turn(match, turn)
        store.finish(matches[0], void_outcome(matches[0], VOID), error="503")
        store.finish(matches[1], void_outcome(matches[1], BUG), error="Traceback")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("rating.records.store.LARGEST", 0)
            store.finish(matches[3], void_outcome(matches[3], BUG), error="Traceback")
    return directory


@pytest.fixture(scope="module")
def killed(tmp_path_factory, whole):
    """A run as a killed process leaves it: not sealed, its last matches in the log, one of them under way."""
    folder = tmp_path_factory.mktemp("killed")
    config, store = run_directory.create(folder / "live", RUN, "run.toml")
    with closing(store):
        with pytest.MonkeyPatch.context() as patch, ended_after(patch, 15):
            asyncio.run(Runner(config, store).run())
        under_way = next(record.match for record in store.records() if record.status == "unfinished")
        with closing(open_file(whole / "run.db")) as known:
            store.add_turns(under_way, known.record(under_way.id).turns[:2])
        shutil.copytree(folder / "live", folder / "run")
    return folder / "run"


@pytest.fixture
def copy(tmp_path):
    return lambda directory: shutil.copytree(directory, tmp_path / "copy")


def salvaged(capsys, directory, out):
    """Salvages a run and returns the exit code and what is said in JSON; nothing of the run is touched."""
    before = contents(directory)
    code = main(["salvage", str(directory), "--out", str(out), "--json"])
    assert contents(directory) == before
    table = json.loads(capsys.readouterr().out)
    assert json.loads((out / "salvage.json").read_text()) == table
    assert code == bool(table["losses"])
    return code, table


def contents(directory):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


def records(directory):
    with closing(open_file(directory / "run.db")) as store:
        return {record.match.id: record for record in store.records()}


def log(directory):
    """Returns everything recorded of the matches of a run but wall times."""
    with closing(open_file(directory / "run.db")) as store:
        text = io.StringIO()
        write_jsonl(store.records(), text)
        return re.sub(r'"seconds": [^,}]+', "", text.getvalue()), store.digest()


def leaderboards(capsys, directory):
    assert main(["rate", str(directory), "--json"]) == 0
    return capsys.readouterr().out


def change(directory, *statements):
    with closing(sqlite3.connect(directory / "run.db", isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def overwritten(directory, place, data, name="run.db"):
    with (directory / name).open("r+b") as file:
        file.seek(place)
        file.write(data)


def pages_of(directory, kind):
    content = (directory / "run.db").read_bytes()
    return [page for page in range(PAGE, len(content), PAGE) if content[page] == kind]


@pytest.mark.parametrize("name", ["whole", "mixed"])
def test_a_sealed_run_that_is_sound_keeps_its_seal(capsys, request, tmp_path, name):
    directory = request.getfixturevalue(name)
    with closing(open_file(directory / "run.db", read_only=True)) as store:
        sealed = store.sealed
    code, table = salvaged(capsys, directory, tmp_path / "new")
    assert (code, table["seal"], table["notes"]) == (0, sealed, [])
    assert records(tmp_path / "new") == records(directory)
    assert main(["replay", str(tmp_path / "new"), "--verify"]) == 0


def test_everything_of_a_run_that_was_only_killed_is_kept(capsys, killed, copy, whole, tmp_path):
    directory = copy(killed)
    assert (directory / "run.db-wal").stat().st_size > 0
    code, table = salvaged(capsys, directory, tmp_path / "new")
    assert (code, table["losses"]) == (0, [])
    assert table["turns"] > 0
    play(tmp_path / "new")
    assert log(tmp_path / "new") == log(whole)


def damages():
    """Yields what happens to a run, by name."""

    def zeroed(kind, number):
        return lambda directory: overwritten(directory, pages_of(directory, kind)[number], bytes(PAGE))

    def truncated(directory):
        path = directory / "run.db"
        path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])

    def twice(directory):
        first, second = pages_of(directory, 13)[-2:]
        overwritten(directory, second, (directory / "run.db").read_bytes()[first : first + PAGE])

    def shifted(directory):
        path = directory / "run.db"
        content = path.read_bytes()
        path.write_bytes(content[: 5 * PAGE] + bytes(PAGE) + content[5 * PAGE :])

    yield "header", lambda directory: overwritten(directory, 0, bytes(100))
    yield "schema", lambda directory: overwritten(directory, 0, bytes(PAGE))
    yield "page-size", lambda directory: overwritten(directory, 16, b"\x08\x00\x01\x01\x20")
    yield "inner-page", zeroed(5, 0)
    yield "index", zeroed(10, 0)
    yield from ((f"leaf-{number}", zeroed(13, number)) for number in (0, 2, -3, -1))
    yield "truncated", truncated
    yield "page-twice", twice
    yield "shifted", shifted
    yield "table-dropped", lambda directory: change(directory, "DROP TABLE match")
    yield "tables-dropped", lambda directory: change(directory, "DROP TABLE transcript", "DROP TABLE fact")
    yield "no-dictionary", lambda directory: change(directory, "DELETE FROM dictionary")
    yield "other-dictionary", lambda directory: change(directory, "UPDATE dictionary SET data = x'78'")
    yield "row-changed", lambda directory: change(directory, "UPDATE match SET seats = '[]' WHERE number % 3 = 0")
    yield "reward-changed", lambda directory: change(directory, "UPDATE match SET seats = replace(seats, '1.0', '2.0')")
    yield "row-deleted", lambda directory: change(directory, "DELETE FROM match WHERE number > 4")
    yield (
        "transcripts-swapped",
        lambda directory: change(
            directory, "UPDATE transcript SET turns = (SELECT turns FROM transcript ORDER BY match LIMIT 1)"
        ),
    )
    yield "fact-changed", lambda directory: change(directory, "UPDATE fact SET value = '{}' WHERE name = 'players'")
    yield "facts-deleted", lambda directory: change(directory, "DELETE FROM fact")
    yield "no-run-file", lambda directory: (directory / "run.toml").unlink()
    yield "run-file-changed", lambda directory: (directory / "run.toml").write_text("seed = ")


KEPT_WHOLE = {"header", "schema", "page-size", "index", "shifted", "inner-page", "no-run-file", "run-file-changed"}
KEPT_WHOLE |= {"no-dictionary", "other-dictionary"}


REPEATED = {"leaf-2", "leaf--3", "page-size", "tables-dropped", "other-dictionary", "reward-changed"}
"""Damages like others that are tried with every change."""


@pytest.mark.parametrize(
    ("name", "damage"),
    [pytest.param(*item, id=item[0], marks=[pytest.mark.slow] if item[0] in REPEATED else []) for item in damages()],
)
def test_a_salvaged_run_that_goes_on_ends_like_one_that_was_not_damaged(capsys, copy, whole, tmp_path, name, damage):
    directory, known = copy(whole), records(whole)
    damage(directory)
    code, _ = salvaged(capsys, directory, tmp_path / "new")
    kept = {match: record for match, record in records(tmp_path / "new").items() if record.status == "finished"}
    assert kept == {match: known[match] for match in kept}
    assert (len(kept) == len(known)) or code == 1
    if name in KEPT_WHOLE:
        assert kept == known
    play(tmp_path / "new")
    assert log(tmp_path / "new") == log(whole)
    assert leaderboards(capsys, tmp_path / "new") == leaderboards(capsys, whole)
    assert main(["replay", str(tmp_path / "new"), "--verify"]) == 0


@pytest.mark.parametrize("where", ["header", "salt", "first-frame", "middle", "end"])
def test_a_damaged_log_costs_no_more_than_what_stood_in_its_damaged_pages(capsys, copy, killed, whole, tmp_path, where):
    directory = copy(killed)
    size = (directory / "run.db-wal").stat().st_size
    frame = 24 + PAGE
    middle = 32 + size // frame // 2 * frame
    places = {"header": 0, "salt": 16, "first-frame": 32, "middle": middle + 24, "end": size - frame}
    overwritten(directory, places[where], b"\xff" * (frame if where in ("middle", "end") else 16), "run.db-wal")
    _, table = salvaged(capsys, directory, tmp_path / "new")
    if where in ("header", "salt", "first-frame"):
        assert table["matches"]["finished"] == 15
    play(tmp_path / "new")
    assert log(tmp_path / "new") == log(whole)


@pytest.mark.parametrize("command", ["rate", "resume", "replay"])
@pytest.mark.parametrize("damaged", ["run.db-wal", "run.db"])
def test_what_stands_in_a_log_is_thrown_away_by_nobody(capsys, copy, killed, command, damaged):
    directory = copy(killed)
    if damaged == "run.db":
        (directory / "run.db").write_bytes(b"")
    else:
        overwritten(directory, (directory / damaged).stat().st_size // 2, b"\xff" * 16, damaged)
    before = {name: (directory / name).read_bytes() for name in ("run.db", "run.db-wal")}
    assert main([command, str(directory)]) == 2
    assert f"llmarena salvage {directory} --out NEW" in capsys.readouterr().err
    assert {name: (directory / name).read_bytes() for name in before} == before


def rows(directory, table):
    """Returns the rows of a table that SQLite reads, each by itself."""
    found = set()
    with closing(sqlite3.connect(directory / "run.db")) as db:
        for number in range(1, 200):
            try:
                found.update(db.execute(f"SELECT * FROM {table} WHERE rowid = ?", (number,)))
            except sqlite3.DatabaseError:
                continue
    return found


@pytest.mark.parametrize(
    ("name", "flips"),
    [("mixed", 3), ("killed", 3), *(pytest.param(name, 30, marks=pytest.mark.slow) for name in ("mixed", "killed"))],
)
def test_nothing_that_does_not_verify_is_copied_and_nothing_that_sqlite_reads_is_lost(
    capsys, request, tmp_path, name, flips
):
    directory = request.getfixturevalue(name)
    sound, rng = shutil.copytree(directory, tmp_path / "sound"), random.Random(name)
    known = records(sound)
    tables = {table: rows(sound, table) for table in ("match", "transcript", "turn", "dictionary")}
    for flip in range(flips):
        copy, read, new = (tmp_path / f"{part}-{flip}" for part in ("copy", "read", "new"))
        shutil.copytree(directory, copy)
        file = copy / ("run.db-wal" if name == "killed" and flip % 2 else "run.db")
        place = rng.randrange(file.stat().st_size)
        overwritten(copy, place, bytes([file.read_bytes()[place] ^ 1 << rng.randrange(8)]), file.name)
        shutil.copytree(copy, read)
        lost = {row[0] for table, whole in tables.items() for row in whole - rows(read, table)}
        code, _ = salvaged(capsys, copy, new)
        kept, where = records(new), f"bit flipped at {place} of {file.name}"
        for match, record in kept.items():
            old = known[match]
            assert record == old or (not record.digest and record.turns == old.turns[: len(record.turns)]), where
        if lost <= known.keys():  # and no dictionary
            assert known.keys() - lost <= {match for match, record in kept.items() if record == known[match]}, where
        assert code == 1 or kept == known, where


def logged(number):
    call = Call("m", "http://x", "player_0", 1, CallStatus.OK, prompt_tokens=number)
    return LoggedCall(datetime(2026, 1, 1, tzinfo=UTC), "tictactoe_v0", "m", "p", call)


def test_the_log_of_calls_is_copied_line_by_line(capsys, copy, whole, tmp_path):
    directory = copy(whole)
    calls = CallLog(directory / CALLS)
    for number in range(300):
        calls.write(logged(number))
    calls.close()
    lines = (directory / CALLS).read_bytes().splitlines(keepends=True)
    code, table = salvaged(capsys, directory, tmp_path / "sound")
    assert (code, table["calls"]) == (0, 300)
    assert (tmp_path / "sound" / CALLS).read_bytes() == b"".join(lines)
    broken = [b"\0" * 4096 + line if n == 5 else b"{}\n" if n % 2 else line for n, line in enumerate(lines)]
    (directory / CALLS).write_bytes(b"".join(broken))
    code, table = salvaged(capsys, directory, tmp_path / "new")
    assert (code, table["calls"], len(table["losses"])) == (1, 150, 150)
    assert (tmp_path / "new" / CALLS).read_bytes() == b"".join(lines[::2])
    assert table["losses"][0]["what"].startswith("calls.jsonl: line 2: ")


def test_the_losses_are_listed_for_people(capsys, copy, whole, tmp_path):
    directory = copy(whole)
    change(directory, "UPDATE match SET digest = char(27) WHERE number = 2 AND environment = 'tictactoe_v0'")
    assert main(["salvage", str(directory), "--out", str(tmp_path / "new")]) == 1
    shown = capsys.readouterr().out
    assert re.search(
        r"lost: match [0-9a-f]{16} \(tictactoe_v0 2\): its end, or one of its turns, is lost or is not as it was recorded",
        shown,
    )
    assert "kept: 32 matches (31 finished, 1 unfinished)" in shown
    assert f"llmarena resume {tmp_path / 'new'}" in shown


def test_many_losses_are_in_the_list_only(capsys, copy, whole, tmp_path):
    directory = copy(whole)
    change(directory, "UPDATE match SET digest = char(27) || number")
    assert main(["salvage", str(directory), "--out", str(tmp_path / "new")]) == 1
    shown = capsys.readouterr().out
    assert shown.count("lost: ") == 20
    losses = json.loads((tmp_path / "new" / "salvage.json").read_text())["losses"]
    assert len(losses) > 20
    assert f"and {len(losses) - 20} more: {tmp_path / 'new' / 'salvage.json'}\n" in shown


def test_who_finds_a_damaged_run_is_told_how_to_salvage_it(capsys, copy, whole):
    directory = copy(whole)
    with (directory / "run.db").open("r+b") as file:
        file.seek(3 * PAGE)
        file.write(bytes(4 * PAGE))
    for command in ("rate", "resume", "report"):
        assert main([command, str(directory)]) == 2
        assert f"llmarena salvage {directory} --out NEW" in capsys.readouterr().err


def test_turns_that_do_not_follow_are_left_out(capsys, copy, mixed, tmp_path):
    directory = copy(mixed)
    change(directory, "UPDATE turn SET payload = replace(payload, 'player', 'plaier') WHERE number = 1")
    code, table = salvaged(capsys, directory, tmp_path / "new")
    assert code == 1
    left = [record for record in records(tmp_path / "new").values() if record.status == "unfinished"]
    assert [len(record.turns) for record in left] == [1, 1, 1]  # also of those of which the seal covers two turns
    assert sorted(loss.get("number", loss.get("first")) for loss in table["losses"]) == [16, 18, 19]


def test_facts_are_made_anew_without_which_the_run_cannot_go_on(capsys, copy, killed, whole, tmp_path):
    directory = copy(killed)
    change(directory, "UPDATE fact SET value = replace(value, 'random', 'rondom') WHERE name = 'players'")
    code, table = salvaged(capsys, directory, tmp_path / "new")
    assert code == 1
    assert table["losses"][0]["what"] == "fact players: it is lost or is not as it was recorded"
    play(tmp_path / "new")
    assert log(tmp_path / "new") == log(whole)


@pytest.mark.parametrize("taken", ["full", "inside", "playing", "nothing", "junk", "server"])
def test_what_cannot_be_salvaged_is_said_and_nothing_is_made(capsys, copy, whole, tmp_path, taken):
    directory, out = copy(whole), tmp_path / "new"
    if taken == "full":
        out.mkdir()
        (out / "file").touch()
    elif taken == "inside":
        out = directory / "new"
    elif taken == "nothing":
        (directory / "run.db").unlink()
    elif taken == "server":
        (directory / "run.db").unlink()
        set_address(directory, parse_address("postgresql://me@db.lab/runs?run=mine"))
    elif taken == "junk":
        (directory / "run.db").write_bytes(b"\x0d" * 100_000)
    with Lock(directory if taken == "playing" else tmp_path):
        assert main(["salvage", str(directory), "--out", str(out)]) == 2
    said = {
        "full": "expected a new or empty directory",
        "inside": "expected a directory outside of",
        "playing": "another process is playing this run",
        "nothing": "expected the directory of a run with a run.db",
        "server": "expected a run in a file, but it is run mine in postgresql://me@db.lab/runs: restore a back-up",
        "junk": "none of its pages holds any that could be verified",
    }
    assert said[taken] in capsys.readouterr().err
    assert not out.exists() or taken == "full"
