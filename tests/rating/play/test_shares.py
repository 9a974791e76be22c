"""Even shares of a budget."""

import asyncio
from collections import Counter
from contextlib import closing

import pytest

from agents.models.calls import Call, CallStatus
from rating.errors import BudgetExceeded
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.play.shares import Shares
from rating.prices import Price, PriceTable
from rating.store.calls import Bill
from tests.rating.play.calls import PRICES, answer, run_file

MILLION = 1_000_000


def spend(bill, environment, amount):
    bill.add(
        environment, "model", Call("m", "", "", 1, CallStatus.OK, prompt_tokens=amount * MILLION, completion_tokens=0)
    )


def test_game_beyond_its_share_waits_for_the_others():
    async def play():
        bill = Bill(PriceTable([Price(model="m", input=1, output=1)]))
        shares = Shares(10, bill, ["a", "b", "free"])
        await asyncio.wait_for(shares.turn("a"), 1)
        spend(bill, "a", 4)
        waiting = asyncio.create_task(shares.turn("a"))
        await asyncio.sleep(0)
        await asyncio.wait_for(shares.turn("b"), 1)
        shares.end("free")
        await asyncio.sleep(0.01)
        assert not waiting.done()
        spend(bill, "b", 4)
        shares.update()
        await asyncio.wait_for(waiting, 1)
        shares.end("b")
        await asyncio.wait_for(shares.turn("a"), 1)

    asyncio.run(play())


def test_run_spends_its_budget_evenly(tmp_path, monkeypatch):
    answer(monkeypatch)
    more = '[[environment]]\nname = "connect_four_v0"\n'
    text = run_file("concurrency = 2", more + PRICES, matches=200).replace("min_matches = 4", "min_matches = 200")
    run, store = run_directory.create(tmp_path / "run", text, "run")
    with closing(store), pytest.raises(BudgetExceeded):
        asyncio.run(Runner(run, store, Session(max_cost=8)).run())
    _, store = run_directory.open_run(tmp_path / "run")
    with closing(store):
        calls = Counter(entry.environment for entry in store.calls() if entry.environment)
    # A match of connect four has several times the calls of one of tic-tac-toe; one match a game can go beyond the share.
    assert min(calls.values()) > 0.75 * max(calls.values()) and sum(calls.values()) > 150
