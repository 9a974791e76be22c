"""`llmarena serve-policy` on loopback, as a process of its own."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def running_policy(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Runs ``llmarena serve-policy`` at a free port; gives its base address, which ends in ``/v1``, and the process."""
    command = [sys.executable, "-m", "rating.cli", "serve-policy", *arguments, "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+/v1", line)
        if found is None:
            process.kill()
            raise RuntimeError(f"no address in {line!r}: {process.communicate(timeout=30)[1]}")
        yield found[0], process
    finally:
        process.kill()
        process.communicate(timeout=30)
