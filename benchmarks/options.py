"""Options of a script: one dataclass, from which its command line is made."""

import argparse
from collections.abc import Sequence
from dataclasses import MISSING, field, fields
from typing import Any, TypeVar

Options = TypeVar("Options")


def option(default: Any, text: str) -> Any:
    """Declares a field of an options dataclass with its default and what the command line's help says about it."""
    return field(default=default, metadata={"help": text})


def parse(kind: type[Options], description: str | None, arguments: Sequence[str] | None = None) -> Options:
    """Reads options from a command line: ``--name value``, a bare ``--name`` for flags, several values for tuples.

    Args:
        kind: a dataclass whose fields are declared with ``option``; a tuple holds texts.
        description: what the script does; the first line is shown.
        arguments: the command line; that of the process if left out.
    """
    parser = argparse.ArgumentParser(
        description=(description or "").split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    for entry in fields(kind):  # type: ignore[arg-type]
        flag, text = f"--{entry.name.replace('_', '-')}", entry.metadata["help"]
        assert entry.default is not MISSING
        if entry.default is False:
            parser.add_argument(flag, action="store_true", help=text)
        elif isinstance(entry.default, tuple):
            parser.add_argument(flag, nargs="+", default=entry.default, help=text)
        else:
            parser.add_argument(flag, type=type(entry.default), default=entry.default, help=text)
    values = vars(parser.parse_args(arguments))
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
