"""Stories: what happened in a recorded match, told by its environment."""

from typing import NamedTuple

from agents.play import Streams
from llmarena_envs.catalogue import load_environment, make_environment
from llmarena_envs.core.narration import Scene
from llmarena_envs.core.text_env import TextEnv
from rating.records.record import Record


class Story(NamedTuple):
    """The story of a match.

    Attributes:
        scenes: what happened; empty if there is no story.
        missing: why a match of an environment that tells stories has none.
    """

    scenes: tuple[Scene, ...] = ()
    missing: str = ""


def tell(record: Record) -> Story:
    """Plays the recorded actions again, as far as they go, and lets the environment tell what happened.

    Nobody is asked and nothing is measured. What is told is what was recorded: the players must have read in every turn what
    they would read now.
    """
    match = record.match
    try:
        environment = load_environment(match.environment)
        if environment.narrate is TextEnv.narrate or not record.turns:
            return Story()
        env = make_environment(match.environment, dict(environment.narrating_options(match.options)))
        env.reset(seed=Streams(match.seed).game())
        raw = env.unwrapped
        for turn in record.turns:
            if raw.agent_selection != turn.agent or raw.observe(turn.agent)["text"] != turn.read:
                return Story(missing=f"what {turn.agent} reads in turn {turn.index + 1} is not what was recorded")
            raw.step(turn.action)
        return Story(raw.narrate())
    except (
        Exception
    ) as error:  # of an environment that may be gone, or somebody's own: its matches are shown all the same
        return Story(missing=f"{type(error).__name__}: {error}")
