"""Workers that join a run over PostgreSQL play what one process would have played, whatever happens to them."""

import asyncio
import contextlib
import json
from collections import Counter
from dataclasses import replace

import pytest

from agents.errors import ProviderError
from agents.models.server.client import Client
from llmarena_envs.core.options import OptionError
from rating.cli import main
from rating.errors import BudgetExceeded, StoreError
from rating.records.match import Match
from rating.records.outcome import FINISHED, VOID
from rating.records.postgres.address import parse_address
from rating.records.postgres.calls import SharedCallLog
from rating.records.postgres.claims import Claims
from rating.records.postgres.members import Newcomer, State
from rating.records.postgres.schema import WORKER
from rating.records.server import open_on_server
from rating.records.sql import TransactionLost
from rating.report.tables import to_json
from rating.running import run_directory
from rating.running.contests import make_leaderboards
from rating.running.executors.workers import load_answer
from rating.running.runner import Runner
from rating.running.session import Session
from rating.running.workers import worker as module
from rating.running.workers.coordination import News
from rating.running.workers.stay import Place
from rating.running.workers.worker import NoRunYet, Worker
from tests.rating.players import Asked
from tests.rating.running.calls import Answers, answer, run_file

pytestmark = pytest.mark.timeout(120)

HERE = "tests.rating.players"
SCRIPTED = """
seed = 11
[stop]
min_matches = 8
max_matches = 8
[[environment]]
name = "tictactoe_v0"
[[environment]]
name = "bid_v0"
[[policy]]
spec = "random"
[[policy]]
spec = "random"
name = "another"
"""


