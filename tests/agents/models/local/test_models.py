"""One model for many callers: turns, failures, cancellation, event loops, closing."""

import asyncio
import gc
import threading
import time
import weakref

import pytest

from agents.baselines.general import Random
from agents.errors import ProviderError
from agents.models import ModelService
from agents.models.calls import CallStatus
from agents.models.local.models import LocalModels
from agents.models.local.policy import CONSTRAINED, GENERATE, HFPolicy
from agents.play import play_async
from agents.player import seat_players
from llmarena_envs import tictactoe_v0
from tests.agents.models.local.asking import checkpoint, complete, observations, prompts, requests

pytestmark = pytest.mark.needs("torch", "transformers")


def play_matches(path, count, **options):
    """Plays matches at once with one service, and returns them with the calls."""
    calls = []

    async def run():
        service = ModelService(calls.append)

        async def match(seed):
            policy = HFPolicy(str(path), service=service, **options)
            return await play_async(tictactoe_v0.env(), seat_players({"player_0": policy, "player_1": Random()}), seed)

        episodes = await asyncio.gather(*[match(seed) for seed in range(count)])
        await service.close()
        return episodes

    return asyncio.run(run()), calls


@pytest.mark.parametrize("mode", [GENERATE, CONSTRAINED])
def test_matches_at_once_play_as_alone(tiny_model, mode):
    from agents.models.local.model import load_model

    options = {"mode": mode, "temperature": 1.0, "max_tokens": 12}
    model = load_model(checkpoint(tiny_model))
    episodes, calls = play_matches(tiny_model, 8, **options)
    assert load_model(checkpoint(tiny_model)) is model  # shared by all
    replies = [attempt for episode in episodes for turn in episode.turns for attempt in turn.attempts if attempt.calls]
    assert [episode.digest for episode in play_matches(tiny_model, 2, **options)[0]] == [
        episode.digest for episode in episodes[:2]
    ]
    assert len(calls) == len(replies)
    assert sum(call.completion_tokens for call in calls) == sum(reply.completion_tokens for reply in replies)
    assert sum(call.prompt_tokens for call in calls) == sum(reply.prompt_tokens for reply in replies)
    assert {(call.status, call.base_url, call.model, call.agent) for call in calls} == {
        (CallStatus.OK, "local", str(tiny_model), "player_0")
    }
    assert all(call.latency > 0 and call.waited >= 0 for call in calls)
    assert any(call.waited > 0.001 for call in calls)


def test_failure_of_torch_is_reported_and_others_continue(tiny_model, monkeypatch):
    from agents.models.local.model import LocalModel

    reply = LocalModel._reply

    def fail(model, request):
        if request.prompt == "X":
            raise RuntimeError("not enough memory")
        return reply(model, request)

    monkeypatch.setattr(LocalModel, "_reply", fail)
    calls = []

    async def run():
        service = ModelService(calls.append)
        wanted = requests(prompts(3))
        ended = await asyncio.gather(
            *[service.local.complete(checkpoint(tiny_model), each, agent="a") for each in wanted],
            return_exceptions=True,
        )
        await service.close()
        return ended

    ended = asyncio.run(run())
    assert [isinstance(outcome, ProviderError) for outcome in ended] == [False, False, True]
    assert ended[2].final
    assert not ended[2].fatal
    assert "not enough memory" in str(ended[2])
    assert [call.status for call in calls] == [CallStatus.OK, CallStatus.OK, CallStatus.UNAVAILABLE]
    assert calls[2].completion_tokens is None


