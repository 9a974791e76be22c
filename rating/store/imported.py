"""Directories with imported results instead of a run."""

from pathlib import Path

MANIFEST = "import.json"
"""File that describes the import; written last."""


def is_import(path: Path) -> bool:
    """Returns whether a directory holds an import."""
    return (path / MANIFEST).is_file()


def only_results(path: Path) -> str:
    """Returns the message that an import cannot be used as a run."""
    return (
        f"{path}: expected the directory of a run, got an import: it holds results that others played, no matches to replay,"
        " verify or go on with; rate, report, agreement, compare and export --format battles read it"
    )
