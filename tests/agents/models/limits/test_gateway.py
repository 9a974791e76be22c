"""Many calls at once through one service, in virtual time: limits, outages, deadlines, cancellation."""

import asyncio
import re
from collections import Counter

import pytest

from agents.errors import ProviderError
from agents.models import service as service_module
from agents.models.calls import CallStatus
from agents.models.limits import adaptive_limiter
from agents.models.limits.adaptive_limiter import RequestLimits
from agents.models.limits.retry import RetryLimits
from agents.models.server.endpoint import Endpoint
from agents.models.service import ModelService, Target
from research import virtual_time
from tests.support.simulated_model import HANG, Bucket, SimulatedModel, down, limited, rejected

LIMITS = RetryLimits(8, 60.0, 300.0)


class World:
    """A service with simulated models by the name of the model."""

    def __init__(self, monkeypatch, **plans):
        self.models = {name: SimulatedModel(plan) for name, plan in plans.items()}
        self.calls = []
        self.service = ModelService(self.calls.append)
        monkeypatch.setattr(service_module, "Client", lambda endpoint: self)

    async def open(self):
        pass

    async def close(self):
        pass

    async def complete(self, request, idle=None):
        return await self.models[request["model"]].complete(request)

    def ask(self, text="hello", model="m", limits=LIMITS, rates=None, **fields):
        target = Target(Endpoint("http://h/v1", "NO_KEY"), model, limits, rates or RequestLimits())
        request = {"model": model, "messages": text, **fields}
        return self.service.complete(target, request, agent="player_0", sample="0:0")

    async def ask_many(self, number, at_once, **options):
        """Makes a number of calls, some at once; returns the replies and failures."""
        numbers = iter(range(number))

        async def work():
            return [await asyncio.gather(self.ask(n, **options), return_exceptions=True) for n in numbers]

        return [reply for part in await asyncio.gather(*[work() for _ in range(at_once)]) for (reply,) in part]

    def statuses(self):
        return Counter(call.status for call in self.calls)


def failures(replies):
    return [reply for reply in replies if isinstance(reply, Exception)]


def now():
    return asyncio.get_running_loop().time()


async def failure_of(awaitable):
    with pytest.raises(ProviderError) as raised:
        await awaitable
    return raised.value


def test_a_limit_of_requests_a_second_without_a_hint_costs_few_refusals(monkeypatch):
    world = World(monkeypatch, m=Bucket(40, 40))

    async def run():
        return await world.ask_many(400, 200), now()

    replies, seconds = virtual_time.run(run())
    assert not failures(replies)
    assert world.models["m"].refused < 60
    assert seconds < 15


def test_a_limit_of_requests_a_second_that_asks_to_wait_costs_few_refusals(monkeypatch):
    world = World(monkeypatch, m=Bucket(8, 8, retry_after=1.0))

    async def run():
        return await world.ask_many(400, 64), now()

    replies, seconds = virtual_time.run(run())
    assert not failures(replies)
    assert world.models["m"].refused < 0.1 * len(world.models["m"].requests)
    assert seconds < 1.5 * 400 / 8


def test_a_limit_of_requests_at_once_is_found_and_used(monkeypatch):
    def plan(request, time):
        return limited() if world.models["m"].in_flight > 50 else 1.0

    world = World(monkeypatch, m=plan)

    async def run():
        return await world.ask_many(2000, 300), now()

    replies, seconds = virtual_time.run(run())
    assert not failures(replies)
    assert world.models["m"].refused < 200
    assert seconds < 2 * 2000 / 50


def test_nothing_is_sent_while_the_server_asks_to_wait(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: limited(20.0) if time < 10 else 1.0)
    replies = virtual_time.run(world.ask_many(100, 50))
    assert not failures(replies)
    times = [time for _, time in world.models["m"].requests]
    assert not [time for time in times if 0.01 < time < 20]
    assert {reply.waited > 15 for reply in replies[:1]} == {True}


