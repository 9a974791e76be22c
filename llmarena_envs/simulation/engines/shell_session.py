"""Runs inside the sandbox: a session at a terminal with bash.

The file is passed to the sandbox as text. The sandbox has its own folders, user, host name and process numbers, and only programs
that do not depend on the clock or the machine. Here the remaining sources of variation are fixed: environment variables, random
numbers and times in listings.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

HOME = "/home/user"
FIRST_FILES = {
    "/etc/passwd": f"user:x:1000:1000::{HOME}:/bin/bash\n",
    "/etc/group": "user:x:1000:\n",
    "/etc/hosts": "127.0.0.1 localhost\n10.0.0.5 printer\n",
    f"{HOME}/.profile": "editor=nano\n",
    f"{HOME}/notes.txt": "buy stamps\ncall the plumber\nBuy paint\nreturn the ladder\n",
    f"{HOME}/garden/beds.txt": "beans 12\nchard 7\npeas 12\nkale 30\nbeans 4\n",
    f"{HOME}/garden/log.txt": "monday rain\ntuesday sun\nwednesday sun\nthursday rain\nfriday sun\n",
}
ENVIRONMENT = {
    "HOME": HOME,
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "LOGNAME": "user",
    "PATH": "/usr/bin",
    "SHELL": "/bin/bash",
    "TERM": "linux",
    "TIME_STYLE": "+Jan  1 00:00",
    "TZ": "UTC",
    "USER": "user",
}
SETUP = """
PS1= PS2=
set +o history +H +m
unset HISTFILE BASHPID EPOCHREALTIME EPOCHSECONDS SECONDS SRANDOM
RANDOM=1
"""
NO_TERMINAL = re.compile(r"bash: \[[^\n]*\] tcsetattr: Inappropriate ioctl for device\n")
"""Message of an interactive bash without a terminal when a command is ended by a signal."""
COMMAND = ("/usr/bin/bash", "--noprofile", "--norc", "--noediting", "-i")


def script(requests: Sequence[str]) -> str:
    """Returns the input of bash: all requests, with output of the last one only."""
    *earlier, last = (f"eval {shlex.quote(request)} </dev/null\n" for request in requests)
    before = "".join(f"{each}wait\n" for each in earlier)
    return f"exec 9>&1 >/dev/null 2>&1{SETUP}{before}exec >&9 2>&1 9>&-\n{last}{{ wait; exit; }} 2>/dev/null\n"


def run_session(requests: Sequence[str], room: int) -> str:
    """Runs the requests in one shell; returns the output of the last one, cut after ``room + 1`` characters."""
    for path, text in FIRST_FILES.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    with os.fdopen(os.memfd_create("session"), "w+b") as commands:
        commands.write(script(requests).encode())
        commands.seek(0)
        shell = subprocess.Popen(
            COMMAND, stdin=commands, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=HOME, env=ENVIRONMENT
        )
    assert shell.stdout is not None
    output = read_output(shell, shell.stdout.fileno(), 4 * (room + 1)).decode("utf-8", "replace")
    return NO_TERMINAL.sub("", output)[: room + 1]


def read_output(shell: subprocess.Popen[bytes], descriptor: int, size: int) -> bytes:
    """Returns the first ``size`` bytes of the output until the shell ends, whether or not background processes remain."""
    output = b""
    while True:
        ended = shell.poll() is not None
        if select.select([descriptor], [], [], 0.0 if ended else 0.01)[0]:
            data = os.read(descriptor, 2**16)
            output += data[: size - len(output)]
            if not data:
                return output
        elif ended:
            return output
