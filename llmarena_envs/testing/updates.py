"""Rules about ``Codec.update``: what somebody reads who has read the text of an earlier turn."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from llmarena_envs.core.codec import Codec
from llmarena_envs.core.text_env import TextEnv
from llmarena_envs.testing.transcript import expect_equal
from llmarena_envs.testing.trial import Trial, is_over, shown

_BETWEEN_PIECES = re.compile(r"[,;:.](?:\s+|$)|[→、，；：。（）“”()]")


def updates_follow_from_two_views(trial: Trial) -> None:
    """``codec.update(view, since)`` is a text made from the two views alone: a codec that has never played makes the same."""
    fresh = trial.make().unwrapped
    for env, view, since, _ in _turns_with_updates(trial):
        update = env.unwrapped.codec.update(view, since)
        trial.expect(isinstance(update, str) and update, "a text", update, view.agent)
        expect_equal(trial, fresh.codec.update(view, since), update, "the update that the views alone give", view.agent)


def updates_lose_nothing(trial: Trial) -> None:
    """Every line of ``codec.observation(view)`` stands in what its owner has read, as often as it stands there.

    That is the text of its first turn, the updates of its later turns and the present update. For a line that has changed only
    in part, such as a growing list, it is enough that every piece between punctuation marks stands there. Turns that are
    answered without what was said before are left out.
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
    """Yields at every turn after an agent's first one: the environment, its view, that of its turn before, the lines it has read.

    There are no such turns where there are no texts, or where an update is the whole text again.
    """
    raw = trial.make().unwrapped
    if not isinstance(raw, TextEnv) or raw.obs_type != "text" or type(raw.codec).update is Codec.update:
        return
    for seed in trial.seeds:
        env = trial.make()
        asked: dict[str, Any] = {}
        told: dict[str, Counter[str]] = {}
        for _ in trial.play(env, seed):
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


RULES = (updates_follow_from_two_views, updates_lose_nothing)
