"""The page of all games, built from the tables at the top of their pages."""

import re
from collections.abc import Mapping

from llmarena_envs.catalogue import CATALOGUE
from site_builder.markdown import table

_INTRODUCTION = """# All games

Every game is an environment with the same interface; `llmarena list` lists them, and those of installed third-party packages.
The page of each has its rules, options, observations, actions and rewards, and on the site a match and the ladder of its
baselines. All of them speak English and Chinese (`language="zh"`).
"""

_PLAY = """
`llmarena list NAME` lists the scripted policies of a game. [Play one yourself](playing.md), [rate a
model](quickstart.md#rate-a-language-model), or [add a game of your own](adding_an_environment.md).
"""


def page(pages: Mapping[str, str]) -> str:
    """Returns the page, as Markdown.

    Args:
        pages: the page of each environment, by its name.
    """
    rows = []
    for entry in CATALOGUE:
        text = pages[entry.name]
        agents = _row(text, "Agents")
        rows.append((f"[{entry.title}](environments/{entry.name}.md)", _first_sentence(text), agents))
    return "\n".join([_INTRODUCTION, table(("game", "description", "agents"), rows), _PLAY])


def _row(text: str, name: str) -> str:
    """Returns an entry of a page's table by its name."""
    found = re.search(rf"^\| {name} \| (.*) \|$", text, re.MULTILINE)
    return found[1] if found else ""


def _first_sentence(text: str) -> str:
    """Returns the sentence after the table of a page."""
    paragraph = next(part for part in text.split("\n\n")[2:] if not part.startswith("|"))
    return re.split(r"(?<=[.!?])\s", " ".join(paragraph.split()), maxsplit=1)[0]
