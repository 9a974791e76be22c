"""Rules about copies of a running match."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from llmarena_envs.testing.transcript import expect_equal, expect_same_course, snapshot
from llmarena_envs.testing.trial import Trial, is_over

CUTS = 3
"""Number of copied positions of a match."""


def _through_pickle(env: Any) -> Any:
    return pickle.loads(pickle.dumps(env))


def deep_copies_play_on_identically(trial: Trial) -> None:
    """``copy.deepcopy`` during a match preserves position and generator, and the copy is independent of the original."""
    _check_copies(trial, copy.deepcopy)


def pickled_copies_play_on_identically(trial: Trial) -> None:
    """``pickle`` during a match preserves position and generator, and the copy is independent of the original."""
    _check_copies(trial, _through_pickle)


def copied_games_are_independent(trial: Trial) -> None:
    """``copy.copy(game)`` is an independent position: moves in it never affect the match.

    A game that holds lists, or draws from a generator during play, copies them in ``__copy__``.
    """
    for seed in trial.seeds:
        env, alone = trial.make(), trial.make()
        if not hasattr(env.unwrapped, "game"):
            return
        for _ in zip(trial.play(alone, seed), trial.play(env, seed), strict=True):
            before = snapshot(env)
            expect_equal(trial, snapshot(alone), before, "the match as it is when nothing is played in copies")
            if trial.is_rare_turn:
                _play_in_copy(env)
                expect_equal(trial, before, snapshot(env), "the match unchanged by play in a copy of its game")


def _play_in_copy(env: Any) -> None:
    game, rng = copy.copy(env.unwrapped.game), np.random.default_rng(0)
    for _ in range(env.unwrapped.max_turns):
        if not game.to_move:
            break
        game.apply(tuple(game.random_action(agent, rng) for agent in game.to_move))


def _check_copies(trial: Trial, make_copy: Callable[[Any], Any]) -> None:
    for seed in trial.seeds:
        for cut in range(CUTS):
            env = trial.make()
            turns = cut * env.unwrapped.max_turns // CUTS
            for _ in trial.play(env, seed):
                if trial.turn == turns or is_over(env):
                    break
            if not is_over(env):
                _check_copy(trial, env, make_copy)


def _check_copy(trial: Trial, env: Any, make_copy: Callable[[Any], Any]) -> None:
    copied, before = make_copy(env), snapshot(env)
    expect_equal(trial, before, snapshot(copied), "the copy the same as the original")
    course = _play_out(trial, copied)
    expect_equal(trial, before, snapshot(env), "the original unchanged by play in its copy")
    expect_same_course(trial, _play_out(trial, env), course, "the copy to play on like the original")


def _play_out(trial: Trial, env: Any) -> list[Any]:
    """Plays to the end, and one more match without a seed to expose the state of the generator."""
    rng = np.random.default_rng(0)
    course = [snapshot(env) for _ in trial.play_on(env, rng)]
    env.reset()
    course.append(snapshot(env))
    for _ in trial.play_on(env, rng):
        if is_over(env):
            break
    return [*course, snapshot(env)]


RULES = (deep_copies_play_on_identically, pickled_copies_play_on_identically, copied_games_are_independent)