def test_cancelled_calls_end_and_others_continue(tiny_model):
    texts = prompts(4)
    whole = [completion.text for completion in complete(requests(texts), tiny_model)]
    calls = []

    async def run():
        service = ModelService(calls.append)
        wanted = requests(texts)
        endless = requests(texts[:1], max_tokens=8000, temperature=100.0)
        await service.local.load(checkpoint(tiny_model))
        asked = [
            asyncio.create_task(service.local.complete(checkpoint(tiny_model), each, agent="a"))
            for each in [*endless, *wanted]
        ]
        await asyncio.sleep(0.1)
        asked[0].cancel()  # in progress
        asked[1].cancel()  # waiting
        ended = await asyncio.gather(*asked, return_exceptions=True)
        await service.close()
        return ended

    ended = asyncio.run(run())
    assert [isinstance(outcome, asyncio.CancelledError) for outcome in ended[:2]] == [True, True]
    assert [outcome.text for outcome in ended[2:]] == whole[1:]
    assert [call.status for call in calls] == [CallStatus.CANCELLED, *[CallStatus.OK] * 3]  # none of the waiting one


def test_stop_ends_waiting_and_later_calls(tiny_model, monkeypatch):
    from agents.models.local.model import LocalModel

    class OverBudget(Exception):
        pass

    begun, stopped = threading.Event(), threading.Event()
    reply = LocalModel.reply

    def held(model, request):
        begun.set()
        stopped.wait()
        return reply(model, request)

    monkeypatch.setattr(LocalModel, "reply", held)

    async def run():
        service = ModelService()
        models, target = service.local, checkpoint(tiny_model)
        await models.load(target)
        first = asyncio.create_task(models.complete(target, requests(prompts(1))[0], agent="a"))
        waiting = asyncio.create_task(models.complete(target, requests(prompts(1))[0], agent="a"))
        await asyncio.to_thread(begun.wait)
        service.stop(OverBudget())
        stopped.set()
        await service.drained()
        assert (await first).text
        with pytest.raises(OverBudget):
            await waiting
        with pytest.raises(OverBudget):
            await models.complete(target, requests(prompts(1))[0], agent="a")
        await service.close()

    asyncio.run(run())


def test_event_loops_share_one_model(tiny_model):
    models = LocalModels()
    (request,) = requests(prompts(1))

    async def ask():
        return (await models.complete(checkpoint(tiny_model), request, agent="a")).text

    async def twice():
        return await asyncio.gather(ask(), asyncio.to_thread(asyncio.run, ask()))

    first = asyncio.run(ask())
    assert asyncio.run(twice()) == [first, first]
    asyncio.run(models.close())


def test_event_loop_closed_during_a_reply_leaves_the_model_usable(tiny_model):
    models = LocalModels()
    (request,) = requests(prompts(1))

    async def interrupted():
        (endless,) = requests(prompts(1), max_tokens=8000, temperature=100.0)
        await models.load(checkpoint(tiny_model))
        asyncio.create_task(models.complete(checkpoint(tiny_model), endless, agent="a"))  # noqa: RUF006
        await asyncio.sleep(0.1)

    async def ask():
        return (await models.complete(checkpoint(tiny_model), request, agent="a")).text

    asyncio.run(interrupted())
    began = time.monotonic()
    assert asyncio.run(ask())
    assert time.monotonic() - began < 10
    asyncio.run(models.close())


def test_close_releases_the_model(tiny_model):
    from agents.models.local.model import load_model

    async def run():
        models = ModelService().local
        (request,) = requests(prompts(1))
        first = await models.complete(checkpoint(tiny_model), request, agent="a")
        seen = weakref.ref(load_model(checkpoint(tiny_model)))
        await models.close()
        gc.collect()
        assert seen() is None
        assert (await models.complete(checkpoint(tiny_model), request, agent="a")).text == first.text
        await models.close()

    asyncio.run(run())


def test_weights_that_cannot_be_loaded_are_fatal(tiny_model, tmp_path):
    for file in tiny_model.iterdir():
        data = file.read_bytes()
        (tmp_path / file.name).write_bytes(data[: len(data) // 2] if file.suffix == ".safetensors" else data)

    async def run():
        policy = HFPolicy(str(tmp_path))
        with pytest.raises(ProviderError, match="cannot be loaded") as raised:
            await policy.preflight()
        assert raised.value.fatal
        with pytest.raises(ProviderError, match="cannot be loaded") as raised:
            await policy(observations(1)[0])
        assert raised.value.fatal
        await policy.close()

    asyncio.run(run())
