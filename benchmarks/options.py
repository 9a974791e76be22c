"""Options of a script: one dataclass that defines its command line."""

import argparse
from collections.abc import Sequence
from dataclasses import MISSING, Field, field, fields
from typing import Any, TypeVar

Options = TypeVar("Options")


def option(default: Any, text: str, *, smoke: Any = None) -> Any:
    """Declares a field of an options dataclass.

    Args:
        default: its value without the option on the command line.
        text: help text.
        smoke: its default in a smoke run, for fields that determine the duration.
    """
    return field(default=default, metadata={"help": text, "smoke": smoke})


def parse(
    kind: type[Options], description: str | None, arguments: Sequence[str] | None = None, prog: str = ""
) -> Options:
    """Reads options from a command line: ``--name value``, a bare ``--name`` for flags, several values for tuples.

    A tuple's flag can also be repeated. In a class with a flag ``smoke``, that flag changes the defaults of the other fields to
    their smoke values.

    Args:
        kind: a dataclass whose fields are declared with ``option``; a tuple holds texts.
        description: description of the script; the first line is shown.
        arguments: the command line; by default from the process.
        prog: command name in the usage; by default the name of the script.
    """
    parser = argparse.ArgumentParser(
        prog=prog or None,
        description=(description or "").split("\n")[0],
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    entries: tuple[Field[Any], ...] = fields(kind)  # type: ignore[arg-type]
    for entry in entries:
        flag, text, default = f"--{entry.name.replace('_', '-')}", entry.metadata["help"], entry.default
        assert default is not MISSING
        if default not in (None, "", False, ()):
            text += f" (default: {default})"
        text = text.replace("%", "%%")  # argparse reads % as a format
        if default is False:
            parser.add_argument(flag, action="store_true", help=text)
        elif isinstance(default, tuple):
            parser.add_argument(flag, nargs="+", action="extend", metavar="VALUE", help=text)
        else:
            parser.add_argument(flag, type=type(default), metavar=type(default).__name__.upper(), help=text)
    given = vars(parser.parse_args(arguments))
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if values.get("smoke"):
        quick = {entry.name: entry.metadata["smoke"] for entry in entries if entry.metadata["smoke"] is not None}
        values = {**quick, **values}
    return kind(**values)
