"""Stories: what happened in a recorded match, told and drawn by its environment."""

from typing import NamedTuple

from llmarena_envs.catalogue import load_environment
from llmarena_envs.core.narration import Scene
from llmarena_envs.core.text_env import TextEnv
from rating.records.playback import Playback
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
    try:
        tells = load_environment(record.match.environment).narrate is not TextEnv.narrate
        if not record.turns or not (tells or draw):
            return Story()
        playback = Playback(record.match)
        pictures = [playback.env.draw()] if draw else []
        for turn in record.turns:
            if missing := playback.play(turn):
                return Story(missing=missing)
            if draw:
                pictures.append(playback.env.draw())
        return Story(playback.env.narrate(), pictures=tuple(pictures))
    except Exception as error:
        # Of an environment that may be gone, or somebody's own: its matches are shown all the same.
        return Story(missing=f"{type(error).__name__}: {error}")
