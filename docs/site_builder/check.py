"""What must hold of the site that was built: links that lead somewhere, a title on every page, and nothing from outside."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_LOADED = frozenset(
    {("script", "src"), ("link", "href"), ("img", "src"), ("img", "srcset"), ("source", "src"), ("source", "srcset")}
    | {("iframe", "src"), ("embed", "src"), ("object", "data"), ("video", "src"), ("audio", "src"), ("use", "href")}
    | {("video", "poster"), ("image", "href"), ("input", "src"), ("track", "src"), ("form", "action")}
)
"""Attributes whose address a browser asks for by itself, or that a form sends to."""

_FETCHED_BY_SCRIPTS = frozenset({"mermaid", "glightbox"})
"""Classes that make the scripts of the theme load external resources."""

_IN_STYLES = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")
_ELSEWHERE = frozenset({"mailto", "data"})


class Reference(NamedTuple):
    """An address in a page.

    Attributes:
        address: as it is written.
        is_loaded: whether a browser asks for it by itself.
    """

    address: str
    is_loaded: bool


class _Page(HTMLParser):
    """The parts of a page that are checked."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title = ""
        self.anchors: set[str] = set()
        self.references: list[Reference] = []
        self.classes: set[str] = set()
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open = tag
        for name, value in attrs:
            if not value:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name == "class":
                self.classes.update(value.split())
            elif name == "style":
                self.references += [Reference(address, True) for address in _IN_STYLES.findall(value)]
            elif name == "href" or (tag, name) in _LOADED:
                loaded = (tag, name) in _LOADED and not (tag == "link" and ("rel", "canonical") in attrs)
                self.references.append(Reference(value.split()[0] if name == "srcset" else value, loaded))

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open == "title":
            self.title += data.strip()
        elif self._open == "style":
            self.references += [Reference(address, True) for address in _IN_STYLES.findall(data)]


def problems(site: Path) -> list[str]:
    """Returns the problems of a site, a line each, in the order of its files."""
    site = site.resolve()
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else [f"{site}: expected pages, got none"]
    for path, page in pages.items():
        where = path.relative_to(site)
        if not page.title:
            found.append(f"{where}: expected a title, got none")
        found += [
            f"{where}: class {name!r} makes the theme load something"
            for name in sorted(page.classes & _FETCHED_BY_SCRIPTS)
        ]
        for reference in page.references:
            found += [f"{where}: {problem}" for problem in _wrong(reference, path, site, pages)]
    for path in sorted(site.rglob("*.css")):
        for address in _IN_STYLES.findall(path.read_text(encoding="utf-8")):
            reference = Reference(address, True)
            found += [f"{path.relative_to(site)}: {problem}" for problem in _wrong(reference, path, site, pages)]
    return found


def _wrong(reference: Reference, path: Path, site: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    """Returns the problem of an address in a file of the site."""
    parts = urlsplit(reference.address)
    if parts.scheme in _ELSEWHERE:
        return
    if parts.scheme or parts.netloc:
        if reference.is_loaded:
            yield f"asks for {reference.address}, which is outside"
        return
    base = site if parts.path.startswith("/") else path.parent
    target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site) or not target.is_file():
        yield f"{reference.address} leads nowhere"
    elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        yield f"{reference.address}: no such anchor"
