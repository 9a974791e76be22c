"""Batches overlap by at most the lag, and the schedule receives their outcomes in order, whichever match ends first."""

import asyncio

import pytest

from rating.play.batches import play_batches
from rating.schedules.batches import Stop
from rating.store.records import FINISHED, Match, Outcome
from research import virtual_time


class Script:
    """Batches of three matches, as many as ``batches``, and a log of the calls."""

    def __init__(self, lag, batches):
        self.lag = lag
        self.log = []
        self._left = batches

    def add(self, outcomes):
        self.log.append([outcome.number for outcome in outcomes])

    def next_batch(self):
        self.log.append("?")
        if not self._left:
            return Stop("enough")
        self._left -= 1
        first = 3 * (sum(entry == "?" for entry in self.log) - 1)
        return [Match("game_v0", number, ("a", "b"), 0) for number in range(first, first + 3)]


def follow(schedule, seconds, **options):
    """Plays a script; ``seconds`` by number of the match. Returns the reason and when each match began."""
    began = {}

    async def play(match):
        began[match.number] = asyncio.get_running_loop().time()
        await asyncio.sleep(seconds.get(match.number, 1))
        return Outcome(match.environment, match.number, match.seed, FINISHED, ())

    stop = virtual_time.run(play_batches(schedule, play, **options))
    return stop, began


@pytest.mark.parametrize("seconds", [{}, {0: 10}, {2: 5, 3: 7, 8: 20}])
def test_batches_reach_the_schedule_in_order(seconds):
    schedule = Script(2, 4)
    stop, _ = follow(schedule, seconds)
    assert stop == Stop("enough")
    assert schedule.log == ["?", "?", [0, 1, 2], "?", [3, 4, 5], "?", [6, 7, 8], "?", [9, 10, 11]]


def test_batches_without_lag_wait_for_the_previous_one():
    schedule = Script(1, 3)
    _, began = follow(schedule, {1: 10})
    assert schedule.log == ["?", [0, 1, 2], "?", [3, 4, 5], "?", [6, 7, 8], "?"]
    assert (began[2], began[3], began[6]) == (0, 10, 11)


def test_batches_overlap_up_to_the_lag():
    _, began = follow(Script(2, 4), {1: 10})
    assert (began[3], began[6], began[9]) == (0, 10, 10)
    _, began = follow(Script(3, 4), {1: 10})
    assert (began[3], began[6], began[9]) == (0, 0, 10)


def test_batches_begin_only_if_few_matches_are_in_flight():
    schedule = Script(100, 6)
    stop, began = follow(schedule, {0: 10}, enough=lambda: 5)
    # Six are under way after the second batch; a second later one of them is, which leaves room for two batches more.
    assert [began[number] for number in range(0, 18, 3)] == [0, 0, 1, 1, 2, 2]
    assert stop == Stop("enough")
    assert [entry for entry in schedule.log if entry != "?"] == [
        [first, first + 1, first + 2] for first in range(0, 18, 3)
    ]


def test_schedule_that_stops_at_once_plays_no_match():
    schedule = Script(2, 0)
    assert follow(schedule, {}) == (Stop("enough"), {})
    assert schedule.log == ["?"]


def test_a_match_that_fails_ends_the_others():
    async def play(match):
        if match.number == 4:
            raise ValueError("broken")
        await asyncio.sleep(100)

    with pytest.raises(ExceptionGroup) as errors:
        virtual_time.run(play_batches(Script(2, 9), play))
    assert "broken" in str(errors.value.exceptions[0])
