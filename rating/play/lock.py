"""The lock of a run's directory: one process plays a run."""

import sys
from pathlib import Path
from typing import IO

from rating.errors import RunError

LOCK = "run.lock"
"""Name of the locked file; its content has no meaning."""

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[str]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: IO[str]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Lock:
    """Keeps a second process from playing the same run while entered; the system releases it when the process ends.

    Args:
        path: directory of the run.

    Raises:
        RunError: if another process holds it.
    """

    def __init__(self, path: Path) -> None:
        self._file = (path / LOCK).open("w", encoding="utf-8")
        try:
            _take(self._file)
        except (BlockingIOError, PermissionError):  # on Linux and macOS, and on Windows
            self._file.close()
            raise RunError(f"{path}: another process is playing this run; wait for it or stop it") from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
