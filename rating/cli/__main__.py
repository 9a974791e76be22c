"""Runs the command line: ``python -m rating.cli``."""

import sys

from rating.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
