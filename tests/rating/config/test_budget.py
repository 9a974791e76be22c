"""Budgets end a run cleanly: no call is lost, none is sent beyond the limit, and the resumed run equals an unlimited one."""

import asyncio
import contextlib
import random

import pytest

from rating.errors import BudgetExceeded
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import ONE_GO, Session
from tests.rating.play.calls import PRICES, answer, run_file
from tests.support.calls import logged_calls

pytestmark = pytest.mark.timeout(60)


def go(path, session=ONE_GO):
    """Starts or resumes a run; returns its digest."""
    run, store = run_directory.open_run(path)
    with contextlib.closing(store):
        asyncio.run(Runner(run, store, session=session).run())
        return store.digest()


def create(path, text):
    run_directory.create(path, text, "run.toml")[1].close()


def logged_tokens(path):
    return sum(item.call.prompt_tokens + item.call.completion_tokens for item in logged_calls(path))


@pytest.mark.slow
def test_run_with_repeated_budget_stops_ends_the_same(tmp_path, monkeypatch):
    answers = answer(monkeypatch)
    create(tmp_path / "whole", run_file())
    digest, sent = go(tmp_path / "whole"), answers.sent
    rng, limit, stops = random.Random(5), 0, 0
    create(tmp_path / "run", run_file())
    answers.most = 0
    while True:
        limit += rng.randrange(1, sent * 110 // 5)
        try:
            again = go(tmp_path / "run", Session(max_tokens=limit))
            break
        except BudgetExceeded as error:
            assert f"the budget is used up: {logged_tokens(tmp_path / 'run')} of {limit} tokens" == str(error)
            assert limit <= logged_tokens(tmp_path / "run") < limit + 110 * max(answers.most, 1)
            stops += 1
    assert again == digest
    assert stops >= 4
    asked = answers.sent - sent
    assert len(logged_calls(tmp_path / "run")) == asked
    assert sent <= asked <= sent + stops * 2 * answers.most  # only a turn that was being asked again begins anew


def test_exceeded_budget_stops_next_session_at_once(tmp_path, monkeypatch):
    answers = answer(monkeypatch)
    create(tmp_path / "run", run_file(tables=PRICES + "[budget]\ncost = 0.5\n"))
    with pytest.raises(BudgetExceeded, match=r"of 0\.5 USD"):
        go(tmp_path / "run")
    sent = answers.sent
    with pytest.raises(BudgetExceeded):
        go(tmp_path / "run")
    assert answers.sent == sent
    go(tmp_path / "run", Session(max_cost=1e6))
    assert answers.sent > sent


def test_finished_run_is_complete_despite_exceeded_budget(tmp_path, monkeypatch):
    answer(monkeypatch)
    create(tmp_path / "run", run_file())
    digest = go(tmp_path / "run")
    assert go(tmp_path / "run", Session(max_tokens=1)) == digest


def test_the_time_of_a_session_ends_it(tmp_path, monkeypatch):
    answer(monkeypatch)
    create(tmp_path / "run", run_file())
    with pytest.raises(BudgetExceeded, match="time of this session"):
        go(tmp_path / "run", Session(max_seconds=0.001))
    go(tmp_path / "run")


def test_calls_of_unknown_usage_do_not_slip_past_a_budget(tmp_path, monkeypatch):
    answers = answer(monkeypatch, unknown=True)
    create(tmp_path / "run", run_file())
    with pytest.raises(BudgetExceeded, match=r"none of 1\d replies for .* says how many tokens"):
        go(tmp_path / "run", Session(max_tokens=1000))
    assert answers.sent < 40 + answers.most