@pytest.fixture
def play(tmp_path, postgres_server, postgres_url, monkeypatch):
    """Plays a run with workers in this process, of the role of workers; returns what it raised and its runner."""
    address = parse_address(postgres_url)
    postgres_server.psql(f"DO $$ BEGIN CREATE ROLE {WORKER} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    for name, value in (("coordination._BEATS", 40), ("coordination._LOOK_FOR_DEAD", 0.1), ("worker._LOOK", 0.1)):
        monkeypatch.setattr(f"rating.running.workers.{name}", value)  # nobody waits for what comes now and then

    def play(text="", *, workers=2, session=None, meanwhile=None):
        path = tmp_path / "shared"
        config, store = (
            run_directory.create(path, text, "run.toml", address=address) if text else run_directory.open_run(path)
        )
        place = replace(address.of("shared"), user=WORKER)

        async def everybody():
            runner = Runner(config, store, session or Session(executor="workers", max_errors=1000))
            staff = [
                Worker(
                    lambda: open_on_server(place),
                    run_directory.recorded_config,
                    Place(f"worker {number}", Session(executor="asyncio"), lease=8.0),
                )
                for number in range(workers)
            ]
            tasks = [asyncio.create_task(one.run()) for one in staff]
            if meanwhile is not None:
                tasks.append(asyncio.create_task(meanwhile(staff)))
            try:
                await runner.run()
                await asyncio.gather(*tasks)
            except BaseException as error:
                for one in staff:
                    one.drain()
                await asyncio.gather(*tasks, return_exceptions=True)
                return error, runner
            return None, runner

        with contextlib.closing(store):
            error, runner = asyncio.run(everybody())
        return error, runner

    play.place = address.of("shared")
    return play


def answer_slowly(monkeypatch, seconds):
    """Returns what counts the requests that were sent."""
    answers, sent = Answers(), Counter()

    async def complete(client, request, **options):
        sent["requests"] += 1
        await asyncio.sleep(seconds)
        return await answers(client, request)

    monkeypatch.setattr(Client, "complete", complete)
    return sent


def undisturbed(path, text):
    config, store = run_directory.create(path, text, "run.toml")
    with contextlib.closing(store):
        runner = Runner(config, store, Session(executor="asyncio", max_errors=1000))
        asyncio.run(runner.run())
        return results(config, store), runner


def results(config, store):
    boards = make_leaderboards(config, [*store.outcomes()], store.facts())
    return [to_json(board) for board in boards], store.digest()


def results_of(path):
    config, store = run_directory.open_run(path)
    with contextlib.closing(store):
        assert store.check() == []
        return results(config, store)


def members(path):
    with contextlib.closing(run_directory.open_store(path)) as store, contextlib.closing(store.claims()) as claims:
        return claims.members()


def lose_once(monkeypatch, name, *, is_done):
    """Of the first thing of its kind that is written nobody hears whether it was; returns what says that it came to that."""
    do, lost = getattr(Claims, name), []

    def unheard(claims, *values):
        result = do(claims, *values) if is_done or lost else None
        if lost or result == []:
            return result
        lost.append(name)
        raise TransactionLost("the connection was lost")

    monkeypatch.setattr(Claims, name, unheard)
    return lost


def test_two_workers_play_what_one_process_plays(play, tmp_path, monkeypatch):
    lost = [lose_once(monkeypatch, name, is_done=name != "offer") for name in ("offer", "take", "answer")]
    error, runner = play(SCRIPTED)
    assert error is None
    assert lost == [["offer"], ["take"], ["answer"]]
    expected, _ = undisturbed(tmp_path / "alone", SCRIPTED)
    assert results_of(tmp_path / "shared") == expected
    coordinator, *workers = members(tmp_path / "shared")
    assert coordinator.state is State.OVER
    assert [worker.state for worker in workers] == [State.LEFT] * 2
    assert sum(worker.played for worker in workers) == sum(item.finished for item in runner.progress().environments)


@pytest.mark.slow
def test_calls_of_workers_are_on_the_bill_of_the_run(play, tmp_path, monkeypatch):
    answers = answer(monkeypatch)
    error, runner = play(run_file(matches=6))
    assert error is None
    sent = answers.sent
    expected, alone = undisturbed(tmp_path / "alone", run_file(matches=6))
    assert results_of(tmp_path / "shared") == expected
    tried_out = 2  # each worker has asked both models once
    assert sent == answers.sent - sent + tried_out
    shared = {key: usage.tokens for key, usage in runner.bill.totals.items() if key[0]}
    assert shared == {key: usage.tokens for key, usage in alone.bill.totals.items() if key[0]}


@pytest.mark.parametrize("step", ["begin", "write"])
def test_a_call_that_cannot_be_noted_is_no_fault_of_the_policy_and_nothing_is_lost(play, tmp_path, monkeypatch, step):
    answer(monkeypatch)
    note, count = getattr(SharedCallLog, step), Counter()

    def fail_once(log, logged):
        count[step] += bool(logged.match)
        if count[step] == 3 and not count["failed"]:
            count["failed"] = 1
            raise StoreError("no room")
        note(log, logged)

    monkeypatch.setattr(SharedCallLog, step, fail_once)
    error, _ = play(run_file(matches=4), workers=1)
    assert (error, count["failed"]) == (None, 1)
    expected, _ = undisturbed(tmp_path / "alone", run_file(matches=4))
    assert results_of(tmp_path / "shared") == expected
    _, *stays = members(tmp_path / "shared")
    assert [stay.state for stay in stays] == [State.LEFT] * 2


@pytest.mark.slow
def test_a_budget_stops_workers_and_what_they_give_back_is_played_when_the_run_goes_on(play, tmp_path, monkeypatch):
    answer_slowly(monkeypatch, 0.05)
    monkeypatch.setattr("rating.running.runner._SECONDS_BETWEEN_BILLS", 0.01)  # before all is played
    error, _ = play(run_file(matches=6), session=Session(executor="workers", max_tokens=200))
    assert isinstance(error, BudgetExceeded)
    coordinator, *workers = members(tmp_path / "shared")
    assert coordinator.state is State.STOPPED
    assert all(worker.playing == 0 and worker.state is State.LEFT for worker in workers)
    assert play()[0] is None
    expected, _ = undisturbed(tmp_path / "alone", run_file(matches=6))
    assert results_of(tmp_path / "shared") == expected


@pytest.mark.slow
def test_a_worker_that_was_taken_for_dead_drops_what_is_not_its_own_and_joins_again(play, tmp_path, monkeypatch):
    sent = answer_slowly(monkeypatch, 0.02)

    async def bury(staff):
        with (
            contextlib.closing(run_directory.open_store(tmp_path / "shared")) as store,
            contextlib.closing(store.claims()) as claims,
        ):
            while not any(member.playing and member.calls for member in claims.members()[1:]):
                await asyncio.sleep(0.01)
            claims._sql.execute("UPDATE worker SET until = began WHERE coordinates = 0")
            list(claims.bury())

    error, runner = play(run_file(matches=6), workers=1, meanwhile=bury)
    assert error is None
    assert sum(usage.calls for usage in runner.bill.totals.values()) == sent["requests"]
    expected, _ = undisturbed(tmp_path / "alone", run_file(matches=6))
    assert results_of(tmp_path / "shared") == expected
    _, first, second = members(tmp_path / "shared")
    assert (first.state, second.state) == (State.DEAD, State.LEFT)
    assert first.lost > 0


@pytest.mark.slow
def test_a_worker_whose_store_was_away_leaves_what_it_held_and_that_is_no_death(play, tmp_path, monkeypatch):
    sent = answer_slowly(monkeypatch, 0.01)
    begin, leave, times = SharedCallLog.begin, Claims.leave, Counter()

    def fails(log, logged):
        times["begin"] += 1
        if times["begin"] == 20:
            raise StoreError("the database cannot be reached")
        begin(log, logged)

    def fails_as_well(claims, identity, end=State.LEFT):
        times["leave"] += 1
        if times["leave"] == 1:
            raise StoreError("the database cannot be reached")
        leave(claims, identity, end)

    monkeypatch.setattr(SharedCallLog, "begin", fails)
    monkeypatch.setattr(Claims, "leave", fails_as_well)
    error, runner = play(run_file(matches=6), workers=1)
    assert error is None
    assert [member.state for member in members(tmp_path / "shared")[1:]] == [State.LEFT, State.LEFT]
    assert (runner.progress().errors, sum(usage.calls for usage in runner.bill.totals.values())) == (
        0,
        sent["requests"],
    )
    expected, _ = undisturbed(tmp_path / "alone", run_file(matches=6))
    assert results_of(tmp_path / "shared") == expected


@pytest.mark.slow
def test_offers_of_a_suspended_policy_are_taken_back(play, tmp_path, monkeypatch):
    monkeypatch.setattr(Asked, "failing", {"bad": ProviderError("no such model", fatal=True)})
    text = SCRIPTED + f'[[policy]]\nspec = "{HERE}:Asked"\nname = "bad"\noptions = {{ name = "bad" }}\n'
    error, runner = play(text, workers=1)
    assert error is None
    assert list(runner.progress().suspended) == ["bad"]
    with contextlib.closing(run_directory.open_store(tmp_path / "shared")) as store:
        with contextlib.closing(store.claims()) as claims:
            assert claims._sql.row("SELECT count(*) FROM claim") == (0,)
        records = list(store.records())
    assert {record.status for record in records if "bad" in record.match.policies} == {VOID}
    assert {record.status for record in records if "bad" not in record.match.policies} == {FINISHED}


def test_a_worker_that_cannot_ask_a_model_claims_nothing(tmp_path, postgres_url, monkeypatch):
    async def refuse(client, request, **options):
        raise ProviderError("no such key", fatal=True)

    async def everybody(worker, runner):
        playing = asyncio.create_task(runner.run())
        with pytest.raises(ProviderError, match="nothing was claimed, since from here 2 of 2 models cannot be asked"):
            await worker.run()
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)

    monkeypatch.setattr(Client, "complete", refuse)
    path, address = tmp_path / "shared", parse_address(postgres_url)
    config, store = run_directory.create(path, run_file(), "run.toml", address=address)
    with contextlib.closing(store):
        place = Place("one", Session(executor="asyncio"))
        worker = Worker(lambda: open_on_server(address.of("shared")), run_directory.recorded_config, place)
        asyncio.run(everybody(worker, Runner(config, store, Session(executor="workers"))))
    assert [(member.state, member.played) for member in members(path)[1:]] == [(State.LEFT, 0)]


