"""Many who ask, one model: shared forward passes, failures, cancellation, loops, closing."""

import asyncio
import gc
import resource
import weakref

import pytest

from agents.baselines.general import Random
from agents.errors import ProviderError
from agents.models import ModelService
from agents.models.calls import CallStatus
from agents.models.local import batcher as batchers
from agents.models.local import checkpoint as checkpoints
from agents.models.local.batcher import Batcher
from agents.models.local.checkpoint import Checkpoint, load_model
from agents.models.local.jobs import CONSTRAINED, GENERATE
from agents.models.local.policy import HFPolicy
from agents.play import play_async
from agents.player import seat_players
from llmarena_envs import tictactoe_v0
from tests.agents.models.local.asking import complete, jobs, observations, prompts, target

pytestmark = pytest.mark.needs("torch", "transformers")


def play_matches(path, count, **options):
    """Plays matches at once with one service, and returns them with the calls and the forward passes."""
    calls = []

    async def run():
        service = ModelService(calls.append)
        before = load_model(Checkpoint(str(path))).passes

        async def match(seed):
            policy = HFPolicy(str(path), service=service, **options)
            return await play_async(tictactoe_v0.env(), seat_players({"player_0": policy, "player_1": Random()}), seed)

        episodes = await asyncio.gather(*[match(seed) for seed in range(count)])
        passes = load_model(Checkpoint(str(path))).passes - before
        await service.close()
        return episodes, passes

    model = load_model(Checkpoint(str(path)))
    episodes, passes = asyncio.run(run())
    assert load_model(Checkpoint(str(path))) is model  # all have shared it
    return episodes, calls, passes


@pytest.mark.parametrize("mode", [GENERATE, CONSTRAINED])
def test_matches_share_forward_passes_and_go_as_they_go_alone(tiny_model, mode):
    options = {"mode": mode, "temperature": 1.0, "max_tokens": 12}
    episodes, calls, passes = play_matches(tiny_model, 64, **options)
    replies = [attempt for episode in episodes for turn in episode.turns for attempt in turn.attempts if attempt.calls]
    alone, _, passes_alone = play_matches(tiny_model, 8, **options, max_batch=1)
    assert [episode.digest for episode in episodes[:8]] == [episode.digest for episode in alone]
    assert passes < passes_alone
    assert len(calls) == len(replies)
    assert sum(call.completion_tokens for call in calls) == sum(reply.completion_tokens for reply in replies)
    assert {(call.status, call.base_url, call.model, call.agent) for call in calls} == {
        (CallStatus.OK, "local", str(tiny_model), "player_0")
    }
    assert all(call.latency > 0 and call.waited >= 0 for call in calls)


def fail_when(monkeypatch, condition, error):
    """Lets reading prompts fail where ``condition`` holds for them, and returns how many there were each time."""
    seen = []

    from agents.models.local import rows

    class Failing(rows.Rows):
        def __init__(self, model, read):
            seen.append(len(read))
            if condition(read):
                raise error
            super().__init__(model, read)

    monkeypatch.setattr("agents.models.local.writing.Rows", Failing)
    return seen


@pytest.mark.slow
def test_a_batch_without_room_is_tried_again_in_halves(tiny_model, monkeypatch):
    seen = fail_when(monkeypatch, lambda read: len(read) > 4, RuntimeError("not enough memory"))
    texts = prompts(8)
    outcomes = complete(jobs(texts), tiny_model)
    assert seen == [8, 4, 4]
    monkeypatch.undo()
    assert [outcome.text for outcome in outcomes] == [outcome.text for outcome in complete(jobs(texts), tiny_model)]


@pytest.mark.slow
def test_what_fails_twice_is_given_up_and_the_rest_goes_on(tiny_model, monkeypatch):
    seen = fail_when(monkeypatch, lambda read: [45] in read or len(read) > 4, RuntimeError("no memory for a poison"))
    calls = []

    async def run():
        service = ModelService(calls.append)
        wanted = jobs([*prompts(8)[:7], prompts(8)[7]])
        monkeypatch.setattr(
            checkpoints.LocalModel, "encode", lambda model, texts: [[45] if text == "X" else [50, 51] for text in texts]
        )
        ended = await asyncio.gather(
            *[service.local.complete(target(tiny_model), job, agent="a") for job in wanted], return_exceptions=True
        )
        await service.close()
        return ended

    ended = asyncio.run(run())
    assert seen == [8, 4, 4]
    assert [isinstance(outcome, ProviderError) for outcome in ended] == [False] * 4 + [True] * 4
    assert ended[7].final
    assert not ended[7].fatal
    assert "no memory for a poison" in str(ended[7])
    assert [call.status for call in calls].count(CallStatus.UNAVAILABLE) == 4
    assert all(call.completion_tokens is None for call in calls if call.status is CallStatus.UNAVAILABLE)


