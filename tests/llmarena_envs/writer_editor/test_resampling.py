"""Resampling of a task's hidden parts and the other judges' verdicts."""

import copy

import numpy as np

from llmarena_envs.writer_editor.game import Given, Scores
from llmarena_envs.writer_editor.resampling import other_secrets
from llmarena_envs.writer_editor.tasks import shipped_documents, shipped_problems
from tests.llmarena_envs.draws import check_frequencies, redrawn
from tests.llmarena_envs.writer_editor.test_game import NOTE, PROBLEM, play, scores, started


def twin(game, agent, seed=0):
    other = copy.copy(game)
    other.resample(agent, np.random.default_rng(seed))
    return other


def test_solution_and_tests_are_resampled_for_all_agents():
    game = started()
    for agent in game.agents:
        task = twin(game, agent).chosen
        assert task.assignment == PROBLEM.assignment
        assert task.code != PROBLEM.code and task.test_list != PROBLEM.test_list
        assert len(task.test_list) == 1
    assert game.chosen == game.tasks[0] == PROBLEM


def test_existing_reference_is_resampled():
    assert twin(started("translation"), "editor_0").chosen.tgt not in ("", NOTE.tgt)
    game = started("translation", [NOTE._replace(tgt="")])
    assert twin(game, "editor_0").chosen.tgt == ""


def test_every_shipped_assignment_stays():
    rng = np.random.default_rng(0)
    for task in (*shipped_problems(), *shipped_documents()):
        other = other_secrets(task, rng)
        assert other.assignment == task.assignment
        assert other != task


def test_the_next_match_has_the_true_task_again():
    game = started()
    game.resample("writer_0", np.random.default_rng(0))
    game.reset(np.random.default_rng(0))
    assert game.chosen == PROBLEM


def test_measurements_are_unknown_until_the_end():
    game = play(started(n_judges=2), "half", "better", "good", "over")
    assert game.measured == ((0.5, 1.0),)
    values = {twin(game, "editor_0", seed).measured[0] for seed in range(20)}
    assert len(values) == 20 and all(0 <= value <= 1 for pair in values for value in pair)
    game.apply((scores(5, 5), scores(6, 7)))
    assert twin(game, "editor_0").measured == ((0.5, 1.0),)


def test_others_do_not_know_which_judge_gave_which_score():
    game = play(started(n_judges=3), "a", "over")
    game.apply(tuple(Scores(Given(score, f"reason {score}"), Given(score)) for score in (4.0, 5.0, 9.0)))
    drawn = redrawn(game, "writer_0", lambda other: tuple(given.writer.score for given in other.given))
    orders = [(4, 5, 9), (4, 9, 5), (5, 4, 9), (5, 9, 4), (9, 4, 5), (9, 5, 4)]
    check_frequencies(drawn, dict.fromkeys(orders, 1))
    drawn = redrawn(game, "judge_1", lambda other: tuple(given.writer.score for given in other.given), draws=600)
    check_frequencies(drawn, {(4, 5, 9): 1, (9, 5, 4): 1})
    other = twin(game, "judge_1")
    assert other.given[1] == game.given[1]
    assert {given.writer.reason for given in (other.given[0], other.given[2])}.isdisjoint({"reason 4.0", "reason 9.0"})
    assert all(twin(game, agent).statistics(agent) == game.statistics(agent) for agent in game.agents)
