"""Rules about agents' messages: they go through the message pool, with its declared channels."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from llmarena_envs.core.messages import MessagePool
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.trial import Trial, is_over, random_move

SHORTEST = 4
"""Minimum length of a checked text; shorter texts can occur in a view by chance."""


def messages_go_through_the_pool(trial: Trial) -> None:
    """An agent's view contains no message of another agent, unless ``game.pool`` shows it to that agent.

    Environments without a pool and channels have no messages. The pool has the declared channels. Checks texts of random
    actions, and actions that are records, if no view contained them before.
    """
    for seed in trial.seeds:
        env = trial.make()
        raw = env.unwrapped
        if not isinstance(raw, TextEnv):
            return
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        trial.seed, trial.turn = seed, 0
        pool = getattr(raw.game, "pool", None)
        declared = raw.declaration.channels
        if pool is None and not declared:
            return
        if pool is not None or any(channel.readers for channel in declared.values()):
            fits = isinstance(pool, MessagePool) and pool.channels == declared
            trial.expect(fits, f"game.pool to be a MessagePool with the declared channels {declared}", pool)
        said: dict[str, list[Any]] = {agent: [] for agent in env.possible_agents}
        while not is_over(env):
            speaker, move = env.agent_selection, random_move(env, rng)
            action = raw.read_action(move, speaker)
            is_listed = isinstance(action, str) and action in raw.view(speaker).legal  # a move, no words
            words = [] if is_listed else list(_words(action))
            for reader in said:
                known = [] if reader == speaker else list(_words(_view(env, reader)))
                said[reader] += [word for word in words if reader != speaker and not _is_among(word, known)]
            env.step(move)
            trial.turn += 1
            for reader, candidates in said.items():
                _check_reader(trial, env, reader, candidates)


def _check_reader(trial: Trial, env: Any, reader: str, said: list[Any]) -> None:
    seen = list(_words(_view(env, reader)))
    pool = getattr(env.unwrapped.game, "pool", None)
    shown = list(_words(pool.visible_to(reader))) if pool is not None else []
    for word in said:
        is_smuggled = _is_among(word, seen) and not _is_among(word, shown)
        trial.expect(not is_smuggled, "what others said to be in the view by way of game.pool only", word, reader)


def _view(env: Any, agent: str) -> Any:
    return env.unwrapped.view(agent)._replace(legal=())


def _words(value: Any) -> Iterator[Any]:
    """Yields the texts and the named tuples in a value."""
    if isinstance(value, str):
        if len(value) >= SHORTEST:
            yield value
    elif isinstance(value, Mapping):
        yield from _words(tuple(value.values()))
    elif isinstance(value, tuple | list):
        if hasattr(value, "_replace"):
            yield value
        for item in value:
            yield from _words(item)


def _is_among(word: Any, words: list[Any]) -> bool:
    """Says whether a text is part of one of ``words``, or a record is one of them."""
    if isinstance(word, str):
        return any(word in other for other in words if isinstance(other, str))
    return word in words


RULES = (messages_go_through_the_pool,)
