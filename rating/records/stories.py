"""Stories: what happened in a recorded match, told and drawn by its environment."""

from typing import NamedTuple

from llmarena_envs.core.narration import Scene
from llmarena_envs.core.text_env import TextEnv
from rating.records.environments import load_environment
from rating.records.record import Record
from rating.records.replay import Replay


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
    """Plays a match again, as far as it goes, and lets the environment tell what happened.

    Args:
        record: the match.
        draw: whether positions are drawn.
    """
    match = record.match
    try:
        environment = load_environment(match.environment)
        if not record.turns or (environment.narrate is TextEnv.narrate and not draw):
            return Story()
        replay = Replay(match)
        pictures = [replay.env.draw()] if draw else []
        for turn in record.turns:
            if missing := replay.play(turn):
                return Story(missing=missing)
            if draw:
                pictures.append(replay.env.draw())
        return Story(replay.env.narrate(), pictures=tuple(pictures))
    except Exception as error:
        # Of an environment that may be gone, or somebody's own: its matches are shown all the same.
        return Story(missing=f"{type(error).__name__}: {error}")