def test_one_who_no_longer_waits_disturbs_nobody(tiny_model):
    texts = prompts(6)
    whole = [outcome.text for outcome in complete(jobs(texts), tiny_model)]
    calls = []

    async def run():
        service = ModelService(calls.append)
        asked = [asyncio.create_task(service.local.complete(target(tiny_model), job, agent="a")) for job in jobs(texts)]
        await asyncio.sleep(0)
        asked[0].cancel()  # before its batch
        model = load_model(Checkpoint(str(tiny_model)))
        before = model.passes
        while model.passes < before + 2:
            await asyncio.sleep(0.0005)
        asked[1].cancel()
        ended = await asyncio.gather(*asked, return_exceptions=True)
        await service.close()
        return ended

    ended = asyncio.run(run())
    assert isinstance(ended[0], asyncio.CancelledError)
    assert isinstance(ended[1], asyncio.CancelledError) or ended[1].text == whole[1]
    assert [outcome.text for outcome in ended[2:]] == whole[2:]
    assert len(calls) == 5  # nothing was computed for the first one


def test_a_stop_lets_what_is_under_way_end_and_nothing_else_begin(tiny_model):
    class OverBudget(Exception):
        pass

    async def run():
        service = ModelService()
        first = asyncio.create_task(service.local.complete(target(tiny_model, 2), jobs(prompts(1))[0], agent="a"))
        model = load_model(Checkpoint(str(tiny_model)))
        before = model.passes
        while model.passes == before:
            await asyncio.sleep(0.0005)
        waiting = asyncio.create_task(service.local.complete(target(tiny_model, 2), jobs(prompts(1))[0], agent="a"))
        await asyncio.sleep(0)
        service.local.stop(OverBudget())
        await service.local.drained()
        assert first.done() or (await first).text
        with pytest.raises(OverBudget):
            await waiting
        with pytest.raises(OverBudget):
            await service.local.complete(target(tiny_model, 2), jobs(prompts(1))[0], agent="a")
        await service.close()

    asyncio.run(run())


def test_one_loop_after_another_but_not_two_at_once(tiny_model, monkeypatch):
    shared = Batcher(target(tiny_model))

    async def ask():
        return (await shared.submit(jobs(prompts(1))[0])).text

    assert asyncio.run(ask()) == asyncio.run(ask())

    model = load_model(Checkpoint(str(tiny_model)))

    async def interrupted():
        before = model.passes
        task = asyncio.create_task(shared.submit(jobs(prompts(1), max_tokens=4000)[0]))
        while model.passes < before + 2:
            await asyncio.sleep(0.0005)
        with pytest.raises(RuntimeError, match="one event loop at a time"):
            await asyncio.to_thread(asyncio.run, ask())
        return task

    with monkeypatch.context() as patch:
        patch.setattr(model, "ends", ())  # it talks until it is interrupted
        before = model.passes
        assert asyncio.run(interrupted()).cancelled()
    assert asyncio.run(ask())
    assert model.passes < before + 2000
    asyncio.run(shared.close())


@pytest.mark.slow
def test_a_closed_model_leaves_the_memory_and_comes_back(tiny_model):
    async def run():
        models = ModelService().local
        (job,), (again,) = jobs(prompts(1)), jobs(prompts(1))
        first = await models.complete(target(tiny_model), job, agent="a")
        seen = weakref.ref(load_model(Checkpoint(str(tiny_model))))
        await models.close()
        gc.collect()
        assert seen() is None
        assert (await models.complete(target(tiny_model), again, agent="a")).text == first.text
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


def test_jobs_wait_for_others_of_their_kind_in_the_order_they_came(tiny_model, monkeypatch):
    batches = []
    run_batch = batchers.Batcher._run

    def spy(batcher, model, batch, width):
        batches.append([job.max_tokens for job in batch])
        run_batch(batcher, model, batch, width)

    monkeypatch.setattr(batchers.Batcher, "_run", spy)
    wanted = [job for count in (3, 9) for job in jobs(prompts(4), max_tokens=count)]
    complete([wanted[index] for index in (0, 4, 1, 5, 2, 6, 3, 7)], tiny_model, max_batch=3)
    assert batches == [[3, 3, 3], [9, 9, 9], [3], [9]]


@pytest.mark.slow
def test_memory_stays_flat(tiny_model):
    texts = prompts(30) * 4
    complete(jobs(texts), tiny_model)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(5):
        complete(jobs(texts), tiny_model)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000
