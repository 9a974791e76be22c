"""The board of a run in progress: changes appear, each match is read once, and views cost little."""

import asyncio
import itertools
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest

from llmarena_envs.core.text_env import TextEnv
from rating.play import run_directory
from rating.play.run import Run
from rating.store.environments import admit
from rating.store.records import Match
from rating.store.store import Store
from rating.viewer.web.live import Live, Paced
from rating.viewer.web.positions import Positions
from rating.viewer.web.watched import UNDER_WAY, WAITING, Watched
from tests.rating.runs import play_run, run_file
from tests.rating.viewer.web.pages import HOME, pages_of

RUN = run_file("tictactoe_v0", policies=("first_legal", "random"), stop="min_matches = 4\nmax_matches = 8")


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The records of a run."""
    directory = play_run(tmp_path_factory.mktemp("live") / "run", RUN)
    with closing(run_directory.open_store(directory)) as store:
        return list(store.records()), store.facts()


@pytest.fixture
def under_way(tmp_path, played):
    """A run in progress: its directory and the store of its writer."""
    _, facts = played
    _, store = run_directory.create(tmp_path / "run", RUN, "run.toml")
    store.set_fact("rules:tictactoe_v0", facts["rules:tictactoe_v0"])
    yield tmp_path / "run", store
    store.close()


def end(store, record):
    store.finish(record.match, record.outcome, digest=record.digest)


def test_board_follows_a_match_to_its_end(under_way, played, unpaced):
    directory, store = under_way
    (record, *_), _ = played
    pages = pages_of(directory)
    assert "No match has been entered yet" in pages.get(HOME).text

    store.add_match(record.match)
    match = f"{HOME}/match/{record.match.id}"

    def result():
        index = pages.get(f"{HOME}/index").json()
        (code,) = index["columns"]["result"]
        return index["values"]["result"][code][0], index["columns"]["turns"]

    assert result() == ("waiting", [0]) and pages.get(match).json()["turns"] == []
    assert pages.get(f"{match}/0").json()["svg"].startswith("<svg")
    html = pages.get(HOME).text
    assert "Running, or killed." in html and 'http-equiv="refresh"' in html
    for count, turn in enumerate(record.turns, start=1):
        store.add_turn(record.match, turn)
        assert result() == ("under way", [count])
        assert [one["played"] for one in pages.get(match).json()["turns"]][-1] == turn.played
    assert "No match has ended yet." in pages.get(HOME).text

    end(store, record)
    assert result() == ("finished", [len(record.turns)])
    assert pages.get(match).json()["seats"] == {seat.agent: seat.policy for seat in record.outcome.seats}
    assert "No match has ended yet." not in pages.get(HOME).text


def test_watch_reads_each_match_once(under_way, played, monkeypatch):
    directory, store = under_way
    records, _ = played
    read = []
    glance = Store.glance
    monkeypatch.setattr(Store, "glance", lambda store, match: (read.append(match), glance(store, match))[1])
    watched = Watched(directory)
    for record in records:
        store.add_match(record.match)
        assert watched.moment().entries[record.match.id].status == WAITING
        store.add_turn(record.match, record.turns[0])
        assert watched.moment().entries[record.match.id].status == UNDER_WAY
        assert watched.moment() is watched.moment()
        for turn in record.turns[1:]:
            store.add_turn(record.match, turn)
        end(store, record)
        entry = watched.moment().entries[record.match.id]
        assert (entry.status, entry.turns) == ("finished", len(record.turns))
    assert len(read) == 2 * len(records)


def test_watch_makes_leaderboards_per_finished_match(under_way, played, monkeypatch):
    directory, store = under_way
    records, _ = played
    made, make = [], Run.leaderboard
    monkeypatch.setattr(Run, "leaderboard", lambda *given: (made.append(given[1]), make(*given))[1])
    watched = Watched(directory)
    for count, record in enumerate(records[:3], start=1):
        store.add_match(record.match)
        watched.tables(watched.moment())
        for turn in record.turns:
            store.add_turn(record.match, turn)
            watched.tables(watched.moment())
        end(store, record)
        found = watched.tables(watched.moment())
        assert len(made) == count and found.contents.sections[0].shown.notes[0].startswith(f"{count} match")


def test_watch_killed_run_is_read_once_and_unchanged(under_way, played, tmp_path, monkeypatch):
    directory, store = under_way
    records, _ = played
    store.add_match(records[0].match)
    store.add_turn(records[0].match, records[0].turns[0])
    (tmp_path / "killed").mkdir()
    for name in ("run.db", "run.db-wal", "run.toml"):  # files of a killed process
        (tmp_path / "killed" / name).write_bytes((directory / name).read_bytes())
    before = {path.name: path.read_bytes() for path in (tmp_path / "killed").iterdir()}
    opened, open_store = [], run_directory.open_store
    monkeypatch.setattr(
        run_directory, "open_store", lambda *given, **named: (opened.append(1), open_store(*given, **named))[1]
    )
    watched = Watched(tmp_path / "killed")
    moment = watched.moment()
    assert [entry.turns for entry in moment.entries.values()] == [1] and not moment.sealed
    watched.tables(moment)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(watched.record, [records[0].match.id] * 20))
    assert {len(record.turns) for record in found} == {1} and len(opened) == 1
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "killed").iterdir()}

    store.add_turn(records[0].match, records[0].turns[1])
    for name in before:  # the run was resumed
        (tmp_path / "killed" / name).write_bytes((directory / name).read_bytes())
    assert [entry.turns for entry in watched.moment().entries.values()] == [2]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_paced_views_take_a_twentieth_of_the_time():
    clock, computed = Clock(), []

    def compute():
        clock.now += 3
        computed.append(clock.now)
        return len(computed)

    async def look():
        paced = Paced(compute, clock, clock)
        assert await asyncio.gather(*(paced.get() for _ in range(20))) == [1] * 20
        for _ in range(200):
            clock.now += 1
            await paced.get()
        return computed

    asyncio.run(look())
    first, second, *later = computed  # the first one reads the whole record
    assert second - first < 10 and 2 <= len(later) <= 4
    assert all(later - earlier >= 60 for earlier, later in itertools.pairwise([second, *later]))


def test_live_reads_only_while_a_view_is_open(under_way, played, unpaced, monkeypatch):
    directory, store = under_way
    (record, *_), _ = played
    watched = Watched(directory)
    looks = []
    moment = watched.moment
    monkeypatch.setattr(watched, "moment", lambda: (looks.append(1), moment())[1])

    async def watching():
        live = Live(watched)
        version = (await live.view()).version
        assert (await live.view()).version == version
        waiting = asyncio.create_task(live.changed(version))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        store.add_match(record.match)
        version = await asyncio.wait_for(waiting, 30)
        seen = len(looks)
        await asyncio.sleep(0.2)
        assert len(looks) == seen
        store.add_turn(record.match, record.turns[0])
        assert (await live.view()).version != version

    asyncio.run(watching())


def test_positions_are_drawn_once_per_turn(played, monkeypatch):
    (record, *_), _ = played
    steps, step = [], TextEnv.step
    monkeypatch.setattr(TextEnv, "step", lambda env, action: (steps.append(action), step(env, action))[1])
    positions = Positions()
    pictures = [positions.draw(record, number).svg for number in range(len(record.turns) + 1)]
    assert len(set(pictures)) == len(pictures) and len(steps) == len(record.turns)
    assert [positions.draw(record, number).svg for number in range(len(record.turns) + 1)] == pictures
    assert len(steps) == len(record.turns)


def test_positions_failed_replay_gives_the_reason(played):
    (record, *_), _ = played
    other = replace(record, turns=(replace(record.turns[0], read="else"),))
    assert "differs from the record" in Positions().draw(other, 1).missing
    gone = replace(record, match=Match("no_such_game_v0", 0, ("a", "b"), 1))
    assert "no_such_game" in Positions().draw(gone, 1).missing
    broken = replace(
        record, match=Match("tests.rating.broken_env", 0, ("a", "b"), record.match.seed, record.match.options)
    )
    admit(["tests.rating.broken_env"])
    assert Positions().draw(broken, 0).svg
    assert "ZeroDivisionError" in Positions().draw(broken, 3).missing
