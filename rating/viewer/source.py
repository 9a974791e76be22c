"""Results to rate, compare and report: of a run, or of log files."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.blame.results import DIRECTORY, Blame, read_results
from rating.judgements import Judgement, declared_truths, declared_verdicts, judgements_of
from rating.play import run_directory
from rating.play.run import Run
from rating.readers import open_log
from rating.readers.formats import AUTO
from rating.schemes.battles import battle_leaderboard
from rating.schemes.leaderboard import Leaderboard
from rating.schemes.summary import Summary, summarise, summarise_comparisons
from rating.stats.bradley_terry import Comparisons, standings
from rating.stats.bradley_terry.comparisons import comparisons_of
from rating.stats.results import NO_STYLE, Battle, finished
from rating.stats.style import LENGTH, StyleControl, style_control
from rating.store.records import Outcome
from rating.store.state import RunState
from rating.viewer.report.costs import Costs, Spending, costs

if TYPE_CHECKING:
    from rating.store.store import Store


_STYLE = "style, conv_metadata, conversation_a and conversation_b, response_a and response_b, or words_a and words_b"
"""Columns that hold style (``rating.readers.style``)."""

_LONGEST_TITLE = 100


class RunSource:
    """Results of a run.

    Args:
        run: the run.
        store: the run's database.
        title: display name.
        directory: directory of the run; ``None`` to show no results of ``llmarena blame``.

    Attributes:
        title: display name.
        seated: whether the first policy of a battle had the first seat.
    """

    seated = True

    def __init__(self, run: Run, store: "Store", title: str, directory: Path | None = None) -> None:
        self.title, self.run, self.store = title, run, store
        self._directory = directory

    @cached_property
    def blames(self) -> dict[str, list[Blame]]:
        """Results of ``llmarena blame`` by match."""
        return read_results(self._directory / DIRECTORY) if self._directory else {}

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """All outcomes, in the order of the store."""
        return list(self.store.outcomes())

    @cached_property
    def state(self) -> RunState:
        """Recorded state of the run."""
        return run_directory.read_state(self.store)

    def environments(self) -> tuple[str, ...]:
        """Returns the environments of the run file with an ended match."""
        played = {outcome.environment for outcome in self.outcomes}
        return tuple(item.name for item in self.run.config.environment if item.name in played)

    def battles(self, environment: str, *, styled: bool = False) -> list[Battle]:
        """Returns the battles of all pairs of seats of finished matches, by match number.

        Args:
            environment: name of the environment.
            styled: whether to add the words that judges read of both sides, if the environment declares them.
        """
        verdicts = declared_verdicts(environment) if styled else None
        length = verdicts.length if verdicts else ""
        return [battle for outcome in finished(self._of(environment)) for battle in battles_of(outcome, length)]

    def named_battles(self, environment: str) -> Iterator[tuple[str, Battle]]:
        """Yields the battles, each with its match id."""
        ids = {match.number: identity for identity, match in self.store.identities(environment)}
        for outcome in finished(self._of(environment)):
            for battle in battles_of(outcome):
                yield ids[outcome.number], battle

    def judgements(self, environment: str) -> list[Judgement] | None:
        """Returns the judges' verdicts, if the environment declares them; else ``None``."""
        verdicts = declared_verdicts(environment)
        truths = declared_truths(environment)
        return judgements_of(self._of(environment), verdicts, truths) if verdicts else None

    def leaderboards(self) -> list[Leaderboard]:
        """Returns the leaderboards by the rating schemes of the run."""
        return self.run.leaderboards(self.outcomes, self.state)

    def summary(self, boards: Sequence[Leaderboard]) -> Summary | None:
        """Returns the summary with the abilities that environments declare; ``None`` for a single environment."""
        return summarise(boards, self.outcomes) if len(boards) > 1 else None

    def costs(self, boards: Sequence[Leaderboard]) -> Costs | None:
        """Returns the model costs; ``None`` if no model was called."""
        spending = Spending(self.store.calls(), self.run.config.price_table())
        spending.read()
        return costs(spending, self.store.status_of_matches(), self.outcomes, boards)

    def _of(self, environment: str) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.environment == environment]


