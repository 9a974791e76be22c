"""Whole runs against a server with every fault: each real reply counts exactly once."""

import asyncio
import contextlib
import itertools
import random
from collections import Counter
from pathlib import Path

import pytest

from agents.models.calls import CallStatus
from agents.models.limits import adaptive_limiter, retry
from llmarena_envs.core.failures import Failure
from rating.cli.process import rare_collections
from rating.play import run_directory
from rating.play.runner import Runner
from rating.store.records import FINISHED
from tests.support import fault_server as faults
from tests.support.calls import logged_calls
from tests.support.fault_server import fault_server

PLAYERS, ROUNDS = 4, 2

REPLIES = (faults.OK, faults.WRONG_MODEL, faults.MEGABYTE)
"""Responses that count as replies."""

BURST = 10
"""Consecutive requests of a model that the server refuses, like a rate limit."""


def write(url, matches, in_flight, timeout):
    models = "".join(
        f"""
[[policy]]
name = "model {number}"
spec = "openai:mock-{number}"
options = {{ base_url = "{url}", history = "full", timeout = {timeout}, deadline = 120.0, max_attempts = 50 }}
"""
        for number in range(PLAYERS)
    )
    return f"""
seed = 3
concurrency = {in_flight}
ahead = {matches}
max_errors = 0
tries = 1
stop = {{ matches = {matches}, max_matches = {matches} }}
[[environment]]
name = "public_goods_v0"
options = {{ rounds = {ROUNDS} }}
{models}"""


class Model:
    """The server's faults and replies: random, by the number of the request.

    Args:
        share: of the requests that fail.
        bursts: numbers of a model's requests that start a series of refusals.

    Attributes:
        said: the text of every completion that was made, and the coins in it, by the number of the request.
        faults: what became of every request, by its number.
    """

    def __init__(self, share, bursts):
        self._rng = random.Random(share)
        self._share = share
        self._bursts = bursts
        self._asked = Counter()
        self.said = {}
        self.faults = {}

    def plan(self, request):
        fault = self._choose(request)
        self.faults[request.number] = fault
        return fault

    def _choose(self, request):
        model = request.body["model"]
        self._asked[model] += 1
        if request.body["max_completion_tokens"] == 16:  # it is only asked whether it is there
            return faults.OK
        for first, refusal in zip(self._bursts, (faults.HTTP_429, faults.busy(0.2)), strict=True):
            if first <= self._asked[model] < first + BURST:
                return refusal
        if self._rng.random() < self._share:
            return self._rng.choice(faults.FAILURES)
        odd = {50: faults.WRONG_MODEL, 100: faults.MEGABYTE}
        return odd.get(self._asked[model] % 120, faults.OK)

    def reply(self, request):
        coins = self._rng.randint(0, 10)
        text = f'Request {request.number}. {{"reason": "none", "coins": {coins}}}'
        self.said[request.number] = text, coins
        return text


async def restart(server, after):
    """Lets the server die once it was asked ``after`` times, and come back."""
    while len(server.log) < after:
        await asyncio.sleep(0.02)
    await asyncio.to_thread(server.stop)
    await asyncio.sleep(0.5)
    await asyncio.to_thread(server.start)


async def weigh(runner, run, matches):
    """Returns the memory of this process in megabytes when a third of the matches is played, and when nearly all are."""
    weights = []
    for count in (matches // 3, matches - matches // 20):
        while not run.done() and sum(item.finished for item in runner.progress().environments) < count:
            await asyncio.sleep(0.02)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        weights.append(pages * 4096 / 1e6)
    return weights


def play(directory, text, server, matches, die_after):
    """Plays a run; returns how many matches are void, and two weights."""
    run, store = run_directory.create(directory, text, "run.toml")

    async def play_all():
        runner = Runner(run, store)
        async with asyncio.TaskGroup() as group:
            void = group.create_task(runner.run())
            weights = group.create_task(weigh(runner, void, matches))
            if die_after:
                group.create_task(restart(server, die_after))
        return void.result(), weights.result()

    with contextlib.closing(store), rare_collections():
        return asyncio.run(play_all())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # that the server was accepting when it died,
@pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning")  # and those it had accepted
@pytest.mark.parametrize(
    ("matches", "in_flight", "share"),
    [(40, 40, 0.04), (160, 100, 0.08)],
    ids=["forty", "one hundred at once, and the server dies"],
)
def test_run_records_exactly_the_models_replies(tmp_path, monkeypatch, matches, in_flight, share):
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.05)
    monkeypatch.setattr(adaptive_limiter, "FIRST_COOL_DOWN", 0.1)
    monkeypatch.setattr(adaptive_limiter, "LONGEST_COOL_DOWN", 1.0)
    model, dies = Model(share, (matches // 2, matches)), in_flight == 100
    with fault_server(model.plan, reply=model.reply) as server:
        text = write(server.url, matches, in_flight, timeout=3.0 if dies else 1.5)
        void, (early, late) = play(tmp_path / "run", text, server, matches, die_after=2 * matches if dies else 0)
    assert void == 0
    assert late - early < 40  # megabytes; the replies that were recorded meanwhile have several times as many
    _, store = run_directory.open_run(tmp_path / "run")
    with contextlib.closing(store):
        records = list(store.records())
        assert store.check() == []

    # No match is lost or doubled, and every one was played to its end.
    assert [record.match.number for record in records] == list(range(matches))
    assert {record.status for record in records} == {FINISHED}
    turns = list(itertools.chain.from_iterable(record.turns for record in records))
    assert len(turns) == matches * PLAYERS * ROUNDS

    # Every attempt is the server's reply to one answered request; only overlong replies are no move.
    numbers = []
    for turn in turns:
        for attempt in turn.attempts:
            number = int(attempt.reply.split(".")[0].removeprefix("Request "))
            numbers.append(number)
            fault, (said, coins) = model.faults[number], model.said[number]
            assert fault in REPLIES
            assert attempt.reply == said + " " * fault.padding
            assert (attempt.kind is Failure.OK) == (fault is not faults.MEGABYTE)
        assert (turn.action, turn.fallback) == (coins, "")
    assert len(set(numbers)) == len(numbers)

    # The log has every request once, with its result.
    calls = [logged.call for logged in logged_calls(tmp_path / "run")]
    replied = Counter(call.request_id for call in calls if call.status is CallStatus.OK)
    assert replied == Counter(map(str, numbers)) + Counter({str(number): 1 for number in range(PLAYERS)})
    sent = Counter(call.request_id for call in calls if call.request_id)
    assert set(sent.values()) == {1}
    if not dies:  # requests in flight when the server died got no response
        # A busy machine can end a call before the server reads it, or while its reply is on the way.
        timeouts = sum(call.status is CallStatus.TIMEOUT for call in calls)
        assert len(server.log) <= len(calls) <= len(server.log) + timeouts
        sent_replies = sum(server.counts[fault.name] for fault in REPLIES)
        assert len(replied) <= sent_replies <= len(replied) + timeouts
