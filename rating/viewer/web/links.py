"""Secret addresses of the pages of a run."""

import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agents.private_file import create_private
from rating.play.run_directory import LINKS

_SECRET_BYTES = 24


@dataclass(frozen=True)
class Links:
    """Secret parts of the addresses of a run.

    Attributes:
        board: secret of the board.
        people: secrets of the human players, by name.
    """

    board: str
    people: dict[str, str]

    def person(self, secret: str) -> str | None:
        """Returns the name of the person with a secret, or ``None``. Runs in constant time for wrong secrets."""
        found = None
        for name, own in self.people.items():
            if secrets.compare_digest(own.encode(), secret.encode()):
                found = name
        return found


def keep_links(directory: Path, people: Sequence[str]) -> Links:
    """Returns the links of a run, and saves new ones: open pages reconnect after a server restart.

    They are saved in the run directory, in a file that only its owner can read.

    Args:
        directory: run directory.
        people: names of the people who play in a browser.
    """
    known = _read(directory / LINKS)
    links = Links(
        known.board or _secret(), {**known.people, **{name: known.people.get(name) or _secret() for name in people}}
    )
    if links != known:
        with suppress(OSError):  # read-only directory: the links are valid for this process only
            _write(directory / LINKS, links)
    return links


def copy_links(source: Path, directory: Path) -> None:
    """Gives a new run the addresses of an earlier one, whose pages stay open."""
    links = _read(source / LINKS)
    if links.board:  # else they could not be saved
        _write(directory / LINKS, links)


def _secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def _read(path: Path) -> Links:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Links(str(found["board"]), {str(name): str(secret) for name, secret in found["people"].items()})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # missing or invalid file
        return Links("", {})


def _write(path: Path, links: Links) -> None:
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    create_private(unfinished)
    unfinished.write_text(json.dumps({"board": links.board, "people": links.people}), encoding="utf-8")
    unfinished.replace(path)
