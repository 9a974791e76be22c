"""Export of a run as training data."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from llmarena_envs.core.options import check_choice
from rating.config.run_file import RunConfig
from rating.errors import RunError
from rating.play import run_directory
from rating.replacing import is_stream, replacing, replacing_text
from rating.store.state import Identity
from rating.store.store import Store
from rating.training.card import Card
from rating.training.deals import Deals
from rating.training.grpo import Grpo
from rating.training.json_lines import write_json_lines
from rating.training.parquet import Written, check_installed, write_shards
from rating.training.preference import Preference
from rating.training.selection import Selection, Tally, finished_records, parts
from rating.training.sft import Sft

CARD = "README.md"
SHARDS = "data"

Format = Sft | Preference | Grpo | Deals
FORMATS: Mapping[str, type[Format]] = {"sft": Sft, "preference": Preference, "grpo": Grpo, "deals": Deals}
"""Row format classes, by name."""


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

    def __init__(self, config: RunConfig, store: Store, format: Format, selection: Selection) -> None:
        identity = run_directory.read_identity(store)
        if selection.environment:
            check_choice("environment", selection.environment, [item.name for item in config.environment])
        for policy in selection.policies:
            check_choice("policy", policy, self._names(config, identity))
        self.tally = Tally()
        self._store = store
        self._format = format
        self._selection = selection
        self._settings = identity.turn_settings()
        self._people = run_directory.people(config, identity)

    @staticmethod
    def _names(config: RunConfig, identity: Identity) -> list[str]:
        """Returns the names of all past and present players and staff."""
        seated = [name for item in config.environment for name in config.seated(item.name)]
        return sorted({*identity.players, *[item.title for item in config.policy], *seated})

    def write_lines(self, file: TextIO) -> int:
        """Writes JSON lines and returns the number of rows."""
        return write_json_lines(self._rows(), self._format.columns, file)

    def write_data_set(self, path: Path) -> int:
        """Writes a directory of Parquet files with a card and returns the number of rows.

        Args:
            path: target directory; must be missing or empty. It appears once complete. Nothing is written without a row, since
                ``datasets`` cannot read an empty data set.

        Raises:
            RunError: if it is not empty.
            OptionError: if pyarrow is not installed.
        """
        check_installed()
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunError(f"{path}: expected a new or empty directory, but it holds something")
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = self._rows()
        first = next(rows, None)
        if first is None:
            return 0
        with replacing(path) as unfinished:
            (unfinished / SHARDS).mkdir(parents=True)
            written = write_shards(itertools.chain([first], rows), self._format.columns, unfinished / SHARDS)
            (unfinished / CARD).write_text(self._card(written).text(), encoding="utf-8", newline="\n")
        return written.rows

    def _rows(self) -> Iterator[dict[str, Any]]:
        records = self._store.records_as_far_as_possible()
        finished = finished_records(records, self._selection, self._people, self.tally)
        if isinstance(self._format, Deals):
            return self._format.rows(finished, self.tally)
        return self._format.rows(parts(finished, self._settings, self._selection, self.tally))

    def _card(self, written: Written) -> Card:
        state, played = run_directory.read_state(self._store), self.tally.environments
        name = next(name for name, kind in FORMATS.items() if isinstance(self._format, kind))
        asked = asdict(self._selection) | asdict(self._format)
        return Card(
            format=name,
            columns=self._format.columns,
            written=written,
            tally=self.tally,
            options={"format": name} | asked,
            run={
                "play digest of the run": self._store.digest(),
                "seal of the run": self._store.sealed or "none: it is under way, or was killed",
                "played with": _words(state.versions()),
                "exported with": _words(run_directory.versions()),
            },
            sources={environment: state.sources(environment) for environment in played},
            settings={environment: asdict(self._settings[environment]) for environment in played},
        )


def _words(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{package} {version}" for package, version in versions.items())


def write_file(export: Export, path: Path) -> int:
    """Writes a JSON lines file atomically and returns the number of rows.

    Pipes and devices are written directly.

    Raises:
        RunError: if the path is a directory, or its parent does not exist.
    """
    if path.is_dir():
        raise RunError(f"{path}: expected a file to write, but it is a directory; one is made with --parquet")
    if not is_stream(path) and not path.resolve().parent.is_dir():  # for a link, its target is replaced
        raise RunError(f"{path}: expected a directory to write the file in, but there is none")
    with replacing_text(path) as file:
        return export.write_lines(file)
