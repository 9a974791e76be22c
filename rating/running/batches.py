"""The loop between a schedule and play: batches overlap as far as the schedule allows."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from rating.records.match import Match
from rating.records.outcome import Outcome
from rating.schedules.schedule import Schedule, Stop
from rating.schemes.pause import PAUSED


async def play_batches(
    schedule: Schedule,
    play: Callable[[Match], Coroutine[Any, Any, Outcome]],
    on_batch: Callable[[Sequence[Match]], None] = lambda batch: None,
    *,
    enough: Callable[[], int] = lambda: 1_000,
    first_matches: int = 0,
    pause: Callable[[Sequence[Outcome]], bool] = lambda outcomes: False,
    on_stop: Callable[[int], None] = lambda known: None,
) -> Stop:
    """Plays what a schedule asks for until it says stop, and what is under way then to its end.

    All matches of the open batches, of which there are as many as the schedule's lag, are begun at once; ``play`` decides how
    many of them are under way at the same time. The schedule is told of whole batches in their order, and asked for the next one
    as soon as its lag allows; so what is played depends neither on how long matches take nor on which ends first.

    Args:
        schedule: what is to be played.
        play: plays one match.
        on_batch: called with matches before they begin: a batch, or a part of it where play may pause.
        enough: says with how many matches under way no batch is begun, however many the lag allows; it changes nothing but when.
        first_matches: outcomes after which ``pause`` is asked; 0 for never. Twice as many matches begin before that, wherever
            batches end, and the others after it: so what is played does not depend on the number of workers.
        pause: says whether these outcomes pause play.
        on_stop: called, when the schedule stops, with the number of matches whose outcomes it had.

    Returns:
        Why play stopped.
    """
    under_way: deque[list[asyncio.Task[Outcome]]] = deque()
    first: list[asyncio.Task[Outcome]] = []
    pending = _Pending()
    known = 0
    async with asyncio.TaskGroup() as group:

        def begin(matches: Sequence[Match]) -> list[asyncio.Task[Outcome]]:
            on_batch(matches)
            return [pending.watch(group.create_task(play(match))) for match in matches]

        answer = schedule.next_batch()
        while not isinstance(answer, Stop):
            room = 2 * first_matches - len(first) if first_matches else len(answer)
            tasks, later = begin(answer[:room]) if room else [], answer[room:]
            if first_matches:
                first += tasks
            if later:
                if pause([await match for match in first[:first_matches]]):
                    answer = Stop(PAUSED)
                    break
                first_matches = 0
                tasks += begin(later)
            under_way.append(tasks)
            await pending.fewer_than(enough)
            while len(under_way) >= schedule.lag:
                known += len(under_way[0])
                schedule.add([await match for match in under_way.popleft()])
            answer = schedule.next_batch()
        on_stop(known)
        while under_way:
            schedule.add([await match for match in under_way.popleft()])
    return answer


class _Pending:
    """Counts the tasks that have not ended."""

    def __init__(self) -> None:
        self._count = 0
        self._one_ended = asyncio.Event()

    def watch(self, task: asyncio.Task[Outcome]) -> asyncio.Task[Outcome]:
        self._count += 1
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[Outcome]) -> None:
        self._count -= 1
        self._one_ended.set()

    async def fewer_than(self, enough: Callable[[], int]) -> None:
        while self._count >= enough():
            self._one_ended.clear()
            await self._one_ended.wait()
