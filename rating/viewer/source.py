"""Sources of results to rate, compare and report, with one interface: a run, an import, or a log file."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.config.run_file import RunConfig
from rating.judgements import Judgement, declared_verdicts, judgements_of
from rating.play import run_directory
from rating.play.contests import make_leaderboards, make_scheme
from rating.readers.directory import load_battles, load_judgements, read_manifest
from rating.readers.formats import AUTO, read_environments
from rating.readers.played import battles_of
from rating.schemes.battles import battle_leaderboard
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary, summarise, summarise_comparisons
from rating.stats.bradley_terry import Comparisons, standings
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import Battle, finished
from rating.stats.style import StyleControl, style_control
from rating.store.imported import is_import
from rating.store.records import Outcome
from rating.store.store import Store
from rating.viewer.report.costs import Costs, Spending, costs

if TYPE_CHECKING:
    from rating.viewer.report.page import Page

_STYLE = "style, conv_metadata, conversation_a and conversation_b, response_a and response_b, or words_a and words_b"
"""Columns that hold style (``rating.readers.style``)."""


class Source(ABC):
    """Results of policies in one or more environments; a context manager.

    Attributes:
        title: display name.
        seated: whether the first policy of a battle had the first seat or was shown first.
    """

    title: str
    seated: bool

    def __enter__(self) -> "Source":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Releases resources."""

    @abstractmethod
    def environments(self) -> tuple[str, ...]:
        """Returns the names of the environments with a result."""

    @abstractmethod
    def named_battles(self, environment: str) -> Iterator[tuple[str, Battle]]:
        """Yields the results of an environment, each with its match id, or an empty string without one."""

    def battles(self, environment: str) -> list[Battle]:
        """Returns the results of an environment in the order played; results of one deal share its name."""
        return [battle for _, battle in self.named_battles(environment)]

    def styled_battles(self, environment: str) -> list[Battle]:
        """Returns the results of an environment, with the style of the texts if known."""
        return self.battles(environment)

    def style_controls(self, names: Sequence[str]) -> dict[str, StyleControl]:
        """Returns style-controlled ratings by environment; environments without style are skipped.

        Args:
            names: the style features to control for.

        Raises:
            OptionError: if no environment has style, or it cannot be controlled for.
        """
        found = {}
        for environment in self.environments():
            battles = self.styled_battles(environment)
            if any(battle.style for battle in battles):
                plain = standings(comparisons_of(battles, seated=self.seated))
                try:
                    found[environment] = style_control(battles, names, plain, seated=self.seated)
                except ValueError as error:
                    raise OptionError(f"{environment}: {error}") from error
        if not found:
            raise OptionError(
                f"style: {self.title} does not tell it; expected a log with {_STYLE}, or a run whose judges compare two texts"
            )
        return found

    @abstractmethod
    def judgements(self, environment: str) -> list[Judgement] | None:
        """Returns the judges' verdicts in an environment; ``None`` without any."""

    @abstractmethod
    def leaderboards(self) -> list[Leaderboard]:
        """Returns the leaderboard of each environment."""

    def summary(self, boards: Sequence[Leaderboard]) -> Summary | None:
        """Returns the summary over all environments; ``None`` for a single environment."""
        return self.summarised(boards) if len(boards) > 1 else None

    @abstractmethod
    def summarised(self, boards: Sequence[Leaderboard]) -> Summary:
        """Returns the summary over several environments."""

    def costs(self, boards: Sequence[Leaderboard]) -> Costs | None:
        """Returns the model costs for the leaderboards; ``None`` if unknown."""
        return None

    @abstractmethod
    def page(self, matches: Collection[str] | None = None) -> "Page":
        """Returns the report, with the matches of these ids, by default all.

        Everything but the matches is computed at once.
        """

    def tables(self) -> list[Leaderboard | Summary]:
        """Returns the leaderboards, and the summary if there are several environments."""
        boards = self.leaderboards()
        summary = self.summary(boards)
        return [*boards, *([summary] if summary else [])]


def open_source(path: Path, format: str = "") -> Source:
    """Opens results.

    Args:
        path: a run directory, an import directory, or a log file.
        format: of a file; ``auto``, or nothing, to recognise it.

    Raises:
        RunError: if a directory is neither, or damaged.
        OptionError: if a file is not a readable log.
    """
    if path.is_file():
        return LogSource(path, format or AUTO)
    if is_import(path):
        return ImportSource(path)
    return RunSource(*run_directory.open_run(path), path.resolve().name)


