"""Players: properties of a policy are looked up once, and each policy gets the call that it supports."""

import asyncio
import functools
import threading
import time

import pytest

from agents.baselines.general import FirstLegal
from agents.errors import ProviderError, Quit
from agents.human import HumanPolicy
from agents.models import LLMPolicy
from agents.player import Player, close_players, seat_players
from llmarena_envs.core.options import OptionError

SOON = 0.05
LONG = 30.0


async def asynchronous(observation):
    return threading.current_thread()


class AsynchronousObject:
    async def __call__(self, observation):
        return threading.current_thread()


def synchronous(observation):
    return threading.current_thread()


def ask(policy, deadline=None):
    return asyncio.run(Player(policy).ask({}, deadline))


@pytest.mark.parametrize(
    "policy",
    [asynchronous, AsynchronousObject(), functools.partial(asynchronous), AsynchronousObject().__call__],
)
@pytest.mark.parametrize("deadline", [None, LONG])
def test_an_asynchronous_policy_gets_no_thread(policy, deadline, monkeypatch):
    monkeypatch.delattr("agents.player.call_in_thread")
    assert ask(policy, deadline) is threading.current_thread()


def test_synchronous_policy_with_deadline_gets_a_thread():
    assert ask(synchronous) is threading.current_thread()
    thread = ask(synchronous, LONG)
    assert thread is not threading.current_thread()
    assert thread.daemon


@pytest.mark.parametrize("deadline", [None, LONG])
def test_synchronous_policy_can_return_an_awaitable(deadline):
    assert ask(lambda observation: asynchronous(observation), deadline) is threading.current_thread()


class Slow(FirstLegal):
    def __call__(self, view):
        time.sleep(3 * SOON)
        return threading.current_thread()


class SlowPerson(HumanPolicy):
    def __call__(self, observation):
        time.sleep(3 * SOON)
        return threading.current_thread()


@pytest.mark.parametrize("policy", [Slow(), SlowPerson()])
def test_people_and_scripts_have_no_deadline_and_no_thread(policy):
    assert ask(policy, SOON) is threading.current_thread()


def test_an_asynchronous_person_has_no_deadline():
    class Remote:
        unlimited_reasks = True

        async def __call__(self, observation):
            await asyncio.sleep(3 * SOON)
            return "X: 1"

    assert ask(Remote(), SOON) == "X: 1"


def test_policy_with_its_own_deadline_gets_none():
    class Patient:
        keeps_deadline = True

        async def __call__(self, observation):
            await asyncio.sleep(3 * SOON)
            return "X: 1"

    assert ask(Patient(), SOON) == "X: 1"


def test_what_kind_of_player_it_is():
    scripted, person, plain = Player(FirstLegal()), Player(HumanPolicy()), Player(synchronous)
    assert [player.is_scripted for player in (scripted, person, plain)] == [True, False, False]
    assert [player.is_person for player in (scripted, person, plain)] == [False, True, False]
    model = Player(LLMPolicy("mock", base_url="http://localhost:9/v1"))
    assert [player.uses_service for player in (model, scripted)] == [True, False]
    assert [player.keeps_deadline for player in (model, scripted)] == [True, False]
    assert [player.wants_legal for player in (scripted, person, plain)] == [False, True, False]
    assert [player.reads for player in (scripted, person, plain)] == ["view", "text", "text"]


@pytest.mark.parametrize("policy", [None, "X: 1", 3])
def test_what_cannot_be_called_is_no_policy(policy):
    with pytest.raises(OptionError, match="expected a callable that reads one of"):
        Player(policy)


def test_a_player_past_its_deadline_is_stuck_until_its_thread_ends():
    release = threading.Event()
    player = Player(lambda observation: release.wait(LONG))

    async def run():
        assert not player.is_stuck
        with pytest.raises(ProviderError, match=f"^no reply within {SOON} s$"):
            await player.ask({}, SOON)
        assert player.is_stuck
        with pytest.raises(ProviderError, match="still works on an earlier reply"):
            await player.ask({}, SOON)
        release.set()
        for _ in range(1000):
            if not player.is_stuck:
                break
            await asyncio.sleep(0.01)
        assert not player.is_stuck
        assert await player.ask({}, LONG) is True

    asyncio.run(run())


def test_a_cancelled_player_is_stuck_too():
    release = threading.Event()
    player = Player(lambda observation: release.wait(LONG))

    async def run():
        task = asyncio.create_task(player.ask({}, LONG))
        await asyncio.sleep(SOON)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert player.is_stuck
        release.set()

    asyncio.run(run())


def test_late_answer_leaves_no_unawaited_coroutine(recwarn):
    late = threading.Event()

    def policy(observation):
        late.wait(LONG)
        return asynchronous(observation)

    player = Player(policy)

    async def run():
        with pytest.raises(ProviderError):
            await player.ask({}, SOON)
        late.set()
        while player.is_stuck:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)

    asyncio.run(run())
    assert [str(warning.message) for warning in recwarn] == []


def test_a_time_out_of_the_policys_own_is_not_called_a_deadline():
    async def times_out(observation):
        raise TimeoutError("the camera did not answer")

    for policy in (times_out, lambda observation: asyncio.run(times_out(observation))):
        with pytest.raises(ProviderError, match="the policy raised TimeoutError: the camera did not answer"):
            ask(policy, LONG)


@pytest.mark.parametrize("error", [StopIteration, KeyError, ZeroDivisionError])
@pytest.mark.parametrize("deadline", [None, LONG])
def test_player_reports_any_exception_of_a_policy(error, deadline):
    def policy(observation):
        raise error("boom")

    with pytest.raises(ProviderError, match=f"the policy raised {error.__name__}: .*boom"):
        ask(policy, deadline)


@pytest.mark.parametrize("deadline", [None, LONG])
@pytest.mark.parametrize("error", [Quit("gone"), ProviderError("no credit", fatal=True)])
def test_meaningful_errors_pass_unchanged(error, deadline):
    def policy(observation):
        raise error

    with pytest.raises(type(error)) as raised:
        ask(policy, deadline)
    assert raised.value is error


def test_all_players_are_closed_even_if_one_cannot_be():
    closed = []

    class Closes:
        def __init__(self, name, *, fails=False):
            self.name, self.fails = name, fails

        def __call__(self, observation):
            return "X: 1"

        async def close(self):
            if self.fails:
                raise OSError("cannot be closed")
            closed.append(self.name)

    policies = {"a": Closes("a"), "b": Closes("b", fails=True), "c": Closes("c"), "d": synchronous}
    players = seat_players(policies)
    with pytest.raises(OSError, match="cannot be closed"):
        asyncio.run(close_players(players.values()))
    assert sorted(closed) == ["a", "c"]


def test_players_are_seated_unchanged():
    player = Player(synchronous)
    seated = seat_players({"player_0": player, "player_1": synchronous})
    assert seated["player_0"] is player
    assert seated["player_1"].policy is synchronous
