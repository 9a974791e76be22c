"""Rules about ``Codec.update``: texts for a reader of an earlier turn's text."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.transcript import expect_equal
from llmarena_envs.testing.trial import Trial, is_over, random_move, shown

_BETWEEN_PIECES = re.compile(r"[,;:.](?:\s+|$)|[→、，；：。（）“”()]")


def updates_follow_from_two_views(trial: Trial) -> None:
    """``codec.update(view, since)`` is a text that depends on the two views only: a fresh codec returns the same."""
    fresh = trial.make().unwrapped
    for env, view, since, _ in _turns_with_updates(trial):
        update = env.unwrapped.codec.update(view, since)
        trial.expect(isinstance(update, str) and update, "a text", update, view.agent)
        expect_equal(trial, fresh.codec.update(view, since), update, "the update that the views alone give", view.agent)


def updates_lose_nothing(trial: Trial) -> None:
    """Every line of ``codec.observation(view)`` occurs in the texts of its owner, as often as in the observation.

    The texts are the observation of its first turn, the updates of its later turns and the present update. For a line that has
    changed only in part, such as a growing list, it is enough that every piece between punctuation marks occurs. Turns that are
    answered without the history are skipped.
    """
    for env, view, since, told in _turns_with_updates(trial):
        update = env.unwrapped.codec.update(view, since).split("\n")
        read = Counter(update) + told
        for line, times in Counter(env.unwrapped.codec.observation(view).split("\n")).items():
            if read[line] >= times:
                continue
            everything = "\n".join([*told, *update])
            lost = [piece for piece in _BETWEEN_PIECES.split(line) if piece.strip() not in everything]
            trial.expect(
                not lost,
                f"the line {shown(line)} of the whole text in the update or in what was read before",
                f"nothing of {lost} in the update {shown(update)}",
                view.agent,
            )
        told.update(update)


def _turns_with_updates(trial: Trial) -> Iterator[tuple[Any, Any, Any, Counter[str]]]:
    """Yields at every turn after an agent's first: the environment, its view, its previous turn's view, the lines it has read.

    Yields nothing if there are no texts, or if an update is the whole text again.
    """
    raw = trial.make().unwrapped
    if not isinstance(raw, TextEnv) or raw.obs_type != "text" or type(raw.codec).update is Codec.update:
        return
    for seed in trial.seeds:
        env = trial.make()
        asked: dict[str, Any] = {}
        told: dict[str, Counter[str]] = {}
        for _ in trial.play(env, seed, _random_or_default_move):
            if is_over(env):
                break
            view = env.unwrapped.view(env.agent_selection)
            if env.unwrapped.fresh_turns and view.fresh:
                continue
            if view.agent in asked:
                yield env, view, asked[view.agent], told[view.agent]
            else:
                told[view.agent] = Counter(env.unwrapped.codec.observation(view).split("\n"))
            asked[view.agent] = view


def _random_or_default_move(env: Any, rng: np.random.Generator) -> Any:
    """Draws a legal action; at times it is the default action, if the game has one."""
    default = None if is_over(env) or rng.random() > 0.2 else env.unwrapped.default_action(env.agent_selection)
    return random_move(env, rng) if default is None else default


RULES = (updates_follow_from_two_views, updates_lose_nothing)
