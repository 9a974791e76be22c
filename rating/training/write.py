"""Files of training data: JSON lines, or Parquet with a dataset card."""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from llmarena_envs.core.options import check_choice
from rating.config.run_file import RunConfig
from rating.errors import RunError
from rating.play import run_directory
from rating.replacing import is_stream, replacing, replacing_text
from rating.training.conversations import Selection, Tally, finished_records, played_seats
from rating.training.rows import FORMATS, Columns, Deals, Format, Row

if TYPE_CHECKING:
    from rating.store.store import Store


ROW_GROUP = 200
"""Rows of a Parquet row group, written together."""

_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x7f\x85\u2028\u2029"}
"""Unicode line ends that some readers split at, and the control character that JSON does not escape."""
_LANGUAGE = re.compile("[a-z]{2,3}")
_PLAIN = re.compile(r"[\w .,:;=/+()-]", re.ASCII)
"""Characters without a meaning in Markdown, anywhere in a line."""


class Export:
    """The training rows of a run; the same run gives the same bytes.

    Args:
        config: the run.
        store: the run's database.
        format: the row format.
        selection: the matches and seats to export.

    Attributes:
        tally: matches used and left out; complete once rows were written.

    Raises:
        OptionError: if the run has no such environment or policy.
        RunError: if the database of the run is damaged as a whole.
    """

    def __init__(self, config: RunConfig, store: "Store", format: Format, selection: Selection) -> None:
        if selection.environment:
            check_choice("environment", selection.environment, [item.name for item in config.environment])
        identity = run_directory.read_identity(store)
        seated = [name for item in config.environment for name in config.seated(item.name)]
        policies = sorted({*identity.players, *[item.title for item in config.policy], *seated})
        for policy in selection.policies:
            check_choice("policy", policy, policies)
        self.tally = Tally()
        self._store = store
        self._format = format
        self._selection = selection
        self._settings = identity.turn_settings()
        self._people = run_directory.people(config, identity)

    def rows(self) -> Iterator[Row]:
        """Yields the rows, and counts the matches in ``tally``."""
        records = self._store.records_as_far_as_possible()
        finished = finished_records(records, self._selection, self._people, self.tally)
        if isinstance(self._format, Deals):
            return self._format.rows(finished, self.tally)
        return self._format.rows(played_seats(finished, self._settings, self._selection, self.tally))

    def write_file(self, path: Path) -> int:
        """Writes a JSON lines file atomically, and returns the number of rows.

        Pipes and devices are written directly.

        Raises:
            RunError: if the path is a directory, or its parent does not exist.
        """
        if path.is_dir():
            raise RunError(f"{path}: expected a file to write, but it is a directory; --parquet writes a directory")
        if not is_stream(path) and not path.resolve().parent.is_dir():  # for a link, its target is replaced
            raise RunError(f"{path}: expected an existing directory to write the file in")
        with replacing_text(path) as file:
            return write_json_lines(self.rows(), file)

    def write_data_set(self, path: Path) -> int:
        """Writes a directory with a Parquet file and a dataset card, and returns the number of rows.

        Without a row nothing is written, since ``datasets`` cannot read an empty data set. Needs the extra ``parquet``.

        Args:
            path: target directory; must be missing or empty. It appears once complete.

        Raises:
            RunError: if it is not empty.
        """
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunError(f"{path}: expected a new or empty directory, but it is not empty")
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = self.rows()
        first = next(rows, None)
        if first is None:
            return 0
        with replacing(path) as unfinished:
            (unfinished / "data").mkdir(parents=True)
            rows = itertools.chain([first], rows)
            written = write_parquet(rows, self._format.columns, unfinished / "data" / "train.parquet")
            (unfinished / "README.md").write_text(self._card(written), encoding="utf-8", newline="\n")
        return written

    def _card(self, rows: int) -> str:
        state, played = run_directory.read_state(self._store), self.tally.environments
        name = next(name for name, kind in FORMATS.items() if isinstance(self._format, kind))
        options = {"format": name} | asdict(self._selection) | asdict(self._format)
        origin = {
            **{option: json.dumps(value, ensure_ascii=False) for option, value in options.items()},
            "play digest of the run": self._store.digest(),
            "seal of the run": self._store.sealed or "none: the run is not finished",
            "played with": _versions(state.versions()),
            "exported with": _versions(run_directory.versions()),
        }
        settings = {environment: asdict(self._settings[environment]) for environment in played}
        sources = {environment: state.sources(environment) for environment in played}
        return card(name, rows, self.tally, origin, settings, sources)


