"""Addresses of the pages of a run: each has a random part, which whoever may see the page is told."""

import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agents.private_file import create_private
from rating.running.run_directory import LINKS

_SECRET_BYTES = 24


@dataclass(frozen=True)
class Links:
    """The secret parts of the addresses of a run.

    Attributes:
        board: of the board.
        people: of the pages of each person, by name.
    """

    board: str
    people: dict[str, str]

    def person(self, secret: str) -> str | None:
        """Returns the name of the person whose page has a secret, or ``None``; it takes the same time for every wrong one."""
        found = None
        for name, own in self.people.items():
            if secrets.compare_digest(own.encode(), secret.encode()):
                found = name
        return found


def keep_links(directory: Path, people: Sequence[str]) -> Links:
    """Returns the links of a run; they stay the same, so that an open page finds a server again that was started anew.

    They are kept in a file of the run that only its owner can read.

    Args:
        directory: of the run.
        people: names of those who play in a browser.
    """
    known = _read(directory / LINKS)
    links = Links(
        known.board or _secret(), {**known.people, **{name: known.people.get(name) or _secret() for name in people}}
    )
    if links != known:
        with suppress(OSError):  # where nothing may be written they hold for this process
            _write(directory / LINKS, links)
    return links


def _secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def _read(path: Path) -> Links:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Links(str(found["board"]), {str(name): str(secret) for name, secret in found["people"].items()})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # none yet, or nothing that can be used
        return Links("", {})


def _write(path: Path, links: Links) -> None:
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    create_private(unfinished)
    unfinished.write_text(json.dumps({"board": links.board, "people": links.people}), encoding="utf-8")
    unfinished.replace(path)
