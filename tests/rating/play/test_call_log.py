"""Every call of a run is logged with its match and policy, also for failed matches."""

import asyncio
import contextlib
import itertools

import pytest

from agents.errors import TransientError
from agents.models.calls import CallStatus
from agents.models.server.client import Client
from rating.cli.printing import print_leaderboards
from rating.errors import BudgetExceeded, StoreError
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.store.call_log import CallLog
from rating.store.records import FINISHED, VOID
from tests.rating.play.calls import answer, answered, run_file
from tests.support.calls import logged_calls

pytestmark = pytest.mark.timeout(60)


def play(path, text="", session=None):
    run, store = run_directory.create(path, text, "run.toml") if text else run_directory.open_run(path)
    with contextlib.closing(store):
        runner = Runner(run, store, session=session or Session(max_errors=1000))
        with contextlib.suppress(BudgetExceeded):
            asyncio.run(runner.run())
        return runner.bill, list(store.records())


@pytest.mark.slow
def test_calls_of_void_matches_are_logged(tmp_path, monkeypatch):
    numbers = itertools.count()

    async def sometimes(client, request, **options):
        await asyncio.sleep(0)
        if next(numbers) % 4 == 0:
            raise TransientError("503")
        return answered("5", 7, 1)

    monkeypatch.setattr(Client, "complete", sometimes)
    text = run_file("tries = 1", matches=6).replace('localhost:1/v1" }', 'localhost:1/v1", max_attempts = 1 }')
    bill, records = play(tmp_path / "run", text)
    matches = {record.match.id: record for record in records}
    logged = logged_calls(tmp_path / "run")
    assert len(logged) == next(numbers)
    tried_out = [item for item in logged if not item.match]
    logged = [item for item in logged if item.match]
    assert {item.policy for item in tried_out} == {"model", "other"}
    names = {"gpt-x": "model", "gpt-y-2": "other"}
    for item in logged:
        seats = dict(zip(("player_0", "player_1"), matches[item.match].match.policies, strict=True))
        assert seats[item.call.agent] == item.policy == names[item.call.model]
    of_void = [item for item in logged if matches[item.match].status == VOID]
    assert {item.call.status is CallStatus.OK for item in of_void} == {True, False}
    spent = sum(item.call.prompt_tokens or 0 for item in [*tried_out, *logged])
    shown = sum(seat.prompt_tokens for record in records if record.outcome for seat in record.outcome.seats)
    assert bill.total().prompt_tokens == spent > shown
    assert bill.total().failed == sum(item.call.status is not CallStatus.OK for item in [*tried_out, *logged]) > 0


@pytest.mark.slow_except(1)
@pytest.mark.parametrize("moment", ["begin", "write"])
def test_call_that_cannot_be_logged_ends_the_run(tmp_path, monkeypatch, moment):
    answers, noted = answer(monkeypatch), []
    note = getattr(CallLog, moment)

    def fails(log, logged):
        noted.append(logged)
        if len(noted) > 10:
            raise StoreError("the database cannot be reached")
        note(log, logged)

    with monkeypatch.context() as patched:
        patched.setattr(CallLog, moment, fails)
        with pytest.raises(StoreError):
            play(tmp_path / "run", run_file("tries = 1"))
    assert answers.sent == (10 if moment == "begin" else len(noted))
    bill, records = play(tmp_path / "run")
    assert {(record.status, record.tries) for record in records} == {(FINISHED, 1)}
    assert bill.total().calls == answers.sent


def test_bill_of_resumed_run_has_calls_of_all_sessions(tmp_path, monkeypatch):
    answers = answer(monkeypatch)
    play(tmp_path / "run", run_file(), Session(max_tokens=2000))
    bill, records = play(tmp_path / "run")
    assert {record.status for record in records} == {FINISHED}
    assert bill.total().calls == answers.sent == len(logged_calls(tmp_path / "run"))
    assert bill.total().tokens == answers.tokens
    assert sum(used.calls for used in bill.totals.values()) == answers.sent


def test_unreported_usage_is_not_shown_as_zero(tmp_path, monkeypatch, capsys):
    answer(monkeypatch, unknown=True)
    play(tmp_path / "run", run_file(matches=4))
    run, store = run_directory.open_run(tmp_path / "run")
    with contextlib.closing(store):
        print_leaderboards(run, store, "wide")
    header, *rows = next(part for part in capsys.readouterr().out.split("\n\n") if "tokens in" in part).splitlines()[
        1:5
    ]
    end = header.index("tokens in") + len("tokens in")
    names = ("model", "other", "random")
    cells = {name: row[:end].split()[-1] for row in rows for name in names if f" {name} " in row}
    assert cells == {"model": "?", "other": "?", "random": "0"}


def test_run_without_models_logs_no_call(tmp_path):
    text = "[[environment]]\nname = 'tictactoe_v0'\n[stop]\nmax_matches = 4\nmin_matches = 2\n"
    text += "[[policy]]\nspec = 'random'\n[[policy]]\nspec = 'greedy'\n"
    play(tmp_path / "run", "workers = 1\n" + text)
    assert logged_calls(tmp_path / "run") == []
