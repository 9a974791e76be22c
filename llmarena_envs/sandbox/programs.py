"""The programs of a shell: bash, coreutils, grep, sed and findutils."""

import shutil
from collections.abc import Mapping
from functools import cache

from llmarena_envs.sandbox.protocol import SandboxError

PROGRAMS = tuple(
    """
    bash [ base32 base64 basename cat chmod cksum comm cp csplit cut dirname echo env expand expr factor false
    find fmt fold grep head id join ln ls md5sum mkdir mv nl numfmt od paste printenv printf pwd readlink realpath
    rm rmdir sed seq sha1sum sha256sum sleep sort split sum tac tail tee test touch tr true truncate tsort
    unexpand uniq wc whoami xargs yes
    """.split()
)
"""Programs whose output depends on their input only; so none that shows the clock, the machine or random numbers."""


@cache
def program_files() -> Mapping[str, str]:
    """Returns the path of each of ``PROGRAMS`` on this machine.

    Raises:
        SandboxError: if some are not installed.
    """
    found = {name: shutil.which(name, path="/usr/bin:/bin") for name in PROGRAMS}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise SandboxError(
            f"programs of the shell are not installed: {', '.join(missing)}; "
            "apt-get install bash coreutils grep sed findutils"
        )
    return {name: path for name, path in found.items() if path is not None}