def _versions(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{package} {version}" for package, version in versions.items())


def write_json_lines(rows: Iterable[Row], file: TextIO) -> int:
    """Writes one JSON object per line and returns the number of rows."""
    written = 0
    for row in rows:
        file.write(json.dumps(row, ensure_ascii=False).translate(_LINE_ENDS) + "\n")
        written += 1
    return written


def write_parquet(rows: Iterator[Row], columns: Columns, path: Path) -> int:
    """Writes a Parquet file and returns the number of rows; needs the extra ``parquet``."""
    import pyarrow
    import pyarrow.parquet

    def arrow_type(kind: Any) -> Any:
        if isinstance(kind, list):
            return pyarrow.list_(arrow_type(kind[0]))
        if isinstance(kind, dict):
            return pyarrow.struct([(name, arrow_type(of)) for name, of in kind.items()])
        return getattr(pyarrow, {"bool": "bool_"}.get(kind, kind))()

    schema = pyarrow.schema([(name, arrow_type(kind)) for name, kind in columns.items()])
    written = 0
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(itertools.islice(rows, ROW_GROUP)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema))
            written += len(group)
    return written


def card(
    format: str,
    rows: int,
    tally: Tally,
    origin: Mapping[str, str],
    settings: Mapping[str, Mapping[str, Any]],
    sources: Mapping[str, Mapping[str, str]],
) -> str:
    """Returns a dataset card: front matter in YAML (as JSON values) for ``datasets`` and the Hugging Face hub, and Markdown.

    Args:
        format: name of the format.
        rows: number of rows.
        tally: matches used and left out.
        origin: export options and facts of the run, by name.
        settings: invalid-reply policy by environment.
        sources: data sources by environment: version and licence by name.
    """
    front = {
        "pretty_name": f"Matches of llmarena-envs ({format})",
        "license": "other",
        "language": sorted(filter(_LANGUAGE.fullmatch, tally.languages)),
        "task_categories": ["text-generation"],
        "tags": ["llmarena-envs", "conversational", format],
        "configs": [{"config_name": format, "data_files": [{"split": "train", "path": "data/train.parquet"}]}],
    }
    policies = [
        (environment, ", ".join(f"{name} = {json.dumps(value)}" for name, value in table.items()))
        for environment, table in settings.items()
    ]
    used = [(environment, *source) for environment, table in sources.items() for source in table.items()]
    checked = "" if format == "deals" else "Each match was replayed and did not differ from its record."
    return "\n".join(
        [
            *["---", *(f"{name}: {json.dumps(value)}" for name, value in front.items()), "---", ""],
            f"# {rows} rows for training ({format})\n",
            "Written by `llmarena export` from the recorded matches of a run; `docs/training_reference.md` of llmarena-envs",
            f"describes the columns. {checked}".rstrip(),
            *_table("Origin", ("name", "value"), origin.items()),
            *_table("Matches", ("environment", "matches"), tally.environments.items()),
            *_table("Left out", ("reason", "matches"), sorted(tally.left_out.items())),
            *_table("Policies", ("policy", "seats"), sorted(tally.policies.items())),
            *_table("Invalid-reply policy", ("environment", "settings"), policies),
            *_table("Data and tools in the prompts", ("environment", "source", "version, licence"), used),
            "\n## Licence\n",
            "Rules and prompts are texts of llmarena-envs (Apache-2.0), and of the sources above if there are any.",
            "Replies of a model may be subject to the terms of its provider; some do not allow training on them.\n",
        ]
    )


def _table(title: str, header: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Returns the lines of a section with a table; none without rows."""
    lines = [f"| {' | '.join(escaped(str(cell)) for cell in row)} |" for row in rows]
    return [f"\n## {title}\n", f"| {' | '.join(header)} |", "|" + "---|" * len(header), *lines] if lines else []


def escaped(text: str) -> str:
    """Returns a text on one line, with Markdown and HTML markup escaped."""
    line = " ".join(text.split())
    return "".join(
        letter if _PLAIN.match(letter) or (ord(letter) > 0xFF and letter.isalnum()) else f"&#{ord(letter)};"
        for letter in line
    )
