"""The command line."""

from rating.cli.app import main

__all__ = ["main"]
