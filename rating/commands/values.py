"""Parsers of command-line values, for ``type`` of ``argparse``."""

import argparse
import math
import re
from pathlib import Path


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
