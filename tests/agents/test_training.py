"""Matches turned inside out: the caller is asked, and everything else is as in ``play``."""

import asyncio
import itertools
from typing import Any

import pytest

from agents.play import play
from agents.registry import make_policy
from agents.training import Deal, Match, Question
from llmarena_envs import connect_four_v0, hanabi_v0, tictactoe_v0
from llmarena_envs.core.failures import Failure


def _first(question: Question) -> str:
    return question.legal[0]


def _play_out(match: Match, answer: Any = _first) -> Match:
    question = match.start_sync()
    while question is not None:
        question = match.reply_sync(answer(question))
    return match


def _junk_then_first(question: Question) -> str:
    return question.legal[0] if question.attempt else "no idea"


def test_a_match_is_the_one_that_play_plays() -> None:
    opponents = {"player_1": make_policy("random", "connect_four_v0")}
    match = _play_out(Match(connect_four_v0.env(), opponents, seed=7))
    first_legal = make_policy("first_legal", "connect_four_v0")
    episode = play(connect_four_v0.env(), {"player_0": first_legal, **opponents}, seed=7)
    assert match.episode is not None
    assert [turn.played for turn in match.episode.turns] == [turn.played for turn in episode.turns]
    assert match.reward("player_0") == episode.rewards["player_0"]


def test_steps_hold_kinds_and_add_up_to_the_rewards() -> None:
    match = _play_out(Match(hanabi_v0.env(), seed=2), _junk_then_first)
    assert match.episode is not None
    assert {agent: match.reward(agent) for agent in match.learners} == pytest.approx(match.episode.rewards)
    assert {step.kind for step in match.steps if not step.question.attempt} == {Failure.UNPARSABLE}
    assert all(step.kind is Failure.OK for step in match.steps if step.question.attempt)
    assert all(step.reward == 0 for step in match.steps if not step.question.attempt)


@pytest.mark.parametrize("history", ["updates", "full"])
def test_conversations_only_grow(history: str) -> None:
    match = _play_out(Match(tictactoe_v0.env(), seed=1, history=history), _junk_then_first)
    for agent in match.learners:
        steps = [step for step in match.steps if step.agent == agent]
        assert not steps[0].question.continues
        for before, after in itertools.pairwise(steps):
            said = {"role": "assistant", "content": before.reply}
            assert after.question.continues
            assert after.question.messages == (*before.question.messages, said, *after.question.new)


def test_single_turns_start_fresh_and_continue_when_reasked() -> None:
    match = _play_out(Match(tictactoe_v0.env(), seed=1, history="single_turn"), _junk_then_first)
    assert [len(step.question.messages) for step in match.steps] == [2, 4] * (len(match.steps) // 2)
    assert [step.question.continues for step in match.steps] == [False, True] * (len(match.steps) // 2)


def test_an_opponent_that_waits_needs_an_event_loop() -> None:
    async def patient(observation: Any) -> str:
        await asyncio.sleep(0)
        return observation["legal"][0]

    patient.wants_legal = True  # type: ignore[attr-defined]
    match = Match(tictactoe_v0.env(), {"player_0": patient}, seed=0)
    with pytest.raises(RuntimeError, match="await start"):
        match.start_sync()

    async def through() -> Match:
        match = Match(tictactoe_v0.env(), {"player_0": patient}, seed=0)
        question = await match.start()
        while question is not None:
            question = await match.reply(question.legal[0])
        return match

    assert asyncio.run(through()).episode is not None


def test_a_deal_names_a_group_and_makes_its_match() -> None:
    deal = Deal("tictactoe_v0", 3, {"player_1": "minimax"})
    assert deal.group == Deal("tictactoe_v0", 3, {"player_1": "minimax"}).group
    assert deal.group != Deal("tictactoe_v0", 4, {"player_1": "minimax"}).group
    first, second = _play_out(deal.match()), _play_out(deal.match())
    assert first.episode is not None
    assert first.episode == second.episode
    assert first.learners == ("player_0",)
