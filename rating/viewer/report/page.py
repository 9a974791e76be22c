"""The HTML page of the report, a pure function of the records of a run."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from typing import Any, TextIO

import jinja2
from markupsafe import Markup

from agents.records import encodable
from llmarena_envs.core.terminal import printable
from rating.store.records import Record
from rating.viewer.report.contents import Contents, contents_of
from rating.viewer.report.plots import Plot
from rating.viewer.report.replays import Replays
from rating.viewer.report.sections import Section, Tab
from rating.viewer.source import RunSource, Source

STYLES = ("colours.css", "page.css")
SCRIPTS = ("basics.js", "tables.js", "tabs.js")
"""Scripts of every page."""

MATCH_SCRIPTS = ("matches.js", "selection.js", "list.js", "turn.js", "match.js", "page.js")
"""Further scripts of a page with matches."""


@dataclass(frozen=True)
class Page:
    """A report ready to be written.

    Attributes:
        plots: figures of the report.
        write: writes the page to a file.
    """

    plots: Sequence[Plot]
    write: Callable[[TextIO], None]


ShowProgress = Callable[[int, int], None]
"""Shows how many matches of how many are written."""


def unshown(written: int, total: int) -> None:
    """Shows nothing."""


def page_of(source: Source, matches: Collection[str] | None = None, show: ShowProgress = unshown) -> Page:
    """Makes the report of a run or a log; only its matches are read when it is written.

    Args:
        source: of the results, open until the page is written.
        matches: ids of the matches to show, by default all.
        show: called while the page of a run is written.
    """
    contents = contents_of(source)
    replays = None
    if isinstance(source, RunSource):
        shown = (one for one in source.store.records() if matches is None or one.match.id in matches)
        total = sum(source.store.statuses().values()) if matches is None else len(matches)
        config = source.run.config
        turns = {item.name: config.turn_settings(item.name) for item in config.environment}
        replays = Replays(
            _counted(shown, total, show), contents.match_costs, source.state.all_rules(), turns, source.blames
        )
    plots = [plot for section in contents.sections for plot in section.plots]
    return Page(plots, partial(write_page, contents, replays))


def _counted(records: Iterable[Record], total: int, show: ShowProgress) -> Iterator[Record]:
    for number, record in enumerate(records):
        show(number, total)
        yield record


def write_page(contents: Contents, replays: Replays | None, file: TextIO) -> None:
    """Writes the report as one self-contained HTML page, one match at a time.

    The output is deterministic. Texts of models and users are escaped, or embedded as data that the script displays as
    plain text.

    Args:
        contents: contents of the page besides the matches.
        replays: the matches; ``None`` for log files.
        file: output file.

    Raises:
        RunError: if a record is damaged.
    """
    scripts = SCRIPTS if replays is None else (*SCRIPTS, "packed.js", *MATCH_SCRIPTS)
    bundle = resources.files("rating.viewer.report") / "bundle"
    script = Markup("\n".join((bundle / name).read_text(encoding="utf-8") for name in scripts))
    style = Markup("".join((bundle / name).read_text(encoding="utf-8") for name in STYLES))
    values = page_values(contents, has_matches=replays is not None)
    for piece in _template("report.html").generate(
        **values, replays=replays, script=script, style=style, nonce=_nonce(contents)
    ):
        file.write(piece)


def page_values(contents: Contents, *, has_matches: bool) -> dict[str, Any]:
    """Returns the values of the template ``page.html``."""
    tabs = _tabs(contents.sections, has_matches=has_matches)
    return {"contents": contents, "tabs": tabs, "has_matches": has_matches}


def render(template: str, **values: Any) -> str:
    """Renders a template of the bundle. Text is escaped unless it is ``Markup``."""
    return _template(template).render(**values)


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("rating.viewer.report", "bundle"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        finalize=_shown,
    )


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(name)


def _shown(value: object) -> object:
    """Returns untrusted text made safe for a page: printable, encodable, without characters that reorder lines."""
    return encodable(printable(value)) if type(value) is str else value


def _tabs(sections: Sequence[Section], *, has_matches: bool) -> list[tuple[Tab, list[Section]]]:
    """Returns the sections of each part of the page; the last part always stands."""
    found = [(tab, [section for section in sections if section.tab is tab]) for tab in Tab]
    always = {Tab.METHODS, Tab.MATCHES} if has_matches else {Tab.METHODS}
    return [(tab, own) for tab, own in found if own or tab in always]


def _nonce(contents: Contents) -> str:
    """Returns a script nonce (CSP) from a hash of the contents, unpredictable for authors of texts in the page."""
    known = (contents.title, contents.facts, [section.shown for section in contents.sections])
    return hashlib.sha256(repr(known).encode("utf-8", "replace")).hexdigest()[:24]