def test_workers_need_a_store_that_several_can_write(tmp_path):
    config, store = run_directory.create(tmp_path / "run", SCRIPTED, "run.toml")
    with contextlib.closing(store), pytest.raises(OptionError, match="PostgreSQL"):
        Runner(config, store, Session(executor="workers"))


@pytest.mark.parametrize(
    "answer",
    ["{", "[]", "[" * 100_000, "1" * 10_000, '{"status": "won"}', '{"status": "finished", "seats": "[1]"}', "null"],
)
def test_an_answer_that_is_none_is_told_of(answer):
    with pytest.raises(StoreError, match="expected the answer of a worker"):
        load_answer(Match("tictactoe_v0", 0, ("random", "greedy"), 1), answer)


@pytest.mark.slow
def test_a_match_of_which_two_workers_have_died_is_void_and_the_others_are_played(play, tmp_path):
    poisoned, doomed = [], Newcomer("doomed", "here", 1, "asyncio", 1)

    async def die_twice(staff):
        while "shared" not in {path.name for path in tmp_path.iterdir()}:
            await asyncio.sleep(0.01)
        with (
            contextlib.closing(run_directory.open_store(tmp_path / "shared")) as store,
            contextlib.closing(store.claims()) as claims,
        ):
            for _ in range(2):
                while not (taken := claims.take(worker := claims.join(doomed, 0.05), 0, 1)):
                    await asyncio.sleep(0.05)
                poisoned.extend(taken)
                while claims.held(worker):
                    await asyncio.sleep(0.05)
        worker = Worker(
            lambda: open_on_server(play.place),
            run_directory.recorded_config,
            Place("late", Session(executor="asyncio")),
        )
        await worker.run()

    error, runner = play(SCRIPTED, workers=0, meanwhile=die_twice)
    assert error is None
    first, second = poisoned
    assert (first.match, second.match, second.deaths) == (first.match, first.match, 1)
    with contextlib.closing(run_directory.open_store(tmp_path / "shared")) as store:
        void = [record for record in store.records() if record.status == VOID]
    assert [record.match.id for record in void] == [first.match.id]
    assert "2 workers have died, one after the other" in void[0].error
    assert runner.progress().errors == 1


