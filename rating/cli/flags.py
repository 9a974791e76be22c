"""Flags that several commands share, and readers of their values."""

import argparse
import math
import re
from pathlib import Path

DEFAULT_HOST = "127.0.0.1"
"""Default host of the pages: reachable from this machine only."""

DEFAULT_PORT = 8642
"""Default port of the pages."""


def add_web(parser: argparse.ArgumentParser) -> None:
    """Adds ``--web`` and the address of the pages."""
    parser.add_argument("--web", action="store_true", help="show pages in a browser, in which people play and watch")
    add_address(parser)


def add_address(parser: argparse.ArgumentParser) -> None:
    """Adds the address of the pages."""
    parser.add_argument(
        "--host", default=DEFAULT_HOST, help=f"address of the pages (default {DEFAULT_HOST}: this machine only)"
    )
    parser.add_argument(
        "--port",
        type=count,
        default=DEFAULT_PORT,
        help=f"port of the pages; 0 for any free one (default {DEFAULT_PORT})",
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """Adds the directory of a run."""
    parser.add_argument("dir", type=local_path, metavar="DIR", help="directory of the run")


def add_results(parser: argparse.ArgumentParser) -> None:
    """Adds the directory of a run or an import, and ``--trust``."""
    parser.add_argument("dir", type=local_path, metavar="DIR", help="directory of a run or an import")
    add_trust(parser)


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Adds ``--trust``: whether a command that only reads may import and open modules and files named by the run."""
    parser.add_argument(
        "--trust", action="store_true", help="import the environments and open the files that the run names"
    )


def add_wide(parser: argparse.ArgumentParser) -> None:
    """Adds ``--wide``."""
    parser.add_argument(
        "--wide",
        action="store_true",
        help="print all columns, not only those that one may quote, within 100 characters",
    )


def add_store(parser: argparse.ArgumentParser) -> None:
    """Adds ``--store``."""
    parser.add_argument(
        "--store",
        metavar="URL",
        help="keep the run in PostgreSQL: postgresql://USER@HOST:PORT/DATABASE, with ?run=NAME for another name than that of the"
        " directory; the password in PGPASSWORD or PGPASSFILE (default: a file in the directory)",
    )


def add_session(parser: argparse.ArgumentParser) -> None:
    """Adds the settings of a session."""
    parser.add_argument("--max-errors", type=count, metavar="N", help="failures of providers after which play stops")
    parser.add_argument(
        "--executor",
        choices=("auto", "asyncio", "process", "ray"),
        help="where matches are played, in place of what the run file says: this process, a pool of processes, or a Ray cluster"
        " (RAY_ADDRESS); does not affect results",
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="do not pause games whose first 30 matches are all tied, forfeited or void",
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument(
        "--max-cost",
        type=amount,
        metavar="AMOUNT",
        help="cost of all calls of the run at which play stops; needs prices",
    )
    parser.add_argument(
        "--max-tokens", type=count, metavar="N", help="tokens of all calls of the run at which play stops"
    )
    parser.add_argument(
        "--max-time", type=duration, metavar="TIME", help="time after which play stops: seconds, or as in 1h30m"
    )
    add_cache(parser)


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Adds the reply cache."""
    parser.add_argument(
        "--cache",
        type=local_path,
        metavar="DIR",
        help="directory in which replies of models are kept and looked for first",
    )
    parser.add_argument("--offline", action="store_true", help="ask no model: every reply comes from the cache")


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
        raise argparse.ArgumentTypeError(
            "expected a path of this machine, got an address; a run in PostgreSQL is named by its directory"
        )
    return Path(text)


def duration(text: str) -> float:
    """Reads seconds: ``90``, ``90s``, ``15m``, ``1h30m``."""
    parts = re.fullmatch(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,9})s?)?", text)
    seconds = (
        sum(int(part or 0) * unit for part, unit in zip(parts.groups(), (3600, 60, 1), strict=True)) if parts else 0
    )
    if not seconds:
        raise argparse.ArgumentTypeError(f"expected whole seconds from 1, or a time such as 1h30m, got {text!r}")
    return float(seconds)


def names(text: str) -> tuple[str, ...]:
    """Reads comma-separated names: ``length,format``."""
    found = tuple(name.strip() for name in text.split(","))
    if not all(found):
        raise argparse.ArgumentTypeError(f"expected names with commas between them, got {text!r:.80}")
    return found