@pytest.mark.slow
def test_a_server_that_bears_everything_is_asked_without_waiting(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 1.0)

    async def run():
        return await world.ask_many(20_000, 2000), now()

    replies, seconds = virtual_time.run(run())
    assert not failures(replies)
    assert world.models["m"].busiest == 2000
    assert seconds < 20_000 / 2000 + 8


def test_fixed_limits_hold_for_all_who_ask_one_model_and_for_no_other(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 5.0, other=lambda request, time: 5.0)
    strict = RequestLimits(max_in_flight=7, requests_per_minute=30)

    async def run():
        await asyncio.gather(
            world.ask_many(60, 30, rates=strict), world.ask_many(60, 30), world.ask_many(60, 30, model="other")
        )

    virtual_time.run(run())
    times = [time for _, time in world.models["m"].requests]
    assert world.models["m"].busiest <= 7
    assert max(sum(begin <= time < begin + 60 for time in times) for begin in times) == 30
    assert world.models["other"].busiest > 7
    assert max(time for _, time in world.models["other"].requests) < 30


def test_tokens_a_minute_are_estimated_before_and_counted_after(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 1.0)
    rates = RequestLimits(tokens_per_minute=600)

    async def run():
        await world.ask_many(120, 50, rates=rates, max_tokens=1000)
        return now()

    # 15 tokens each in the end, 1,000 and more expected: 40 calls a minute.
    assert 120 < virtual_time.run(run()) < 260
    times = [time for _, time in world.models["m"].requests]
    assert max(sum(begin <= time < begin + 60 for time in times) for begin in times) <= 41


def test_calls_go_in_the_order_in_which_they_came(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 1.0)

    async def run():
        await asyncio.gather(*[world.ask(number, rates=RequestLimits(max_in_flight=3)) for number in range(100)])

    virtual_time.run(run())
    assert [text for text, _ in world.models["m"].requests] == list(range(100))


def test_an_outage_costs_no_call_and_no_attempt(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: down() if 5 < time < 400 else 1.0)

    async def run():
        return await world.ask_many(1000, 60, limits=RetryLimits(2, 60.0, 300.0)), now()

    replies, seconds = virtual_time.run(run())
    assert not failures(replies)
    during = [time for _, time in world.models["m"].requests if 10 < time < 400]
    assert 10 < len(during) < 30  # probes, and nothing else
    after = [time for _, time in world.models["m"].requests if time > 400]
    assert (
        sum(time < min(after) + 0.5 for time in after) == 1
    )  # the probe that succeeds, and no stampede before it does
    assert seconds < 460


def test_an_outage_is_told_once_when_it_begins_and_once_when_it_ends(monkeypatch, caplog):
    world = World(monkeypatch, m=lambda request, time: down() if 5 < time < 400 else 1.0)
    virtual_time.run(world.ask_many(1000, 60))
    told = [record.getMessage() for record in caplog.records if record.name == "agents.models.limits.request_queue"]
    assert len(told) == 2
    assert "m at http://h/v1 is out (HTTP 503)" in told[0]
    assert re.fullmatch(r"m at http://h/v1 is back after [34]\d\d s", told[1])


def test_replies_to_what_was_sent_before_an_outage_do_not_end_it(monkeypatch, caplog):
    def plan(request, time):
        if time < 5:
            return 10.0 + 3 * request["messages"]
        return down() if time < 100 else 1.0

    world = World(monkeypatch, m=plan)
    assert not failures(virtual_time.run(world.ask_many(200, 60)))
    assert sum("is out" in record.getMessage() for record in caplog.records) == 1


def test_a_server_that_still_replies_to_what_it_was_sent_and_turns_others_away_loses_no_call(monkeypatch):
    def plan(request, time):
        if time == 0:
            return 1.0 + 0.1 * request["messages"]
        return down() if time < 100 else 1.0

    world = World(monkeypatch, m=plan)
    assert not failures(
        virtual_time.run(world.ask_many(200, adaptive_limiter.FIRST_LIMIT, limits=RetryLimits(3, 60.0, 300.0)))
    )


