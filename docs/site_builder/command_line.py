"""The page of the command line, made of the parser that reads it."""

import argparse
from collections.abc import Iterator

from rating.cli.app import build_parser
from site_builder.markdown import table

_INTRODUCTION = """# The command line

Generated from the parser by `python docs/build_pages.py`; `llmarena COMMAND --help` prints the same.

| exit code | meaning |
|---|---|
| 0 | success |
| 1 | internal error; failed `replay --verify` or `check` |
| 2 | wrong arguments or input file |
| 3 | error budget exceeded, void matches or paused games; `resume` continues |
| 4 | budget of cost, tokens or time reached; `resume` continues |
| 130 | interrupted by Ctrl-C; `resume` continues |
| 143 | terminated by SIGTERM; `resume` continues |
"""


def page() -> str:
    """Returns the page, as Markdown."""
    parser = build_parser()
    parts = [_INTRODUCTION]
    for name, command in _commands(parser):
        parts += [f"## llmarena {name}\n", f"{command.description}\n", *_arguments(command)]
    return "\n".join(parts).rstrip() + "\n"


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yields every command with its parser."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


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
