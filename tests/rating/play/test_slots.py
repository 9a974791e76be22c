"""Slots are shared fairly, and none is lost."""

import asyncio

from rating.play.executors.executor import Slots
from research import virtual_time


def test_slots_are_shared_fairly_between_groups():
    slots, held, ended = Slots(4, ["large", "small"]), [], []

    async def work(group):
        async with slots.hold(group):
            held.append(group)
            assert len(held) <= 4
            await asyncio.sleep(1)
            held.remove(group)
        ended.append((group, asyncio.get_running_loop().time()))

    async def everybody():
        await asyncio.gather(*(work("large") for _ in range(40)), *(work("small") for _ in range(10)))
        return asyncio.get_running_loop().time()

    assert virtual_time.run(everybody()) == 50 / 4 + 0.5
    assert [ended.count((group, time)) for time in range(1, 6) for group in ("large", "small")] == [2] * 10


def test_slots_widened_are_granted_to_waiting_matches():
    slots, began = Slots(1, ["one"]), []

    async def work(number):
        async with slots.hold("one"):
            began.append((number, asyncio.get_running_loop().time()))
            await asyncio.sleep(10)

    async def everybody():
        asyncio.get_running_loop().call_later(1, slots.widen, 3)
        asyncio.get_running_loop().call_later(2, slots.widen, 2)
        await asyncio.gather(*(work(number) for number in range(4)))

    virtual_time.run(everybody())
    assert began == [(0, 0), (1, 1), (2, 1), (3, 10)]
    assert slots.count == 3


def test_slots_are_released_on_cancellation_and_failure():
    slots = Slots(1, ["one"])

    async def fails():
        async with slots.hold("one"):
            raise ValueError

    async def waits():
        async with slots.hold("one"):
            await asyncio.sleep(100)

    async def everybody():
        holding, waiting, granted = (asyncio.create_task(waits()) for _ in range(3))
        await asyncio.sleep(1)
        waiting.cancel()  # in the queue
        holding.cancel()
        while not slots._held["one"] or holding in asyncio.all_tasks():
            await asyncio.sleep(0)
        granted.cancel()  # the slot is its own already, and it has not run yet
        await asyncio.gather(holding, waiting, granted, return_exceptions=True)
        await asyncio.gather(fails(), return_exceptions=True)
        async with slots.hold("one"):
            return asyncio.get_running_loop().time()

    assert virtual_time.run(everybody()) == 1
