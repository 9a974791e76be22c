"""Matches for training that do not go as planned: left, cancelled, void, shared, and with replies of every kind."""

import asyncio
import gc
from collections.abc import Mapping
from typing import Any

import pytest

from agents.errors import ProviderError
from agents.policy import Policy, Reply
from agents.registry import make_policy
from agents.training import Match, Question
from agents.turn import TurnSettings
from llmarena_envs import connect_four_v0, debate_v0, tictactoe_v0
from llmarena_envs.core.failures import Failure


class Opponent:
    """Plays the first legal move, after some turns of the event loop; remembers whether it was closed."""

    wants_legal = True

    def __init__(self, waits: int = 0, error: Exception | None = None) -> None:
        self._waits = waits
        self._error = error
        self.closed = 0
        self.cancelled = False

    def reset(self, agent: str, seed: int) -> None:
        self.agent = agent

    async def __call__(self, observation: Mapping[str, Any]) -> str:
        try:
            for _ in range(self._waits):
                await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self._error is not None:
            raise self._error
        return str(observation["legal"][0])

    async def close(self) -> None:
        self.closed += 1


def _match(opponent: Policy, seat: str = "player_1", seed: int = 0, **options: Any) -> Match:
    return Match(connect_four_v0.env(), {seat: opponent}, seed=seed, **options)


async def _play_out(match: Match) -> Match:
    question = await match.start()
    while question is not None:
        question = await match.reply(question.legal[0])
    return match


@pytest.mark.slow
def test_abandoned_match_leaks_no_resources() -> None:
    opponent = Opponent()
    env = connect_four_v0.env()
    Match(env, {"player_1": opponent}, seed=0)  # not begun
    match = Match(env, {"player_1": opponent}, seed=0)
    match.start_sync()
    del match  # freed without a garbage collection: only its driver refers to a match
    match = Match(env, {"player_1": opponent}, seed=0)
    assert match.start_sync() is not None
    del match
    gc.collect()  # a coroutine that was never awaited would warn, and warnings are errors
    assert opponent.closed == 0


def test_close_ends_match_and_closes_owned_opponents() -> None:
    opponent, kept = Opponent(), Opponent()
    match = _match(opponent, close_opponents=True)
    match.start_sync()
    match.close_sync()
    match.close_sync()
    assert opponent.closed == 1
    with pytest.raises(RuntimeError, match="open question"):
        match.reply_sync("1")
    assert asyncio.run(_play_out(_match(kept, close_opponents=True))).episode is not None
    assert kept.closed == 1
    new = _match(Opponent())
    new.close_sync()
    with pytest.raises(RuntimeError, match="new match"):
        new.start_sync()


def test_an_opponent_that_fails_makes_the_match_void() -> None:
    opponent = Opponent(error=ProviderError("the server is gone"))
    match = _match(opponent, close_opponents=True)
    match.start_sync()
    with pytest.raises(ProviderError, match="the server is gone") as caught:
        match.reply_sync("1")
    assert caught.value.agent == "player_1"
    assert match.episode is None
    assert opponent.closed == 1
    with pytest.raises(RuntimeError, match="void"):
        match.reply_sync("1")


def test_cancelling_reaches_the_opponent_and_ends_the_match() -> None:
    opponent = Opponent(waits=10**6)
    match = _match(opponent, close_opponents=True)

    async def cancel() -> None:
        await match.start()
        task = asyncio.create_task(match.reply("1"))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="cancel"):
            await match.close()
        with pytest.raises(RuntimeError, match="open question"):
            await match.reply("2")  # one reply at a time
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert opponent.cancelled
    assert opponent.closed == 1
    assert match.episode is None
    with pytest.raises(RuntimeError, match="open question"):
        match.reply_sync("2")


def test_many_matches_at_once_are_those_played_one_by_one() -> None:
    async def together() -> list[Match]:
        return await asyncio.gather(*[_play_out(_match(Opponent(seed % 3), seed=seed)) for seed in range(256)])

    digests = [match.episode.digest for match in asyncio.run(together()) if match.episode]
    assert len(digests) == 256
    for seed in (0, 100, 255):
        alone = asyncio.run(_play_out(_match(Opponent(), seed=seed)))
        assert alone.episode is not None
        assert alone.episode.digest == digests[seed]


