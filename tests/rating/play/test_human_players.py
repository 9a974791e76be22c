"""A run with human players: it waits for them, and other matches do not."""

import asyncio
import threading

import pytest

from agents.human_queue import HumanQueue
from agents.policy import ScriptedPolicy
from rating.errors import BudgetExceeded
from rating.play import run_directory
from rating.play.runner import Runner
from rating.play.session import Session
from rating.store.records import PLAYED
from tests.support.asynchronous import asynchronous

RUN = """
seed = 3
executor = "asyncio"
[stop]
matches = 6
[[environment]]
name = "bid_v0"
[[policy]]
name = "Ada"
spec = "human"
[[policy]]
spec = "half"
[[policy]]
spec = "truthful"
[[policy]]
name = "model"
spec = "tests.rating.play.test_human_players:model"
"""


def model():
    async def reply(observation):
        await asyncio.sleep(0)
        return observation["legal"][0]

    reply.wants_legal = True
    return reply


def made(tmp_path, text, **session):
    queue = HumanQueue()
    run, store = run_directory.create(tmp_path / "run", text, "run.toml")
    return queue, store, Runner(run, store, Session(human_queue=queue, **session))


async def answer_all(queue, person):
    """Answers every request to a person with the first legal move."""
    while True:
        await queue.until(lambda: any(seat.question for seat in queue.seats(person)))
        for seat in queue.seats(person):
            if seat.question is not None:
                seat.answer(seat.question.name, seat.question.legal[0])
        await asyncio.sleep(0)


@asynchronous
async def test_every_other_match_ends_while_a_person_has_not_answered(tmp_path):
    queue, store, runner = made(tmp_path, RUN)
    run = asyncio.create_task(runner.run())

    def others():
        return [record.status for record in store.records() if "Ada" not in record.match.policies]

    async with asyncio.timeout(60):  # with six matches each of four policies there are six without her
        while len(others()) < 6 or not all(status in PLAYED for status in others()):
            await asyncio.sleep(0.02)
    hers = [record for record in store.records() if "Ada" in record.match.policies]
    assert len(hers) == 6 and not any(record.status in PLAYED for record in hers)
    assert {seat.match for seat in queue.seats("Ada") if seat.question} == {record.match.id for record in hers}
    answering = asyncio.create_task(answer_all(queue, "Ada"))
    assert await run == 0
    answering.cancel()
    digest = store.digest()
    store.close()
    # The matches do not depend on the times of the answers or the number of parallel matches.
    queue, store, runner = made(tmp_path / "again", RUN.replace('"asyncio"', '"asyncio"\nconcurrency = 1'))
    answering = asyncio.create_task(answer_all(queue, "Ada"))
    assert await runner.run() == 0
    answering.cancel()
    assert store.digest() == digest
    store.close()


class Stubborn(ScriptedPolicy):
    """Computes until a page has been answered."""

    answered = threading.Event()

    def __call__(self, view):
        assert self.answered.wait(60)
        return view.legal[0]


@asynchronous
async def test_a_policy_that_computes_does_not_hold_up_what_people_see(tmp_path):
    text = RUN.replace("half", "tests.rating.play.test_human_players:Stubborn").replace("matches = 6", "matches = 1")
    queue, store, runner = made(tmp_path, text)
    run = asyncio.create_task(runner.run())
    await queue.until(lambda: any(seat.question for seat in queue.seats("Ada")))
    Stubborn.answered.set()
    answering = asyncio.create_task(answer_all(queue, "Ada"))
    assert await run == 0
    answering.cancel()
    store.close()


@pytest.mark.slow
@asynchronous
async def test_run_out_of_time_does_not_wait_for_people(tmp_path):
    queue, store, runner = made(tmp_path, RUN, max_seconds=1.0)
    with pytest.raises(BudgetExceeded, match="time of this session"):
        await runner.run()
    assert queue.seats("Ada") and all(seat.left and seat.question is None for seat in queue.seats("Ada"))
    store.close()
    run, store = run_directory.open_run(tmp_path / "run")
    queue = HumanQueue()
    answering = asyncio.create_task(answer_all(queue, "Ada"))
    assert await Runner(run, store, Session(human_queue=queue)).run() == 0
    answering.cancel()
    store.close()
