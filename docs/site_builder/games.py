"""Additions of the site to the page of a game: an example match, its picture, and the ladder."""

import asyncio
import json
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agents.play import play_and_close
from agents.records import Turn
from agents.registry import make_policy
from benchmarks.experiments.markdown import block
from llmarena_envs.catalogue import CATALOGUE, make_environment
from llmarena_envs.core.declaration import role_of
from site_builder.examples import EXAMPLES, SEED, Example
from site_builder.markdown import table

LANGUAGES = {"en": "English", "zh": "中文"}
LADDERS = Path(__file__).parent / "ladders.json"
_HEADING = re.compile(r"^##(#+ )", re.MULTILINE)
"""A heading of a docstring, whose sections are of the third level, as PettingZoo has them."""


class Match(NamedTuple):
    """A match as a page shows it.

    Attributes:
        command: that plays it.
        rules: the rules for the first agent shown.
        turns: the turns shown.
        picture: SVG of the position before them.
    """

    command: str
    rules: str
    turns: tuple[Turn, ...]
    picture: str


def play_example(name: str, language: str) -> Match:
    """Plays the match that is shown of a game, in one of its languages.

    Raises:
        ValueError: if it ends before the turns to show.
    """
    example = EXAMPLES[name]
    options = {**example.options, "language": language}
    env = make_environment(name, options)
    specs = {agent: _spec(example, agent) for agent in env.possible_agents}
    turns: list[Turn] = []
    pictures: list[str] = []

    def keep(turn: Turn) -> None:
        turns.append(turn)
        if len(turns) == example.shown:
            pictures.append(env.unwrapped.draw())

    asyncio.run(
        play_and_close(env, {agent: make_policy(spec, name) for agent, spec in specs.items()}, SEED, on_turn=keep)
    )
    shown = tuple(turns[example.shown : example.shown + example.turns])
    if not pictures or not shown:
        raise ValueError(f"{name}: expected a match of more than {example.shown} turns, got {len(turns)}")
    rules = env.observe(shown[0].agent)["rules"]
    return Match(_command(name, specs, options), rules, shown, pictures[0])


def _spec(example: Example, agent: str) -> str:
    """Returns the spec of the policy on a seat: the agent's own, or its role's."""
    return example.policies.get(agent) or example.policies[role_of(agent)]


def _command(name: str, specs: dict[str, str], options: dict[str, Any]) -> str:
    """Returns the command that plays a match, a line an argument."""
    lines = [f"llmarena play {name}"]
    lines += [f"--policy {shlex.quote(f'{agent}={spec}')}" for agent, spec in specs.items()]
    lines += [f"--option {shlex.quote(f'{key}={value}')}" for key, value in options.items()]
    return " \\\n    ".join([*lines, f"--seed {SEED}"])


def additions(name: str, pictures: Path, ladders: list[dict[str, Any]]) -> str:
    """Returns the additions to the page of a game, as Markdown, and writes its pictures.

    Args:
        name: of the environment.
        pictures: folder for them, ``pictures`` beside the page.
        ladders: ladders of the game, in the form of ``ladders.json``.
    """
    parts = ["## A match"]
    for language, title in LANGUAGES.items():
        match = play_example(name, language)
        picture = pictures / f"{name}-{language}.svg"
        picture.write_text(match.picture, encoding="utf-8", newline="\n")
        parts.append(f'=== "{title}"\n\n{textwrap.indent(_tab(match, picture), "    ")}')
    parts += [
        "## The ladder of its baselines",
        "Scripted policies rated with each other, as the command played them. [Which of these numbers to quote](../ratings.md).",
        *(_ladder(ladder) for ladder in ladders),
    ]
    return "\n\n".join(parts) + "\n"


def _tab(match: Match, picture: Path) -> str:
    """Returns a match in one language."""
    first = match.turns[0]
    position = f"the position before turn {first.index + 1}"
    return "\n\n".join(
        [
            f"![{position}](pictures/{picture.name}){{ .position }}",
            f"This is {position} of a match between scripted policies. Below are the prompts for a model in this turn and"
            " the next, with the replies.",
            *(part for turn in match.turns for part in _turn(turn)),
            f'??? note "The rules for {first.agent}"\n\n{textwrap.indent(block(match.rules), "    ")}',
            f"The whole match:\n\n```bash\n{match.command}\n```",
        ]
    )


def _turn(turn: Turn) -> Iterator[str]:
    """Returns the observation and the reply of a turn."""
    yield f"**Turn {turn.index + 1}: `{turn.agent}` reads**"
    yield block(turn.read)
    yield f"**and replies**\n\n{block(turn.attempts[-1].reply)}"


def _ladder(ladder: dict[str, Any]) -> str:
    """Returns a leaderboard between scripted policies with the command that played it."""
    notes = "\n".join(f"* {note}" for note in ladder["notes"])
    return "\n\n".join(
        [
            f"### {ladder['title']}",
            f"```bash\n{ladder['command']}\n```",
            table(ladder["header"], ladder["rows"]),
            f'??? note "What these numbers say, and what not"\n\n{textwrap.indent(notes, "    ")}',
        ]
    )


def ladders_of(name: str) -> list[dict[str, Any]]:
    """Returns the ladders of a game; one that is played in several ways has several."""
    return [each for each in json.loads(LADDERS.read_text(encoding="utf-8")) if each["environment"] == name]


def add_games(pages: Path) -> None:
    """Adds the additions to the page of every game, and all pictures to the page of all games.

    Args:
        pages: folder of the site's pages.
    """
    folder = pages / "environments"
    (folder / "pictures").mkdir()
    for entry in CATALOGUE:
        added = additions(entry.name, folder / "pictures", ladders_of(entry.name))
        shown = f"[![{entry.title}, a position](pictures/{entry.name}-en.svg){{ .position }}](#a-match)"
        page = folder / f"{entry.name}.md"
        raised = _HEADING.sub(r"#\1", page.read_text(encoding="utf-8"))
        before, heading, after = raised.partition("## Arguments")
        page.write_text(f"{before}{shown}\n\n{heading}{after}\n{added}", encoding="utf-8", newline="\n")
    _add_gallery(pages / "games.md")


def _add_gallery(page: Path) -> None:
    """Puts a picture of every game before the table of the page of all games."""
    pictures = [
        f"[![](environments/pictures/{entry.name}-en.svg)*{entry.title}*](environments/{entry.name}.md)"
        for entry in CATALOGUE
    ]
    gallery = "\n".join(['<div class="gallery" markdown>', "", *pictures, "", "</div>"])
    before, heading, after = page.read_text(encoding="utf-8").partition("| game |")
    page.write_text(f"{before}{gallery}\n\n{heading}{after}", encoding="utf-8", newline="\n")
