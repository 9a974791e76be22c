"""The queue asks people, keeps nothing twice, and loses no answer."""

import asyncio

import pytest

from agents.human_queue import HumanQueue, StaleAnswer
from agents.play import play_async
from agents.player import Player, seat_players
from llmarena_envs import tictactoe_v0
from tests.support.asynchronous import asynchronous

READ = {"rules": "r", "text": "t", "picture": "", "legal": ["X: 1"], "parts": (), "join_parts": None}
SEEN = {"rules": "r", "text": "t", "language": "en", "picture": "<svg/>", "over": False}


def asked(seat, **more):
    """Asks a seat, and returns the task that waits for the answer."""
    return asyncio.ensure_future(seat({**READ, **more}))


async def seated():
    queue = HumanQueue()
    seat = queue.seat("Ada", "m", "tictactoe_v0", {})
    seat.reset("player_0", 1)
    return queue, seat


@asynchronous
async def test_an_answer_that_comes_twice_counts_once():
    _, seat = await seated()
    waiting = asked(seat)
    await asyncio.sleep(0)
    name = seat.question.name
    seat.answer(name, "X: 1")
    seat.answer(name, "X: 1")
    with pytest.raises(StaleAnswer, match=r"expected an answer to question 1\.0"):
        seat.answer(name, "X: 2")
    assert await waiting == "X: 1"
    seat.answer(name, "X: 1")
    following = asked(seat)
    await asyncio.sleep(0)
    assert seat.question.name != name
    with pytest.raises(StaleAnswer, match=r"got one to '1\.0'"):
        seat.answer(name, "X: 2")
    following.cancel()


@asynchronous
async def test_a_question_has_the_same_name_after_an_interruption():
    _, first = await seated()
    waiting = asked(first)
    await asyncio.sleep(0)
    first.answer(first.question.name, "nothing")
    await waiting
    waiting = asked(first, attempt=1, feedback="that is no move")
    await asyncio.sleep(0)
    first.answer(first.question.name, "X: 1")
    await waiting
    waiting = asked(first)
    await asyncio.sleep(0)
    name = first.question.name
    waiting.cancel()
    _, second = await seated()
    second.recall({}, "nothing")
    second.recall({"attempt": 1}, "X: 1")
    again = asked(second)
    await asyncio.sleep(0)
    assert second.question.name == name
    again.cancel()


@asynchronous
async def test_closed_queue_asks_no_person():
    queue, seat = await seated()
    waiting = asked(seat)
    await asyncio.sleep(0)
    queue.close(KeyError("over"))
    with pytest.raises(KeyError, match="over"):
        await waiting
    with pytest.raises(KeyError, match="over"):
        await asked(seat)
    assert seat.question is None


@asynchronous
async def test_queue_reports_the_end_to_every_seat_holder():
    queue, _ = await seated()
    queue.tell("Ada")
    queue.end()
    waiting = asyncio.ensure_future(queue.all_told())
    await asyncio.sleep(0)
    assert not waiting.done()
    queue.tell("Ada")
    await waiting


@asynchronous
async def test_queue_lists_asked_players_first_and_finished_last():
    queue = HumanQueue()
    over, asks, waits = (queue.seat("Ada", match, "tictactoe_v0", {}) for match in ("over", "asks", "waits"))
    queue.seat("Bob", "asks", "tictactoe_v0", {}).reset("player_1", 1)
    for seat in (over, asks, waits):
        seat.reset("player_0", 1)
    over.watch({**SEEN, "over": True})
    waiting = asked(asks)
    await asyncio.sleep(0)
    assert [seat.match for seat in queue.seats("Ada")] == ["asks", "waits", "over"]
    waiting.cancel()


@asynchronous
async def test_a_person_sees_every_turn_and_the_end():
    queue = HumanQueue()
    seat = queue.seat("Ada", "m", "tictactoe_v0", {})
    versions, pictures = [], set()

    async def answer():
        while not seat.over:
            await queue.until(lambda: seat.over or seat.question is not None)
            if seat.question is not None:
                versions.append(seat.version)
                pictures.add(seat.picture)
                seat.answer(seat.question.name, seat.question.legal[0])
                await seat.after(seat.question.name)

    def opponent(observation):
        return observation["legal"][0]

    opponent.wants_legal = True
    players = seat_players({"player_0": Player(seat), "player_1": opponent})
    async with asyncio.TaskGroup() as group:
        group.create_task(answer())
        playing = group.create_task(play_async(tictactoe_v0.env(), players, seed=1))
    episode = playing.result()
    assert len(pictures) == len(versions) == sum(turn.agent == "player_0" for turn in episode.turns)
    assert versions == sorted(set(versions))
    assert seat.over and not seat.left
    assert seat.text != episode.turns[-1].read and seat.language == "en"
