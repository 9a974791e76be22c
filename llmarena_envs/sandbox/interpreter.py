"""The Python that runs programs, and the files that it needs."""

import sys
import sysconfig
from pathlib import Path

ARGUMENTS = ("-s", "-P", "-S")
"""No packages of the user's or the site's, nothing from the working directory."""

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
"""The whole environment of a run: the same order of sets, encoding and time zone everywhere."""


def executable() -> str:
    """Returns the interpreter itself, without the links of a virtual environment."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


def readable_files() -> list[str]:
    """Returns what the interpreter reads: itself, its own folder of libraries, shared libraries, time zones."""
    wanted = [
        executable(),
        sysconfig.get_path("stdlib"),
        f"{sys.base_prefix}/lib",  # where a Python of one's own keeps its shared libraries
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/etc/ld.so.cache",
        "/usr/share/zoneinfo",
    ]
    return [path for path in dict.fromkeys(wanted) if Path(path).exists()]
