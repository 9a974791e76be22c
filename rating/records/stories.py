"""Stories: what happened in a recorded match, told and drawn by its environment."""

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
        missing: why a match that has a story or pictures is told without.
        pictures: SVG of what a spectator sees, at the beginning and after every turn; empty unless they are asked for.
    """

    scenes: tuple[Scene, ...] = ()
    missing: str = ""
    pictures: tuple[str, ...] = ()


def tell(record: Record, *, draw: bool = False) -> Story:
    """Plays the recorded actions again, as far as they go, and lets the environment tell what happened.

    Nobody is asked and nothing is measured. What is told is what was recorded: the players must have read in every turn what
    they would read now.

    Args:
        record: the match.
        draw: whether positions are drawn.
    """
    match = record.match
    try:
        environment = load_environment(match.environment)
        if not record.turns or (environment.narrate is TextEnv.narrate and not draw):
            return Story()
        env = make_environment(match.environment, dict(environment.narrating_options(match.options)))
        env.reset(seed=Streams(match.seed).game())
        raw = env.unwrapped
        pictures = [raw.draw()] if draw else []
        for turn in record.turns:
            if raw.agent_selection != turn.agent or raw.observe(turn.agent)["text"] != turn.read:
                return Story(missing=f"what {turn.agent} reads in turn {turn.index + 1} is not what was recorded")
            raw.step(turn.action)
            if draw:
                pictures.append(raw.draw())
        return Story(raw.narrate(), pictures=tuple(pictures))
    except (
        Exception
    ) as error:  # of an environment that may be gone, or somebody's own: its matches are shown all the same
        return Story(missing=f"{type(error).__name__}: {error}")
