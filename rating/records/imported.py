"""What marks a directory that holds imported results rather than a run."""

from pathlib import Path

MANIFEST = "import.json"
"""File that says what was imported; it is written last."""


def is_import(path: Path) -> bool:
    """Says whether a directory holds an import."""
    return (path / MANIFEST).is_file()


def only_results(path: Path) -> str:
    """Says why an import cannot be used as a run."""
    return (
        f"{path}: expected the directory of a run, got an import: it holds results that others played, no matches to replay,"
        " verify or go on with; rate, report, agreement, compare and export --format battles read it"
    )