class RunSource(Source):
    """A run.

    Args:
        config: the run.
        store: the run's database; closed with the source.
        title: display name.
    """

    seated = True

    def __init__(self, config: RunConfig, store: Store, title: str) -> None:
        self.title = title
        self._config, self._store = config, store

    def close(self) -> None:
        """Closes the database."""
        self._store.close()

    def environments(self) -> tuple[str, ...]:
        """Returns the environments of the run file with an ended match."""
        played = {outcome.environment for outcome in self._all}
        return tuple(item.name for item in self._config.environment if item.name in played)

    def named_battles(self, environment: str) -> Iterator[tuple[str, Battle]]:
        """Yields all pairs of seats of finished matches."""
        ids = {match.number: identity for identity, match in self._store.identities(environment)}
        for outcome in finished(self._outcomes(environment)):
            for battle in battles_of(outcome):
                yield ids[outcome.number], battle

    def styled_battles(self, environment: str) -> list[Battle]:
        """Returns the results with the words that judges read of both sides, if the environment declares them."""
        verdicts = declared_verdicts(environment)
        length = verdicts.length if verdicts else ""
        return [battle for outcome in finished(self._outcomes(environment)) for battle in battles_of(outcome, length)]

    def judgements(self, environment: str) -> list[Judgement] | None:
        """Returns the judges' verdicts, if the environment declares them; else ``None``."""
        verdicts = declared_verdicts(environment)
        return judgements_of(self._outcomes(environment), verdicts) if verdicts else None

    def leaderboards(self) -> list[Leaderboard]:
        """Returns the leaderboards by the rating schemes of the run."""
        return make_leaderboards(self._config, self._all, self._store.facts())

    def summarised(self, boards: Sequence[Leaderboard]) -> Summary:
        """Returns the table with the abilities that environments declare."""
        return summarise(boards, self._all)

    def costs(self, boards: Sequence[Leaderboard]) -> Costs | None:
        """Returns the model costs; ``None`` if no model was called."""
        spending = Spending(self._store.calls(), self._config.price_table())
        spending.read()
        return costs(spending, self._store.status_of_matches(), self._all, boards)

    def page(self, matches: Collection[str] | None = None) -> "Page":
        """Returns the report of the run."""
        from rating.viewer.report.page import Page, Run, plots_of, write_page  # matplotlib is slow to import

        store, boards = self._store, self.leaderboards()
        run = Run(
            title=self.title,
            seed=self._config.seed,
            boards=boards,
            schemes={board.environment: make_scheme(self._config, board.environment) for board in boards},
            summary=self.summary(boards),
            outcomes=self._all,
            statuses=store.statuses(),
            facts=store.facts(),
            seal=store.sealed,
            digest=store.digest(),
            costs=self.costs(boards),
            turns={item.name: self._config.turn_settings(item.name) for item in self._config.environment},
            reasons=store.reasons(),
        )
        shown = (one for one in store.records() if matches is None or one.match.id in matches)
        return Page(plots_of(run.sections), partial(write_page, run, shown))

    def _outcomes(self, environment: str) -> list[Outcome]:
        return [outcome for outcome in self._all if outcome.environment == environment]

    @cached_property
    def _all(self) -> list[Outcome]:
        return list(self._store.outcomes())


class _Results(Source):
    """Results without recorded matches.

    Attributes:
        lines: description of their origin.
    """

    lines: Sequence[str]

    @property
    @abstractmethod
    def _battles(self) -> Mapping[str, Sequence[Battle]]:
        """Results by environment."""

    @property
    def _judgements(self) -> Mapping[str, Sequence[Judgement]]:
        """Verdicts of named judges by environment."""
        return {}

    def close(self) -> None:
        """Does nothing."""

    def environments(self) -> tuple[str, ...]:
        """Returns the names in the log."""
        return tuple(sorted(self._battles))

    def named_battles(self, environment: str) -> Iterator[tuple[str, Battle]]:
        """Yields the results in log order."""
        for battle in self._battles.get(environment, ()):
            yield "", battle

    def judgements(self, environment: str) -> list[Judgement] | None:
        """Returns the verdicts of named judges."""
        found = self._judgements.get(environment)
        return list(found) if found else None

    def leaderboards(self) -> list[Leaderboard]:
        """Returns Bradley-Terry ratings."""
        return [
            battle_leaderboard(name, battles, seated=self.seated) for name, battles in sorted(self._battles.items())
        ]

    def summarised(self, boards: Sequence[Leaderboard]) -> Summary:
        """Returns the summary; the abilities of external environments are unknown."""
        return summarise_comparisons(boards, self._comparisons, {})

    def page(self, matches: Collection[str] | None = None) -> "Page":
        """Returns the report, without matches."""
        from rating.viewer.report.page import (  # matplotlib is slow to import
            Page,
            Results,
            plots_of,
            write_results_page,
        )

        boards = self.leaderboards()
        results = Results(self.title, self.lines, boards, self.summary(boards), self._comparisons, self._judgements)
        return Page(plots_of(results.sections), partial(write_results_page, results))

    @cached_property
    def _comparisons(self) -> dict[str, Comparisons]:
        return {name: comparisons_of(battles, seated=self.seated) for name, battles in self._battles.items()}


class ImportSource(_Results):
    """An import directory.

    Args:
        path: the directory.

    Raises:
        RunError: if it is not an import, or is damaged.
    """

    def __init__(self, path: Path) -> None:
        manifest = read_manifest(path)
        self._path = path
        self.title, self.seated = path.resolve().name, manifest.seated
        self.lines = [
            f"Imported: {manifest.battles} results of {manifest.policies} policies, {manifest.rejected} rows left out;"
            f" format: {manifest.format}.",
            *(f"{file.name}: {file.size} bytes, SHA-256 {file.sha256}" for file in manifest.files),
        ]

    def named_battles(self, environment: str) -> Iterator[tuple[str, Battle]]:
        """Yields the results with their style, in log order."""
        for battle in load_battles(self._path, styled=True).get(environment, ()):
            yield "", battle

    @cached_property
    def _battles(self) -> Mapping[str, Sequence[Battle]]:
        return load_battles(self._path)

    @cached_property
    def _judgements(self) -> Mapping[str, Sequence[Judgement]]:
        return load_judgements(self._path)


class LogSource(_Results):
    """An external log file, read without importing it; its judgements and rejected rows are not kept.

    Args:
        path: the file.
        format: its format.

    Raises:
        OptionError: if it cannot be read.
    """

    def __init__(self, path: Path, format: str) -> None:
        self.title, self.seated = printable(path.name), False
        self.lines = [f"Read from {self.title}."]
        self._read = read_environments([path], format)

    @property
    def _battles(self) -> Mapping[str, Sequence[Battle]]:
        return self._read