def test_a_slow_server_that_turns_some_away_at_once_is_not_out(monkeypatch, caplog):
    def plan(request, time):
        number = next(numbers)
        return down() if number % 10 == 9 else 3.0 + number * 0.37 % 4.0

    numbers = iter(range(10_000))
    world = World(monkeypatch, m=plan)
    assert not failures(virtual_time.run(world.ask_many(1000, 100)))
    assert not any("is out" in record.getMessage() for record in caplog.records)


def test_one_call_alone_sits_out_an_outage(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: down(502) if time < 200 else 1.0)
    reply = virtual_time.run(world.ask(limits=RetryLimits(2, 60.0, 60.0)))
    assert reply.waited > 190
    assert world.statuses()[CallStatus.UNAVAILABLE] == reply.calls - 1


def test_an_outage_that_lasts_too_long_gives_up_whoever_waits_and_later_calls_begin_anew(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: down() if time < 1000 else 1.0)

    async def run():
        replies = await world.ask_many(40, 40, limits=RetryLimits(8, 60.0, 300.0, outage=600.0))
        assert 600 <= now() < 640
        await asyncio.sleep(600)
        return replies, await world.ask()

    replies, later = virtual_time.run(run())
    assert len(failures(replies)) == 40
    assert all(reply.fatal and reply.status is CallStatus.UNAVAILABLE for reply in replies)
    assert "has been out for 6" in str(replies[0])
    assert later.calls == 1


def test_an_outage_that_nobody_waits_for_any_more_is_forgotten(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: down() if time < 1020 else 1.0)
    limits = RetryLimits(8, 60.0, 300.0, outage=600.0)

    async def run():
        for task in [asyncio.ensure_future(world.ask(limits=limits)) for _ in range(20)]:
            asyncio.get_running_loop().call_later(100, task.cancel)
        await asyncio.sleep(1000)
        return await world.ask(limits=limits)

    assert virtual_time.run(run()).calls > 2


def test_probes_keep_the_fixed_limits(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: down() if time < 200 else 1.0)
    replies = virtual_time.run(world.ask_many(5, 5, rates=RequestLimits(requests_per_minute=2)))
    assert not failures(replies)
    times = [time for _, time in world.models["m"].requests]
    assert max(sum(begin <= time < begin + 60 for time in times) for begin in times) == 2


def test_a_request_that_breaks_the_server_keeps_nobody_from_it(monkeypatch):
    def plan(request, time):
        return down(500) if time < 100 or request["messages"] in (3, 4, 5) else 1.0

    world = World(monkeypatch, m=plan)
    replies = virtual_time.run(world.ask_many(100, 20))
    assert [str(reply)[:11] for reply in failures(replies)] == ["m: HTTP 500"] * 3
    assert all(reply.final and not reply.fatal for reply in failures(replies))


def test_a_lone_request_that_always_fails_is_given_up_after_its_attempts(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: down(500))
    failure = virtual_time.run(failure_of(world.ask()))
    assert failure.final and not failure.fatal
    assert len(world.calls) == 8


def test_a_request_that_hangs_costs_one_call_an_attempt_and_the_deadline_bounds_them(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: HANG)
    failure = virtual_time.run(failure_of(world.ask(limits=RetryLimits(100, 60.0, 300.0))))
    assert failure.final
    assert "at the deadline of 300 s" in str(failure)
    assert 5 <= len(world.calls) <= 6
    assert sum(call.latency for call in world.calls) <= 300
    assert {call.completion_tokens for call in world.calls} == {None}  # who knows what is on the bill


