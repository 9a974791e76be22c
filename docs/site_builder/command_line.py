"""The page of the command line, made of the parser that reads it."""

import argparse
from collections.abc import Iterator

from rating.cli.app import build_parser
from site_builder.markdown import table

_INTRODUCTION = """# The command line

Made of the parser itself by `python docs/build_pages.py`; `llmarena COMMAND --help` says the same.

| exit code | what it says |
|---|---|
| 0 | done |
| 1 | internal error; of `replay --verify`, something that is not as it was recorded |
| 2 | the command or a file it was given is wrong |
| 3 | too many provider failures, or void matches or paused games left at the end; `resume` goes on |
| 4 | a budget of cost, tokens or time is used up; `resume` goes on |
| 130 | interrupted by Ctrl-C; `resume` goes on |
| 143 | terminated by SIGTERM; `resume` goes on |
"""


def page() -> str:
    """Returns the page, as Markdown."""
    parser = build_parser()
    parts = [_INTRODUCTION]
    for name, command in _commands(parser):
        parts += [f"## llmarena {name}\n", f"{command.description}\n", *_arguments(command)]
    return "\n".join(parts).rstrip() + "\n"


def _commands(parser: argparse.ArgumentParser, before: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Returns every command with its parser; of a command with actions, the actions in its place."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                actions = [*_commands(command, f"{before}{name} ")]
                yield from actions or [(before + name, command)]


def _arguments(command: argparse.ArgumentParser) -> Iterator[str]:
    """Returns the table of the arguments of a command."""
    actions = [action for action in command._actions if not isinstance(action, argparse._HelpAction)]
    if not actions:
        yield "It takes no arguments.\n"
        return
    rows = [(f"`{_written(action)}`", _meaning(action)) for action in actions]
    yield table(("argument", "meaning"), rows) + "\n"


def _written(action: argparse.Action) -> str:
    """Returns an argument as it is typed."""
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    if not action.option_strings:
        return {"?": f"[{value}]", "+": f"{value} ..."}.get(str(action.nargs), str(value))
    option = ", ".join(action.option_strings)
    return option if action.nargs == 0 else f"{option} {value}"


def _meaning(action: argparse.Action) -> str:
    return (action.help or "") + ("; required" if action.option_strings and action.required else "")