def test_a_policy_with_a_memory_is_in_one_match_at_a_time() -> None:
    shared = make_policy("random", "connect_four_v0")
    first, second = _match(shared), _match(shared)
    assert first.start_sync()
    with pytest.raises(RuntimeError, match="in no other match"):
        second.start_sync()
    first.close_sync()
    assert second.start_sync()
    env = connect_four_v0.env()
    playing = Match(env, seed=0)
    playing.start_sync()
    with pytest.raises(RuntimeError, match="in no other match"):
        Match(env, seed=1).start_sync()


def test_policies_without_a_memory_can_be_shared() -> None:
    def stateless(observation: Mapping[str, Any]) -> Any:
        return int(observation["action_mask"].argmax())

    first, second = _match(stateless), _match(stateless)
    assert first.start_sync() and second.start_sync()


@pytest.mark.parametrize("reply", [None, 3, b"3", ["3"], Question])
def test_a_reply_that_is_no_text_leaves_the_question_open(reply: Any) -> None:
    match = _match(Opponent())
    match.start_sync()
    with pytest.raises(TypeError, match="expected a text"):
        match.reply_sync(reply)
    assert not match.steps
    assert match.reply_sync("1") is not None


def test_learners_reply_details_are_kept() -> None:
    match = Match(tictactoe_v0.env(), {"player_1": Opponent()}, seed=0)
    match.start_sync()
    question = match.reply_sync(Reply("let me think about", Failure.TRUNCATED, prompt_tokens=7), extra=[1, 2])
    assert question is not None
    assert question.attempt == 1
    assert [(step.kind, step.extra) for step in match.steps] == [(Failure.TRUNCATED, [1, 2])]


@pytest.mark.parametrize("reply", ["\ud800 half a pair", "x" * 10**6, "\0\x1b[2J", "(" * 10**6, ""])
def test_junk_is_no_move_and_stays_in_the_conversation(reply: str) -> None:
    match = Match(tictactoe_v0.env(), {"player_1": Opponent()}, seed=0)
    match.start_sync()
    question = match.reply_sync(reply)
    assert question is not None
    assert match.steps[0].kind in (Failure.UNPARSABLE, Failure.EMPTY)
    said = question.messages[-2]
    assert said["role"] == "assistant"
    assert said["content"] == match.steps[0].reply == reply.replace("\ud800", "?")


def test_reask_without_feedback_repeats_the_same_text() -> None:
    settings = TurnSettings(feedback=False)
    match = Match(connect_four_v0.env(), {"player_1": Opponent()}, seed=0, settings=settings)
    match.start_sync()
    question = match.reply_sync("4")
    assert question is not None
    again = match.reply_sync("no idea")
    assert again is not None
    assert again.new == question.new[-1:]


def test_judges_may_sit_among_the_opponents() -> None:
    env = debate_v0.env(questions="builtin")
    judges = {agent: make_policy("honest", "debate_v0") for agent in env.possible_agents if agent.startswith("judge")}
    match = Match(env, {"debater_1": make_policy("debater", "debate_v0"), **judges}, seed=3)
    assert match.learners == ("debater_0",)
    question, said = match.start_sync(), 0
    while question is not None:
        said += 1
        question = match.reply_sync("Since it is so, I am right.")
    assert said > 1
    assert match.episode is not None
    assert {turn.agent for turn in match.episode.turns} > set(judges)


def test_match_without_result_is_reported() -> None:
    env = debate_v0.env(questions="builtin")
    silent = {agent: lambda observation: "..." for agent in env.possible_agents if agent.startswith("judge")}
    debaters = {agent: make_policy("debater", "debate_v0") for agent in ("debater_0", "debater_1")}
    settings = TurnSettings(reasks=0, unparsable="noop")
    match = Match(env, {**debaters, **silent}, seed=3, settings=settings)
    assert match.start_sync() is None  # without a learner the match is played in one go
    assert match.episode is not None
    assert match.episode.undecided


def test_learners_read_how_the_match_ended() -> None:
    match = Match(tictactoe_v0.env(), seed=0)
    question = match.start_sync()
    assert not match.endings
    while question is not None:
        question = match.reply_sync(question.legal[0])
    assert set(match.endings) == {"player_0", "player_1"}
    assert match.endings["player_0"] != match.endings["player_1"]
    with pytest.raises(ValueError, match="expected one of the learners"):
        match.reward("player_2")


def test_an_opponent_that_needs_an_event_loop_is_named_as_such() -> None:
    async def patient(observation: Any) -> str:
        await asyncio.sleep(0.001)
        return "1"

    with pytest.raises(RuntimeError, match="await start"):
        _match(patient, "player_0").start_sync()
    with pytest.raises(RuntimeError, match="await start"):
        _match(Opponent(waits=1), "player_0").start_sync()
