"""``llmarena new`` and ``init``: write the Python file of a new environment, or a run file, both complete, to edit."""

import argparse
import re
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from llmarena_envs.catalogue import NAMES
from llmarena_envs.core.options import OptionError
from rating.cli import flags

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    parser.add_argument("name", metavar="NAME", help="name of the game, e.g. nim for nim.py")


def main(args: argparse.Namespace) -> None:
    """Writes ``<name>.py`` into the current directory."""
    file = Path(f"{args.name}.py")
    _check(args.name, file)
    with file.open("x", encoding="utf-8") as new:
        new.write(source(args.name))
    print(f"{file}: the game Nim; replace its rules and texts by your own")
    print(f"  check it: llmarena check {file}")
    print(f"  play it:  llmarena play {file}")
    print(
        f"  rate it:  llmarena run --env {args.name} --policy random --policy mcts --max-matches 30 --out runs/{args.name}"
    )


def add_init_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments of ``init``."""
    parser.add_argument(
        "file", nargs="?", type=flags.local_path, default=Path("run.toml"), metavar="FILE", help="run file"
    )


def init(args: argparse.Namespace) -> None:
    """Writes a run file with comments."""
    if args.file.exists():
        raise OptionError(f"{args.file} already exists; choose another name, or remove it")
    text = (resources.files("rating.cli") / "example_run.toml").read_text(encoding="utf-8")
    args.file.write_text(text.replace("run.toml", str(args.file), 1), encoding="utf-8")
    print(f"{args.file}: two games, two scripted policies; edit it")
    print(f"  forecast it: llmarena run {args.file} --dry-run")
    print(f"  play it:     llmarena run {args.file} --out runs/first")


def source(name: str) -> str:
    """Returns the example game under another name."""
    text = (resources.files("llmarena_envs") / "example_game.py").read_text(encoding="utf-8")
    return text.replace("Nim", "".join(map(str.capitalize, name.split("_")))).replace("nim_v0", f"{name}_v0")


def _check(name: str, file: Path) -> None:
    """Raises an ``OptionError`` unless the file is new and can be imported by its name."""
    if not _NAME.fullmatch(name):
        raise OptionError(f"name: expected small letters, digits and _, e.g. nim, got {name!r}")
    if file.exists():
        raise OptionError(f"{file} already exists; choose another name, or remove it")
    if name in NAMES or find_spec(name) is not None:
        raise OptionError(f"name: {name!r} is the name of an installed module; choose another one, e.g. my_{name}")
