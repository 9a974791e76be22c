"""Back-ups of a run in PostgreSQL, by PostgreSQL's own program."""

import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from agents.private_file import create_private
from rating.errors import RunError
from rating.records.postgres.address import Address
from rating.records.sql import Sql

_INSTALLED = Path("/usr/lib/postgresql")
"""Where Debian keeps the programs of every version."""


def back_up(address: Address, db: Sql, path: Path) -> None:
    """Writes a run into a file that ``pg_restore`` reads: there is all of it, or no file.

    Args:
        address: of the run.
        db: a connection to it.
        path: the file.

    Raises:
        RunError: if the file is there already, or there is no program that can do it.
    """
    if path.exists():
        raise RunError(f"{path}: expected a new file for the back-up, but it is there already")
    row = db.row("SELECT current_setting('server_version_num')")
    program = _find_program(int(row[0]) // 10_000 if row else 0)
    unfinished = path.with_name(f"{path.name}.new")
    arguments = ["--format=custom", "--no-password", f'--schema="{address.schema}"', f"--file={unfinished}"]
    try:
        unfinished.unlink(missing_ok=True)
        create_private(unfinished)
        done = subprocess.run(
            [program, *arguments, f"--dbname={address.url}"],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise RunError(f"{db.name}: it could not be backed up, so nothing was changed: {done.stderr.strip()}")
        unfinished.replace(path)
    except OSError as error:
        raise RunError(f"{db.name}: it could not be backed up, so nothing was changed: {error}") from error
    finally:
        with suppress(OSError):  # which says less than why there is no back-up
            unfinished.unlink(missing_ok=True)


def _find_program(server: int) -> Path:
    """Returns the newest ``pg_dump``.

    Args:
        server: version of the server, which older programs cannot read.

    Raises:
        RunError: if there is none of at least this version.
    """
    in_path = shutil.which("pg_dump")
    places = [*_INSTALLED.glob("*/bin/pg_dump"), *([Path(in_path)] if in_path else [])]
    version, program = max(((_version(place), place) for place in places), default=(0, None))
    if program is None or version < server:
        found = f"version {version}" if program else "none"
        raise RunError(
            f"a back-up needs pg_dump of version {server} or newer, got {found}: apt-get install postgresql-client-{server}"
        )
    return program


def _version(program: Path) -> int:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, errors="replace", check=False).stdout
    found = re.search(r"\(PostgreSQL\) (\d+)", said)
    return int(found[1]) if found else 0
