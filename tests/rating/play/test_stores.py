"""A run on a server is the run that it would be in a file, for every command and on every machine."""

import json
import shutil
from contextlib import closing

import pytest

from rating.cli import main
from rating.play import run_directory
from rating.store import postgres
from rating.store.address import parse_address
from rating.store.records import Match
from tests.rating.runs import run_file

RUN = run_file(
    "tictactoe_v0",
    "connect_four_v0",
    policies=("random", "first_legal", 'spec = "tests.rating.players:hostile"\nenvironments = ["tictactoe_v0"]'),
    seed=3,
    stop="min_matches = 6\nmax_matches = 6",
    more="max_errors = 100",
)


@pytest.fixture(scope="module")
def url(postgres_server):
    return postgres_server.new_database()


@pytest.fixture(scope="module")
def runs(tmp_path_factory, url):
    """The same run in a file, on a server, and on the server as another machine sees it."""
    place = tmp_path_factory.mktemp("stores")
    file = place / "run.toml"
    file.write_text(RUN, encoding="utf-8")
    assert main(["run", str(file), "--out", str(place / "file")]) == 0
    assert main(["run", str(file), "--out", str(place / "server"), "--store", url]) == 0
    (place / "copied").mkdir()
    for name in ("run.toml", "store.json"):
        shutil.copy(place / "server" / name, place / "copied")
    return place


@pytest.fixture
def begun(tmp_path, url):
    """A run on the server that has not begun, and its directory on another machine."""
    run_directory.create(tmp_path / "begun", RUN, "run.toml", address=parse_address(url))[1].close()
    shutil.copytree(tmp_path / "begun", tmp_path / "copied")
    yield tmp_path
    postgres.drop(parse_address(url).of("begun"))


def printed(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out


def without_times(line):
    record = json.loads(line)
    for turn in record["turns"]:
        for attempt in turn["attempts"]:
            attempt.pop("seconds")
    return record


@pytest.mark.slow
def test_leaderboards_digest_and_records_are_the_same(runs, capsys):
    names = ("file", "server", "copied")
    boards = {printed(capsys, "rate", runs / name, "--json") for name in names}
    assert len(boards) == 1
    exported = [printed(capsys, "export", runs / name) for name in names]
    assert exported[1] == exported[2]
    first, second = ([without_times(line) for line in text.split("\n")[:-1]] for _, text in exported[:2])
    assert first == second != []
    verified = [json.loads(printed(capsys, "replay", runs / name, "--verify", "--json")[1]) for name in names]
    assert len({found["digest"] for found in verified}) == 1
    assert [found["changed"] for found in verified] == [[], [], []]


@pytest.mark.slow
def test_watched_run_on_a_server_shows_writes(url, tmp_path):
    from rating.viewer.web import watched

    directory = tmp_path / "seen"
    _, store = run_directory.create(directory, RUN, "run.toml", address=parse_address(url))
    with closing(store):
        shown = watched.Watched(directory)
        before = shown.moment()
        assert shown.moment() is before
        store.set_fact("name", "value")
        assert shown.moment().state.facts["name"] == "value"


def test_only_the_address_is_stored(begun, url):
    known = json.loads((begun / "copied" / "store.json").read_text())
    assert known == {"url": url, "run": "begun"}
    assert sorted(path.name for path in (begun / "begun").iterdir()) == ["run.toml", "store.json"]


@pytest.mark.slow
def test_run_resumes_on_another_machine(runs, url, tmp_path, capsys):
    shutil.copytree(runs / "copied", tmp_path / "here")
    run_file = tmp_path / "here" / "run.toml"
    run_file.write_text(run_file.read_text().replace("max_matches = 6", "max_matches = 12"))
    code, _ = printed(capsys, "resume", tmp_path / "here")
    assert code == 0
    code, text = printed(capsys, "replay", runs / "server", "--verify", "--json")
    assert json.loads(text)["verified"] > 20


def test_run_without_matches_can_be_replaced(url, tmp_path):
    address = parse_address(f"{url}?run=room")
    _, store = run_directory.create(tmp_path / "run", RUN, "run.toml", address=address)
    store.close()
    _, store = run_directory.create(tmp_path / "run", RUN.replace("seed = 3", "seed = 4"), "run.toml", address=address)
    store.close()
    shutil.copytree(tmp_path / "run", tmp_path / "copied")
    _, store = run_directory.create(tmp_path / "run", RUN, "run.toml")
    store.close()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["run.db", "run.lock", "run.toml"]
    assert main(["rate", str(tmp_path / "copied")]) == 2


def test_taken_name_is_refused_without_changes(begun, url, tmp_path, capsys):
    file = tmp_path / "run.toml"
    file.write_text(RUN)
    with closing(run_directory.open_store(begun / "begun")) as store:
        store.add_match(Match("tictactoe_v0", 0, ("random", "first_legal"), 1))
    other = tmp_path / "elsewhere" / "begun"
    assert main(["run", str(file), "--out", str(other), "--store", url]) == 2
    assert "there is a run of this name" in capsys.readouterr().err
    assert main(["run", str(file), "--out", str(tmp_path / "no name"), "--store", url]) == 2
    assert "?run=NAME" in capsys.readouterr().err
    assert main(["rate", str(begun / "copied")]) == 0


@pytest.mark.parametrize("text", ["[]", '{"url": "x", "run": "y"}', '{"url": "postgresql://a:b@c/d", "run": "y"}'])
def test_a_damaged_address_is_refused(tmp_path, capsys, text):
    (tmp_path / "run.toml").write_text(RUN)
    (tmp_path / "store.json").write_text(text)
    assert main(["rate", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert "store.json: expected url and run" in error
    assert "a:b@" not in error
