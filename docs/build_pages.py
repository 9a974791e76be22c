"""Writes the generated pages that are committed to the repository.

``python docs/build_pages.py`` writes ``docs/environments/<name>.md`` for every environment of the catalogue, from the docstring
of its environment module and its declared channels; the page of all games; and the pages of the command line, the providers and
the run file in ``docs/reference``.
"""

import importlib
import inspect
from collections.abc import Mapping
from pathlib import Path

from llmarena_envs.catalogue import CATALOGUE
from llmarena_envs.core.declaration import Channel
from site_builder import command_line, overview, providers, run_file
from site_builder.markdown import table

DOCS = Path(__file__).parent

_MESSAGES = """\
The declared channels, by role. Agents read each other through the message pool, which refuses any other message. `host` is the
environment. A message without readers is for the environment alone."""


def page(name: str) -> str:
    """Returns the page of an environment, e.g. ``tictactoe_v0``: the docstring with a title in place of its first line.

    The section on messages comes from the declaration.
    """
    env = importlib.import_module(f"llmarena_envs.{name}").env()
    module = inspect.getmodule(env.unwrapped)
    if module is None or not module.__doc__:
        raise ValueError(f"{name}: expected a module docstring where raw_env is defined, got none")
    title, _, body = inspect.cleandoc(module.__doc__).partition("\n")
    before, heading, after = body.partition("### Rewards")
    return f"{title.removesuffix('.')}\n{before}{_messages(env.unwrapped.declaration.channels)}{heading}{after}\n"


def _messages(channels: Mapping[str, Channel]) -> str:
    """Returns the section on messages; an empty text if the environment declares no channel."""
    if not channels:
        return ""
    rows = [(f"`{kind}`", channel.sender, ", ".join(channel.readers) or "none") for kind, channel in channels.items()]
    return f"### Messages\n\n{_MESSAGES}\n\n{table(('message', 'sender', 'readers'), rows)}\n\n"


def pages() -> dict[str, str]:
    """Returns every page by its path below ``docs``."""
    games = {entry.name: page(entry.name) for entry in CATALOGUE}
    return {
        **{f"environments/{name}.md": text for name, text in games.items()},
        "games.md": overview.page(games),
        "reference/command_line.md": command_line.page(),
        "reference/providers.md": providers.page(),
        "reference/run_file.md": run_file.page(),
    }


def main(folder: Path = DOCS) -> None:
    """Writes every page.

    Args:
        folder: that takes them.
    """
    for path, text in pages().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
