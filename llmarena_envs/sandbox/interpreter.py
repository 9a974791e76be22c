"""The Python interpreter of programs, and its files."""

import sys
import sysconfig
from functools import cache
from pathlib import Path

ARGUMENTS = ("-s", "-P", "-S")
"""No user or site packages, no imports from the working directory."""

ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUTF8": "1",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
"""All environment variables of a run: fixed hash seed, encoding and time zone."""


def executable() -> str:
    """Returns the resolved path of the interpreter, outside a virtual environment."""
    return str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())


@cache
def readable_files() -> tuple[str, ...]:
    """Returns the files and folders of the interpreter: executable, standard library, shared libraries, time zones."""
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    wanted = [
        executable(),
        sysconfig.get_path("stdlib"),
        *map(str, sorted(Path(sys.base_prefix, "lib").glob("lib*.so*"))),
        *(f"{folder}/{multiarch}" if Path(folder, multiarch).is_dir() else folder for folder in ("/lib", "/usr/lib")),
        "/lib64",
        "/usr/lib64",
        "/etc/ld.so.cache",
        "/usr/share/zoneinfo",
    ]
    return tuple(path for path in dict.fromkeys(wanted) if Path(path).exists())


@cache
def hidden_folders() -> tuple[str, ...]:
    """Returns the package folders inside ``readable_files``; this package can be in one of them, with solutions of tasks."""
    names = ("site-packages", "dist-packages")
    found = [
        folder
        for path in readable_files()
        for name in names
        for folder in (*Path(path).glob(name), *Path(path).glob(f"python*/{name}"))
    ]
    return tuple(dict.fromkeys(str(path) for folder in found for path in (folder, folder.resolve())))
