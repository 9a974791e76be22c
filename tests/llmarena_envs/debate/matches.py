"""Matches of debate_v0 that tests begin with."""

from typing import Any

from llmarena_envs import debate_v0

QUESTION = "Why is the sky blue?"
FORMS = {"respond": "I respond", "criticize": "I criticize", "raise": "I raise"}


def started(seed: int = 0, **options: Any) -> debate_v0.raw_env:
    """Returns an environment at its beginning, about one question unless the options say otherwise."""
    given = {"question", "questions", "examiner"} & options.keys()
    options.pop("examiner", None)
    env = debate_v0.raw_env(**({} if given else {"question": QUESTION}), **options)
    env.reset(seed=seed)
    return env


def say(env: debate_v0.raw_env, *replies: str) -> debate_v0.raw_env:
    """Plays replies as a harness without re-asks does."""
    for reply in replies:
        env.step(env.parse(reply, env.agent_selection))
    return env


def turn_text(env: debate_v0.raw_env, mark: str = "") -> str:
    """Returns a turn with everything that is asked for now."""
    view = env.view(env.agent_selection)
    return "".join(f"<{action}>{FORMS[action]} {mark}{view.side}{view.round}</{action}>" for action in view.actions)


def debated(env: debate_v0.raw_env, mark: str = "") -> debate_v0.raw_env:
    """Plays the debate to its end."""
    while env.view(env.agent_selection).actions:
        say(env, turn_text(env, mark))
    return env
