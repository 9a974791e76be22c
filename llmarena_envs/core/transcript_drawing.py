"""Drawings of conversations, message by message."""

from collections.abc import Iterable, Sequence
from functools import partial

from llmarena_envs.core.prompts import common_prompts
from llmarena_envs.core.seat_colours import seat_colour
from llmarena_envs.core.sheet import Block, Bubble, Caption, Sheet
from llmarena_envs.core.svg import DIM
from llmarena_envs.core.transcript import Scene

_LINES = 6
_LINES_OF_LATEST = 16
"""Maximum number of lines of a message, and of the two latest ones."""


def draw_transcript(
    title: str, language: str, agents: Sequence[str], headline: str, moving: Sequence[str], scenes: Iterable[Scene]
) -> str:
    """Draws a conversation as SVG: the last messages that fit.

    Args:
        title: title of the drawing.
        language: language of the match.
        agents: all agents, for the colours of the speakers.
        headline: state of the match.
        moving: agents to move, as far as visible to the reader.
        scenes: the conversation.
    """
    shown = list(scenes)
    sheet = Sheet(title, language)
    sheet.head(headline, moving)
    sheet.history(
        [
            partial(_block, scene, language, agents, _LINES_OF_LATEST if number >= len(shown) - 2 else _LINES)
            for number, scene in enumerate(shown)
        ]
    )
    return str(sheet)


def _block(scene: Scene, language: str, agents: Sequence[str], lines: int) -> Block:
    if not scene.text and not scene.speaker:
        return Caption(" · ".join([scene.heading, *scene.marks]), 14)
    hidden = []
    if scene.hidden_from:
        hidden = [common_prompts(language).render("drawing_hidden_from", agents=", ".join(scene.hidden_from))]
    return Bubble(
        scene.speaker,
        scene.text,
        seat_colour(agents, scene.speaker) if scene.speaker else DIM,
        heading=" · ".join([part for part in (scene.heading, *scene.marks, *hidden) if part]),
        lines=lines,
        fixed=scene.is_code,
    )
