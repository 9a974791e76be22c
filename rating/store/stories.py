"""Transcripts and pictures of recorded matches, made by their environments."""

from typing import NamedTuple

from llmarena_envs.core.narration import Scene
from llmarena_envs.core.text_env import TextEnv
from rating.store.environments import load_environment
from rating.store.record import Record
from rating.store.replay import Replay


class Story(NamedTuple):
    """The transcript of a match.

    Attributes:
        scenes: scenes of the transcript; empty if the environment has none.
        missing: why the transcript and pictures could not be made, or an empty string.
        pictures: SVG of the spectator's view at the beginning and after every turn; empty unless requested.
    """

    scenes: tuple[Scene, ...] = ()
    missing: str = ""
    pictures: tuple[str, ...] = ()


def tell(record: Record, *, draw: bool = False) -> Story:
    """Replays a match and returns its transcript.

    Args:
        record: the match.
        draw: whether to draw pictures.
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
        # Third-party environments can fail or be missing; their matches are shown anyway.
        return Story(missing=f"{type(error).__name__}: {error}")
