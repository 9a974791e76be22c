"""The source of the site: the pages of the repository, generated pages, and the configuration."""

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from site_builder.games import add_games

DOCS = Path(__file__).parents[1]
CONFIGURATION = Path(__file__).parent / "zensical.toml"
_WIDE = "---\nhide: [toc]\n---\n\n"
"""What gives a page the room of its table of contents."""

_COPIED = frozenset({".md", ".svg", ".png", ".css"})


def assemble(project: Path) -> None:
    """Writes the source of the site: ``project/zensical.toml`` and the pages in ``project/docs``.

    Args:
        project: an empty folder.

    Raises:
        ValueError: if a page is missing in the navigation, or the navigation names a missing page.
    """
    pages = project / "docs"
    for file in sorted(DOCS.rglob("*")):
        if file.suffix in _COPIED:
            target = pages / file.relative_to(DOCS)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
    for page in sorted(pages.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if text.startswith("## "):
            # A row of a paper: part of a longer page where it is made, of wide tables without headings.
            page.write_text(_WIDE + text.removeprefix("#"), encoding="utf-8", newline="\n")
    check_navigation(pages)
    add_games(pages)
    shutil.copyfile(CONFIGURATION, project / CONFIGURATION.name)


def check_navigation(pages: Path) -> None:
    """Checks that the navigation names every page once, and no other.

    Args:
        pages: folder of the pages.

    Raises:
        ValueError: if it does not.
    """
    configuration = tomllib.loads(CONFIGURATION.read_text(encoding="utf-8"))
    named = sorted(navigated(configuration["project"]["nav"]))
    there = sorted(path.relative_to(pages).as_posix() for path in pages.rglob("*.md"))
    if named != there:
        raise ValueError(
            f"{CONFIGURATION.name}, nav: expected every page once; missing: {sorted({*there} - {*named})},"
            f" unknown: {sorted({*named} - {*there})}, twice: {sorted({each for each in named if named.count(each) > 1})}"
        )


def navigated(entries: list[Any]) -> Iterator[str]:
    """Returns the pages that a navigation names."""
    for entry in entries:
        for target in [entry] if isinstance(entry, str) else entry.values():
            if isinstance(target, str):
                yield target
            else:
                yield from navigated(target)