def test_the_workers_of_a_run_are_shown_and_drained(play, tmp_path, capsys):
    async def drain(staff):
        while "worker 0" not in {member.name for member in members(tmp_path / "shared")}:
            await asyncio.sleep(0.01)
        assert main(["workers", str(tmp_path / "shared"), "--drain", "worker 0"]) == 0
        assert main(["workers", str(tmp_path / "shared"), "--drain", "worker 0"]) == 2

    assert play(SCRIPTED, meanwhile=drain)[0] is None
    assert "draining: worker 0" in capsys.readouterr().err
    assert main(["workers", str(tmp_path / "shared"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [worker["state"] for worker in found["workers"]] == ["over", "left", "left"]
    assert {environment: set(counts) for environment, counts in found["matches"].items()} == {
        "tictactoe_v0": {FINISHED},
        "bid_v0": {FINISHED},
    }
    assert main(["workers", str(tmp_path / "shared"), "--all"]) == 0
    table = capsys.readouterr().out
    assert "worker 1" in table
    assert "there is no coordinator that offers matches" in table


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([], "expected either the directory of a run, or --store"),
        (["--store", "postgresql://here/runs"], "expected the name of the run"),
        (["run"], "that of this one is a file"),
        (["nowhere"], "nowhere: expected the directory of a run; from elsewhere"),
        (["run", "--store", "postgresql://here/runs"], "expected either"),
    ],
)
def test_which_run_a_worker_joins_has_to_be_clear(tmp_path, monkeypatch, capsys, arguments, what):
    monkeypatch.chdir(tmp_path)
    run_directory.create(tmp_path / "run", SCRIPTED, "run.toml")[1].close()
    for command in ("work", "workers"):
        assert main([command, *arguments]) == 2
        assert what in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", " ", "\x1b[31mred", "two\nlines", "\udcff", "\u202e", "x" * 101])
def test_the_name_of_a_worker_is_one_that_people_can_read(capsys, name):
    for flag in ("work --name", "workers --drain"):
        with pytest.raises(SystemExit):
            main([*flag.split(), name, "--store", "postgresql://here/runs", "--run", "shared"])
        assert "expected a name of 1 to 100 characters" in capsys.readouterr().err


@pytest.fixture
def begun(tmp_path, postgres_url):
    """A run that a coordinator has begun; returns its config, store and address."""
    address = parse_address(postgres_url)
    config, store = run_directory.create(tmp_path / "shared", SCRIPTED, "run.toml", address=address)
    with contextlib.closing(store):
        yield config, store, address.of("shared")


def test_a_worker_of_another_version_claims_nothing(begun, capsys):
    _, store, address = begun
    Runner(begun[0], store, Session(executor="workers"))._coordination.close(State.STOPPED)
    store.set_fact("versions of the coordinator", json.dumps({**run_directory.versions(), "numpy": "0.1"}))
    store.claims_here().coordinate(Newcomer("coordinator", "here", 1, "workers", 0), 60.0)
    assert main(["work", "--store", address.url, "--run", address.run]) == 2
    error = capsys.readouterr().err
    assert "nothing was claimed" in error
    assert "instead of 0.1" in error


def test_a_worker_whose_role_may_only_look_ends_with_the_reason(begun, postgres_server, capsys):
    _, store, address = begun
    store.claims_here().coordinate(Newcomer("coordinator", "here", 1, "workers", 0), 60.0)
    database = address.database
    postgres_server.psql(f"CREATE ROLE looks_at_{database} LOGIN")
    for what in (f"USAGE ON SCHEMA {address.schema}", f"SELECT ON ALL TABLES IN SCHEMA {address.schema}"):
        postgres_server.psql(f"GRANT {what} TO looks_at_{database}", database)
    url = address.url.replace("//postgres@", f"//looks_at_{database}@")
    assert main(["work", "--store", url, "--run", address.run]) == 2
    assert "permission denied for table worker; its owner has to grant that" in capsys.readouterr().err


def test_coordinator_breaks_the_seal_before_workers_join(begun):
    config, store, _ = begun
    for _ in range(2):  # the second time no fact is new
        runner = Runner(config, store, Session(executor="workers"))
        assert store.sealed == ""
        runner._coordination.close(State.STOPPED)
        assert store.seal()


def test_a_run_whose_coordination_fails_ends_with_the_reason(begun):
    config, store, _ = begun

    async def fail():
        runner = Runner(config, store, Session(executor="workers"))
        playing = asyncio.create_task(runner.run())
        await asyncio.sleep(0.05)
        store.claims_here().coordinate(Newcomer("coordinator", "there", 1, "workers", 0), 60.0)
        runner._coordination.stop()  # gives a sign of life at once
        await playing

    with pytest.raises(StoreError, match="another process has begun to coordinate"):
        asyncio.run(fail())


def test_as_many_matches_are_offered_as_workers_can_hold(begun):
    async def collect():
        runner, widths = Runner(begun[0], begun[1], Session(executor="workers")), []
        for capacity in (0, 500, 1500, 3, 10**9):
            runner._executors.hear(News(capacity=capacity))
            widths.append(runner._executors._workers.slots.count)
        runner._coordination.close(State.STOPPED)
        return widths

    assert asyncio.run(collect()) == [1024, 1024, 3000, 3000, 65_536]


def test_a_worker_that_joins_again_and_again_and_can_play_nothing_gives_up(begun, monkeypatch):
    _, store, address = begun
    store.claims_here().coordinate(Newcomer("coordinator", "here", 1, "workers", 0), 60.0)
    joined = []

    def read_config(store):
        joined.append(1)
        raise StoreError("no room on the disk")

    monkeypatch.setattr(module, "PATIENCE", 0.1)
    monkeypatch.setattr(module, "_LOOK", 0.02)
    worker = Worker(lambda: open_on_server(address), read_config, Place("one", Session(executor="asyncio")))
    with pytest.raises(StoreError, match="no room on the disk"):
        asyncio.run(asyncio.wait_for(worker.run(), 20))
    assert len(joined) > 1


def test_a_worker_does_not_wait_for_ever_for_a_run_that_is_gone(begun, monkeypatch):
    opened = []

    def open_store():
        if opened:
            raise NoRunYet("there is no run of this name")
        opened.append(1)
        return open_on_server(begun[2])

    def read_config(store):
        raise StoreError("relation does not exist")

    monkeypatch.setattr(module, "PATIENCE", 0.1)
    monkeypatch.setattr(module, "_LOOK", 0.02)
    begun[1].claims_here().coordinate(Newcomer("coordinator", "here", 1, "workers", 0), 60.0)
    worker = Worker(open_store, read_config, Place("one", Session(executor="asyncio")))
    with pytest.raises(NoRunYet):
        asyncio.run(asyncio.wait_for(worker.run(), 20))
