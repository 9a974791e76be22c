"""Flags of several commands: their arguments, values and optional packages."""

import argparse
import importlib
import math
import re
from pathlib import Path

from llmarena_envs.core.options import OptionError

DEFAULT_HOST = "127.0.0.1"
"""Default host of the web pages: reachable only from this machine."""

DEFAULT_PORT = 8642
"""Default port of the web pages."""


def add_run(parser: argparse.ArgumentParser) -> None:
    """Adds the directory of a run."""
    parser.add_argument("dir", type=local_path, metavar="DIR", help="run directory")


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Adds ``--trust``: whether a command may import modules and open files named by the run."""
    parser.add_argument("--trust", action="store_true", help="import the modules and open the files named by the run")


def add_detail(parser: argparse.ArgumentParser) -> None:
    """Adds ``--explain`` and ``--wide``."""
    chosen = parser.add_mutually_exclusive_group()
    for flag, detail, what in (
        ("--explain", "explained", "print the definitions and facts below each table, and the costs"),
        ("--wide", "wide", "print all columns as well, not only those that fit 100 characters"),
    ):
        chosen.add_argument(flag, dest="detail", action="store_const", const=detail, default="brief", help=what)


def add_option(parser: argparse.ArgumentParser) -> None:
    """Adds ``--option`` for the options of an environment."""
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="environment option, e.g. language=zh; repeatable",
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    """Adds ``--store``."""
    parser.add_argument(
        "--store",
        metavar="URL",
        help="store the run in PostgreSQL: postgresql://USER@HOST:PORT/DATABASE, with ?run=NAME if not named after the directory;"
        " password in PGPASSWORD or PGPASSFILE (default: an SQLite file in the directory)",
    )


def add_session(parser: argparse.ArgumentParser) -> None:
    """Adds the settings of a session: limits, executor, cache and web pages."""
    parser.add_argument("--max-errors", type=count, metavar="N", help="stop after this many provider failures")
    parser.add_argument(
        "--max-cost",
        "--budget",
        type=amount,
        metavar="AMOUNT",
        help="stop at this total cost of the run; requires prices",
    )
    parser.add_argument("--max-tokens", type=count, metavar="N", help="stop at this total number of tokens of the run")
    parser.add_argument(
        "--max-time", type=duration, metavar="TIME", help="stop after this time, in seconds or as in 1h30m"
    )
    parser.add_argument(
        "--executor",
        choices=("auto", "asyncio", "process", "ray"),
        help="executor in place of the run file's: this process, a process pool, or a Ray cluster (RAY_ADDRESS); does not affect"
        " results",
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="do not pause games whose first 30 matches are all tied, forfeited or void",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_cache(parser)
    add_web(parser)


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Adds the reply cache."""
    parser.add_argument("--cache", type=local_path, metavar="DIR", help="directory of the reply cache")
    parser.add_argument("--offline", action="store_true", help="use only cached replies; call no model")


def add_web(parser: argparse.ArgumentParser, *, any_port: bool = False) -> None:
    """Adds ``--web`` and the address of the web pages; see ``add_address``."""
    parser.add_argument("--web", action="store_true", help="serve web pages to play and watch in a browser")
    add_address(parser, any_port=any_port)


def add_address(parser: argparse.ArgumentParser, *, any_port: bool = False) -> None:
    """Adds the address of the web pages.

    Args:
        parser: parser of the command.
        any_port: whether the default is any free port if the default port is taken; it is then ``None``.
    """
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help=f"host of the web pages (default {DEFAULT_HOST}: this machine only)"
    )
    parser.add_argument(
        "--port",
        type=count,
        default=None if any_port else DEFAULT_PORT,
        help=f"port of the web pages; 0 for any free port (default {DEFAULT_PORT}{', or a free one' if any_port else ''})",
    )


def count(text: str) -> int:
    """Reads a whole number of 0 or more."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a number of 0 or more, got {text}")
    return value


def positive(text: str) -> int:
    """Reads a whole number of 1 or more."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, got {text}")
    return value


def amount(text: str) -> float:
    """Reads a finite number above 0."""
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return value


def finite(text: str) -> float:
    """Reads a finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a finite number, got {text}")
    return value


def local_path(text: str) -> Path:
    """Reads the path of a file or directory. The error never repeats a URL, which can contain a password."""
    if "://" in text:
        raise argparse.ArgumentTypeError("expected a local path, got a URL: name a run in PostgreSQL by its directory")
    return Path(text)


def duration(text: str) -> int:
    """Reads whole seconds: ``90``, ``90s``, ``15m``, ``1h30m``."""
    parts = re.fullmatch(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s?)?", text)
    seconds = (
        sum(int(part or 0) * unit for part, unit in zip(parts.groups(), (3600, 60, 1), strict=True)) if parts else 0
    )
    if not seconds:
        raise argparse.ArgumentTypeError(f"expected whole seconds from 1, or a time such as 1h30m, got {text!r}")
    return seconds


def names(text: str) -> tuple[str, ...]:
    """Reads comma-separated names: ``length,format``."""
    found = tuple(name.strip() for name in text.split(","))
    if not all(found):
        raise argparse.ArgumentTypeError(f"expected names separated by commas, got {text!r:.80}")
    return found


def check_extra(feature: str, extra: str, *packages: str) -> None:
    """Checks that optional packages are installed.

    Args:
        feature: beginning of the error message, e.g. ``web pages need``.
        extra: extra that installs the packages.
        packages: import names of the packages.

    Raises:
        OptionError: if a package is missing; the message says how to install it.
    """
    for package in packages:
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            raise OptionError(
                f"{feature} {error.name!r}, which is not installed: pip install 'llmarena-envs[{extra}]'"
            ) from error
