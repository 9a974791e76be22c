"""The loop that plays the batches of a schedule, which overlap as much as the schedule's lag allows."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from rating.schedules.batches import Schedule, Stop
from rating.schemes.stopping import PAUSED
from rating.store.records import Match, Outcome


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
    """Plays the batches of a schedule until it stops, then finishes in-flight matches.

    All matches of the open batches (at most the schedule's lag) start at once; ``play`` limits how many run concurrently. The
    schedule receives results in whole batches, in order. The matches played therefore do not depend on the duration of matches or
    their order of completion.

    Args:
        schedule: the schedule.
        play: plays one match.
        on_batch: called with matches before they begin: a batch, or part of one if play can pause.
        enough: returns a number of matches; a new batch begins when fewer are in flight. Affects only timing.
        first_matches: number of outcomes after which ``pause`` is called; 0 for never. Exactly twice as many matches begin before
            that, across batch borders, and the others after it: the matches played do not depend on the number of workers.
        pause: returns whether play pauses after these outcomes.
        on_stop: called, when the schedule stops, with the number of outcomes it had received.

    Returns:
        The stop reason.
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
    """Counts unfinished tasks."""

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
