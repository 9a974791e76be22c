"""Files that only their owner can read."""

import os
from pathlib import Path


def create_private(path: Path) -> None:
    """Makes an empty file of mode 600; SQLite gives the files that it makes beside one the same mode.

    Raises:
        FileExistsError: if there is something already.
        OSError: if it cannot be made.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