def test_waiting_for_a_turn_is_no_part_of_the_deadline(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 10.0)
    limits = RetryLimits(2, 20.0, 30.0)
    replies = virtual_time.run(world.ask_many(40, 40, limits=limits, rates=RequestLimits(max_in_flight=1)))
    assert not failures(replies)
    assert replies[-1].waited == 390.0
    assert world.calls[-1].latency == 10.0


def test_a_pause_that_the_server_asks_for_is_no_part_of_the_deadline(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: limited(900.0) if time < 900 else 1.0)
    assert virtual_time.run(world.ask(limits=RetryLimits(3, 20.0, 30.0))).calls == 2


def test_a_rejected_request_is_final_at_once_and_slows_nobody_down(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: rejected() if request["messages"] % 2 else 1.0)
    replies = virtual_time.run(world.ask_many(100, 10))
    assert len(failures(replies)) == 50
    assert len(world.calls) == 100
    assert world.service.in_flight == 0


def test_cancelled_calls_leave_no_place_taken(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 10.0)

    async def run():
        tasks = [asyncio.ensure_future(world.ask(n, rates=RequestLimits(max_in_flight=2))) for n in range(10)]
        await asyncio.sleep(1)
        for task in (tasks[0], tasks[1], tasks[2], tasks[5]):  # two under way, two in the line
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert now() == 31.0  # six calls, two at once, after the cancellation
        assert world.service.in_flight == 0

    virtual_time.run(run())
    assert world.statuses() == {CallStatus.CANCELLED: 2, CallStatus.OK: 6}


def test_a_call_that_is_let_through_and_cancelled_at_the_same_moment_leaves_its_place(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 10.0)
    one = RequestLimits(max_in_flight=1)

    async def run():
        first = asyncio.ensure_future(world.ask(0, rates=one))
        second = asyncio.ensure_future(world.ask(1, rates=one))
        first.add_done_callback(lambda task: second.cancel())
        await asyncio.gather(first, second, return_exceptions=True)
        assert second.cancelled()
        assert (await world.ask(2, rates=one)).waited == 0.0

    virtual_time.run(run())


def test_a_stopped_service_ends_what_is_under_way_and_begins_nothing(monkeypatch):
    class Budget(Exception):
        pass

    world = World(monkeypatch, m=lambda request, time: down(500) if request["messages"] == 0 else 10.0)

    async def run():
        rates = RequestLimits(max_in_flight=3)
        tasks = [asyncio.ensure_future(world.ask(n, rates=rates)) for n in range(10)]
        await asyncio.sleep(0.02)  # call 0 waits between two attempts
        world.service.stop(Budget("spent"))
        begun = len(world.models["m"].requests)
        assert world.service.in_flight == 3
        await world.service.drained()
        assert now() < 11
        replies = await asyncio.gather(*tasks, world.ask(), return_exceptions=True)
        assert len(world.models["m"].requests) == begun
        await world.service.drained()
        return replies

    replies = virtual_time.run(run())
    assert sum(isinstance(reply, Budget) for reply in replies) == 8
    assert not [reply for reply in replies if isinstance(reply, ProviderError)]


def test_a_listener_that_fails_leaks_no_place(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: 1.0)
    world.service = ModelService(lambda call: 1 / 0)

    async def run():
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await world.ask(rates=RequestLimits(max_in_flight=1))

    virtual_time.run(run())


def test_every_attempt_is_reported_with_wait_and_latency(monkeypatch):
    world = World(monkeypatch, m=lambda request, time: limited(7.0) if time < 7 else 2.0)
    virtual_time.run(world.ask())
    assert [(call.attempt, call.status, call.http_status, call.waited, call.latency) for call in world.calls] == [
        (1, CallStatus.RATE_LIMITED, 429, 0.0, pytest.approx(0.01)),
        (2, CallStatus.OK, 200, 7.0, pytest.approx(2.0)),
    ]
    assert (world.calls[1].prompt_tokens, world.calls[0].prompt_tokens) == (10, 0)
