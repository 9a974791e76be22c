"""Rules about randomness: only the seed determines a match."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from llmarena_envs.testing.processes import digest_of_matches, digests_in_subprocess, pickled
from llmarena_envs.testing.transcript import are_alike, digest, expect_equal, expect_same_course, plain, snapshot
from llmarena_envs.testing.trial import Trial, agents_to_move

MORE_SEEDS = 100
"""Number of further seeds if all seeds of the trial give the same match."""


def _courses(trial: Trial, env: Any, seeds: Sequence[int]) -> list[list[Any]]:
    """Plays a match for each seed and returns the snapshots of each."""
    return [[snapshot(env) for _ in trial.play(env, seed)] for seed in seeds]


def same_seed_gives_the_same_match(trial: Trial) -> None:
    """Two environments with the same seed give the same match, regardless of earlier matches."""
    used = trial.make()
    used.reset()
    for seed in trial.seeds:
        first, again = _courses(trial, trial.make(), [seed])[0], _courses(trial, used, [seed])[0]
        expect_same_course(trial, first, again, "the same as in the first match with this seed")


def seeds_are_not_ignored(trial: Trial) -> None:
    """``reset(seed)`` seeds ``np_random``; in a game with chance, not all seeds give the same match.

    A game has chance if its generator advances during a match, or if the caller declares it. Chance events can be rare or
    invisible in the matches of the trial: then many more seeds are tried, and their first positions compared.
    """
    env = trial.make(render_mode="ansi")
    states, courses = set(), set()
    for seed in trial.seeds:
        trial.seed = seed
        env.reset(seed=seed)
        start, rng = _state(env), np.random.default_rng(0)
        states.add(start)
        positions = itertools.chain([None], trial.play_on(env, rng))
        courses.add(digest((snapshot(env), env.render()) for _ in positions))
        env.reset()
    expected = len(set(trial.seeds))
    trial.expect(len(states) == expected, f"{expected} seeds to give as many states of np_random", len(states))
    chance = trial.chance if trial.chance is not None else _state(env) != start
    if chance and expected > 1 and len(courses) == 1:
        found = _another_match(trial, courses)
        trial.expect(found, f"some of {expected + MORE_SEEDS} seeds to give another match", "the same match for all")
    if trial.chance is False:
        trial.expect(len(courses) == 1, "one match for all seeds, as there is no chance", f"{len(courses)} matches")


def _another_match(trial: Trial, courses: set[str]) -> bool:
    """Says whether any of many more seeds gives a different match or first position."""
    env, first = trial.make(render_mode="ansi"), trial.make()
    first.reset(seed=trial.seeds[0])
    for seed in range(max(trial.seeds) + 1, max(trial.seeds) + 1 + MORE_SEEDS):
        env.reset(seed=seed)
        if hasattr(env.unwrapped, "game") and not are_alike(env.unwrapped.game, first.unwrapped.game):
            return True
        positions = itertools.chain([None], trial.play_on(env, np.random.default_rng(0)))
        if digest((snapshot(env), env.render()) for _ in positions) not in courses:
            return True
    return False


def _state(env: Any) -> str:
    return repr(env.unwrapped.np_random.bit_generator.state)


def interleaved_matches_do_not_disturb_each_other(trial: Trial) -> None:
    """Interleaved environments give the same matches as sequential ones."""
    seeds = trial.seeds[:4]
    alone = [_courses(trial, trial.make(), [seed])[0] for seed in seeds]
    envs = [trial.make() for _ in seeds]
    players = [trial.play(env, seed) for env, seed in zip(envs, seeds, strict=True)]
    for index in range(max(len(course) for course in alone)):
        for course, env, player, seed in zip(alone, envs, players, seeds, strict=True):
            if index < len(course):
                next(player, None)
                trial.seed, trial.turn = seed, index
                expect_equal(trial, course[index], snapshot(env), "the same as when played alone")


def global_generators_are_left_alone(trial: Trial) -> None:
    """Neither construction nor play draws from or seeds the generators of ``random`` and ``numpy.random``."""
    before = _global_states()
    for env in trial.positions():
        for agent in agents_to_move(env):
            env.unwrapped.default_action(agent)
    trial.expect(_global_states() == before, "the global generators to stay as they were", "another state")


def _global_states() -> tuple[Any, Any]:
    return random.getstate(), plain(np.random.get_state())  # noqa: NPY002 - this is what must not be used


def hash_order_does_not_matter(trial: Trial) -> None:
    """Processes with other hash seeds give the same output, byte by byte.

    The processes import the environment by name: the rule is skipped if ``env_fn`` is a lambda, or defined inside a function or
    in ``__main__``, or if the options cannot be pickled.
    """
    task = pickled(trial)
    if task is None:
        return
    here = digest_of_matches(trial)
    trial.seed = trial.turn = None
    for hash_seed, answer in digests_in_subprocess(task).items():
        trial.expect(answer == here, f"the digest {here} in every process", f"{answer} with PYTHONHASHSEED={hash_seed}")


RULES = (
    same_seed_gives_the_same_match,
    seeds_are_not_ignored,
    interleaved_matches_do_not_disturb_each_other,
    global_generators_are_left_alone,
    hash_order_does_not_matter,
)
