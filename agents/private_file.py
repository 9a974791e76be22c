"""Files readable only by their owner."""

import os
from pathlib import Path


def create_private(path: Path) -> None:
    """Creates an empty file with mode 600; SQLite uses the same mode for its auxiliary files.

    Raises:
        FileExistsError: if the path exists.
        OSError: if it cannot be created.
    """
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
