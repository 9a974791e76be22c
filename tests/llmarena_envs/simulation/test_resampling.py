"""Resampling of the parts of a simulation that are hidden from an agent."""

import copy

import numpy as np

from llmarena_envs.simulation.actions import STRATEGIES
from tests.llmarena_envs.draws import check_frequencies, redrawn
from tests.llmarena_envs.simulation.matches import TRUTH, asked, say, scripted, started


def twin(game, agent, seed=0):
    other = copy.copy(game)
    other.resample(agent, np.random.default_rng(seed))
    return other


def test_strategies_are_the_users_own_business():
    game = say(started(), "an answer", asked("KEYS *", 3)).game
    drawn = redrawn(game, "simulator_0", lambda other: other.messages[2].strategy)
    check_frequencies(drawn, dict.fromkeys(STRATEGIES, 1))
    assert game.messages[0].strategy == twin(game, "judge_0").messages[0].strategy == 0
    assert twin(game, "user_0").messages == game.messages


def test_engine_answers_are_hidden_from_all_agents():
    game = say(started(), "an answer", asked("KEYS *")).game
    assert game.truths[0] == TRUTH
    for agent in game.agents:
        other = twin(game, agent)
        assert len(other.truths) == 2 and not set(other.truths) & set(game.truths)


def test_simulators_answer_is_hidden_from_the_other():
    game = say(scripted("pairwise"), "one answer", "another").game
    assert [answer.text for answer in game.answers] == ["one answer", "another"]
    ours, theirs = twin(game, "simulator_1").answers
    assert (ours.text != "one answer", theirs.text) == (True, "another")
    assert twin(game, "judge_0").answers == game.answers


def test_judgements_are_hidden_from_other_judges():
    env = say(scripted("pairwise", n_judges=2), "one answer", "another", "[[A]]", "[[A]]")
    game = env.game
    assert game.to_move == game.judges
    verdicts = redrawn(
        game, "judge_1", lambda other: tuple(each.verdict for each in other.committee.sessions[0]), draws=600
    )
    check_frequencies(verdicts, {("A", "A"): 1, ("B", "A"): 1, ("tie", "A"): 1})


def test_ratings_stay_once_they_are_counted():
    game = say(started(turns=1, n_judges=2), "an answer", "[[7]]", "[[8]]").game
    other = twin(game, "judge_1")
    assert [given.score for given in other.given] == [7, 8]
    assert other.given[1] == game.given[1] and other.given[0].text != game.given[0].text
    assert other.truths == game.truths
    assert all(twin(game, agent).statistics(agent) == game.statistics(agent) for agent in game.agents)
