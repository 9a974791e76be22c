"""Resampling of the parts of a debate that are hidden from an agent."""

import copy

import numpy as np
import pytest

from llmarena_envs.core.committee import Judgement
from tests.llmarena_envs.debate.matches import debated, say, started, turn_text
from tests.llmarena_envs.draws import check_frequencies, redrawn

QUESTION = {"id": "q", "domain": "math", "question": "How much is 2 and 2?", "reference": "It is 4."}


def thinking(env):
    """Plays the debate to its end, with thoughts in each turn."""
    while env.view(env.agent_selection).actions:
        say(env, f"<think>secret thoughts</think>{turn_text(env)}")
    return env


def twin(game, agent, seed=0):
    other = copy.copy(game)
    other.resample(agent, np.random.default_rng(seed))
    return other


def said(game, side, action=None):
    return [each.text for each in game.passages if each.side == side and action in (None, each.action)]


def test_thoughts_are_redrawn_for_the_opponent_only():
    game = thinking(started(n_judges=2)).game
    agent = game.sides[0]
    other = twin(game, agent)
    assert said(other, "A") == said(game, "A")
    assert set(said(other, "B", "think")).isdisjoint(said(game, "B", "think"))
    assert said(other, "B", "respond") == said(game, "B", "respond")
    assert other.sides == game.sides
    judged = twin(game, "judge_1")
    assert said(judged, "A", "think") == said(game, "A", "think")


def test_thoughts_that_judges_do_not_read_are_redrawn_for_them():
    game = thinking(started(n_judges=2, judge_sees_think=False)).game
    assert set(said(twin(game, "judge_0"), "A", "think")).isdisjoint(said(game, "A", "think"))


def test_where_critique_is_hidden_it_is_redrawn():
    game = debated(started(n_judges=1, visibility="restricted")).game
    other = twin(game, game.sides[1])
    assert set(said(other, "A", "criticize")).isdisjoint(said(game, "A", "criticize"))
    assert said(other, "A", "raise") == said(game, "A", "raise")


def test_resampled_unseen_answer_is_independent_of_the_other():
    env = started(n_judges=1, judge_initial_only=True)
    say(env, "<respond>It scatters.</respond>")
    game, agent = env.game, env.agent_selection
    assert env.view(agent).fresh
    assert said(twin(game, agent), "A") != said(game, "A")
    assert said(twin(game, "judge_0"), "A") == said(game, "A")


def test_the_reference_is_redrawn_for_debaters_only():
    game = started(question=None, questions=[QUESTION], n_judges=1).game
    assert twin(game, "judge_0").reference == game.reference == "It is 4."
    other = twin(game, "debater_0")
    assert other.reference == other.question.reference != "It is 4."
    assert game.questions[0].reference == "It is 4."


@pytest.mark.parametrize("agent", ["judge_0", "judge_1"])
def test_judges_cannot_infer_the_sides(agent):
    game = debated(started(n_judges=2)).game
    sides = redrawn(game, agent, lambda other: other.sides, draws=400)
    check_frequencies(sides, {("debater_0", "debater_1"): 1, ("debater_1", "debater_0"): 1})
    assert set(redrawn(game, "debater_0", lambda other: other.sides, draws=50)) == {game.sides}


def test_verdicts_of_others_are_redrawn_until_they_are_read():
    env = say(debated(started(n_judges=2, both_orders=True)), "[[A]]", "[[B]]")
    game = env.game
    assert game.stage == "discuss"
    assert twin(game, "judge_0").committee == game.committee
    assert twin(game, "debater_0").committee != game.committee
    say(env, "[[tie]]", "[[B]]")
    assert game.committee.order == 1
    verdicts = redrawn(
        game, "judge_0", lambda other: [session[1].verdict for session in other.committee.sessions][1], draws=600
    )
    check_frequencies(verdicts, {"A": 1, "B": 1, "tie": 1})
    other = twin(game, "judge_0")
    assert other.committee.sessions[0] == game.committee.sessions[0]
    assert other.committee.sessions[1][0] == game.committee.sessions[1][0]


def test_verdicts_stay_once_they_are_counted():
    env = say(debated(started(n_judges=3, discussion=False)), "[[A]]", "[[B]]", "[[A]]")
    game = env.game
    assert not game.to_move
    for agent in game.agents:
        other = twin(game, agent)
        assert other.committee.winner == game.committee.winner == "A"
        assert other.statistics(agent) == game.statistics(agent)
    (given,) = twin(game, "judge_0").committee.sessions
    assert given[0] == Judgement("A", "[[A]]") and given[1].text != "[[B]]"