class LogSource:
    """Results in log files.

    Args:
        paths: the files, all of one format.
        format: of the files; ``auto`` to recognise it.
        metric: the metric to compare, where files hold several scores.
        seated: whether the first policy of a battle had the first seat or was shown first.

    Attributes:
        title: names of the files.
        seated: whether the first policy of a battle had the first seat or was shown first.
        log: battles, judgements and rejected rows.

    Raises:
        OptionError: if they cannot be read.
    """

    def __init__(self, paths: Sequence[Path], format: str = AUTO, metric: str = "", *, seated: bool = False) -> None:
        self.log = open_log(paths, format, metric)
        title = printable(", ".join(path.name for path in paths))
        self.title = title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 3]}..."
        self.seated = seated
        self._paths = paths

    def environments(self) -> tuple[str, ...]:
        """Returns the names in the log."""
        return tuple(sorted(self.log.battles))

    def battles(self, environment: str, *, styled: bool = False) -> list[Battle]:
        """Returns the battles with their style, in log order."""
        return self.log.battles.get(environment, [])

    def named_battles(self, environment: str) -> Iterator[tuple[str, Battle]]:
        """Yields the battles, with empty match ids."""
        for battle in self.battles(environment):
            yield "", battle

    def judgements(self, environment: str) -> list[Judgement] | None:
        """Returns the verdicts of named judges; ``None`` without any."""
        return self.log.judgements.get(environment)

    def leaderboards(self) -> list[Leaderboard]:
        """Returns Bradley-Terry ratings."""
        return [
            battle_leaderboard(name, self.battles(name), seated=self.seated, conduct=self.log.conduct.get(name, ()))
            for name in self.environments()
        ]

    def summary(self, boards: Sequence[Leaderboard]) -> Summary | None:
        """Returns the summary without abilities, which a log does not state; ``None`` for a single environment."""
        return summarise_comparisons(boards, self.comparisons, {}) if len(boards) > 1 else None

    def costs(self, boards: Sequence[Leaderboard]) -> Costs | None:
        """Returns ``None``: the costs are unknown."""
        return None

    @cached_property
    def comparisons(self) -> dict[str, Comparisons]:
        """The battles by environment, prepared for a fit."""
        return {name: comparisons_of(battles, seated=self.seated) for name, battles in self.log.battles.items()}

    def provenance(self) -> list[str]:
        """Returns lines with the number of results, and the size and digest of each file."""
        absolute = [path.resolve() for path in self._paths]
        common = Path(os.path.commonpath([path.parent for path in absolute]))
        policies = {name for battles in self.log.battles.values() for battle in battles for name in battle[:2]}
        lines = [
            f"Read from {self.title}: {sum(map(len, self.log.battles.values()))} results of {len(policies)} policies,"
            f" {self.log.num_rejected} rows left out; format: {self.log.format}."
        ]
        for path in absolute:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            name = printable(path.relative_to(common).as_posix())
            lines.append(f"{name}: {path.stat().st_size} bytes, SHA-256 {digest}")
        return lines


Source = RunSource | LogSource
"""Results of policies in one or more environments."""


@contextmanager
def open_source(
    paths: Path | Sequence[Path], format: str = AUTO, metric: str = "", *, seated: bool = False
) -> Iterator[Source]:
    """Opens results, and closes them in the end.

    Args:
        paths: a run directory, or log files of one format.
        format: of the files; ``auto`` to recognise it.
        metric: the metric to compare, where files hold several scores.
        seated: whether the first policy of a battle in a log had the first seat or was shown first.

    Raises:
        RunError: if a directory is no run, or damaged.
        OptionError: if a file is not a readable log, or an option of logs is given for a run.
    """
    paths = [paths] if isinstance(paths, Path) else list(paths)
    if len(paths) > 1 or paths[0].is_file():
        if directory := next((path for path in paths if path.is_dir()), None):
            raise OptionError(
                f"{directory}: expected log files, or one directory of a run, got it among {len(paths)} paths"
            )
        yield LogSource(paths, format, metric, seated=seated)
        return
    (path,) = paths
    run, store = run_directory.open_run(path)
    try:
        if format != AUTO or metric or seated:
            raise OptionError(f"{path}: expected a log file for --log-format, --metric and --seated, got a run")
        yield RunSource(run, store, path.resolve().name, path)
    finally:
        store.close()


def tables_of(source: Source) -> tuple[list[Leaderboard | Summary], Costs | None]:
    """Returns the leaderboards, with the summary for two or more environments, and the costs."""
    boards = source.leaderboards()
    summary = source.summary(boards)
    return [*boards, *([summary] if summary else [])], source.costs(boards)


def style_controls(source: Source, names: Sequence[str]) -> dict[str, StyleControl]:
    """Returns style-controlled ratings by environment; environments without style are skipped.

    Args:
        source: of the results.
        names: the style features to control for.

    Raises:
        OptionError: if no environment has style, or it cannot be controlled for.
    """
    found = {}
    for environment in source.environments():
        battles = source.battles(environment, styled=True)
        if any(battle.style for battle in battles):
            plain = standings(comparisons_of(battles, seated=source.seated))
            try:
                found[environment] = style_control(battles, names, plain, seated=source.seated)
            except ValueError as error:
                raise OptionError(f"{environment}: {error}") from error
    if not found:
        raise OptionError(
            f"style: {source.title} has none; expected a log with {_STYLE}, or a run whose judges compare two texts"
        )
    return found


def battles_of(outcome: Outcome, length: str = "") -> Iterator[Battle]:
    """Yields the battles of all pairs of seats of a finished match, the earlier seat first; the deal is the match seed.

    A match of more than two players gives all pairs of its rank order by reward. Pairs of a policy with itself are
    skipped.

    Args:
        outcome: with its rated seats.
        length: the statistic with the number of words judges read of a seat; empty for none.
    """
    for index, one in enumerate(outcome.seats):
        for other in outcome.seats[index + 1 :]:
            if one.policy != other.policy:
                score = 0.5 + 0.5 * ((one.reward > other.reward) - (one.reward < other.reward))
                words = (one.statistics.get(length, -1.0), other.statistics.get(length, -1.0))
                style = {LENGTH: words} if min(words) >= 0 else NO_STYLE
                yield Battle(one.policy, other.policy, score, str(outcome.seed), style=style)
