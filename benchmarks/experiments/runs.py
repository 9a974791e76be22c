"""The runs of a row: ordinary run directories, played, resumed, or opened."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.experiments.jobs import Asked
from llmarena_envs.core.options import OptionError
from rating.cli.playing import play_run
from rating.cli.process import Interruptions
from rating.config.run_file import RunConfig, write_run_file
from rating.errors import RunError
from rating.play import run_directory
from rating.play.run import Run
from rating.play.session import ONE_GO, Session
from rating.schemes.leaderboard import Leaderboard
from rating.store import location
from rating.store.records import FINISHED, Outcome, Record


class PlayedRun:
    """A played run, read-only.

    Args:
        directory: of the run.

    Raises:
        RunError: if the directory holds no run.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.run, store = run_directory.open_run(directory)
        self.config = self.run.config
        with closing(store):
            self.seal, self.digest = store.sealed, store.digest()
            self.statuses = store.statuses()
            self._state = run_directory.read_state(store)

    def environments(self) -> list[str]:
        """Returns the names of the environments, in the order of the run file."""
        return [item.name for item in self.config.environment]

    def records(self, environment: str, statuses: Collection[str] = (FINISHED,)) -> Iterator[Record]:
        """Returns the matches of an environment with the given statuses, in match-number order."""
        with closing(run_directory.open_store(self.directory)) as store:
            for record in store.records():
                if record.match.environment == environment and record.status in statuses:
                    yield record

    def outcomes(self, environment: str) -> list[Outcome]:
        """Returns all outcomes of an environment, including void ones."""
        with closing(run_directory.open_store(self.directory)) as store:
            return [outcome for outcome in store.outcomes() if outcome.environment == environment]

    def stop_reason(self, environment: str) -> str:
        """Returns the reason for the stop; empty if the run has not stopped."""
        return self._state.schedule(environment).stop_reason

    def rules(self, environment: str) -> dict[str, str]:
        """Returns the recorded rules text of each agent; empty if none was recorded.

        Raises:
            RunError: if the record is not a table of texts.
        """
        return self._state.rules(environment)

    def sources(self) -> list[str]:
        """Returns the names of the recorded sources of the environments: data sets and length measures."""
        names = {name for each in self.environments() for name in self._state.sources(each)}
        return sorted(names)

    def leaderboard(self, environment: str) -> Leaderboard:
        """Returns the leaderboard of an environment.

        Raises:
            RunError: if no match of it has ended.
        """
        outcomes = self.outcomes(environment)
        if not outcomes:
            raise RunError(f"{self.directory}: expected matches of {environment}, but none has ended yet")
        return self.run.leaderboard(environment, outcomes, self._state)


class Played(dict[str, PlayedRun]):
    """The runs of a row by name, and the answers of its jobs.

    Attributes:
        asked: the answers by name of the job.
    """

    def __init__(self, runs: Mapping[str, PlayedRun], asked: Mapping[str, Asked[Any]]) -> None:
        super().__init__(runs)
        self.asked = asked


def open_runs(directory: Path, plan: Mapping[str, RunConfig], *, any_manner: bool = False) -> dict[str, PlayedRun]:
    """Opens existing runs.

    Args:
        directory: a directory that holds the planned runs by name; if only one is planned, the run or a directory that holds only
            it.
        plan: the planned runs.
        any_manner: whether the games may have other options and another scheme than planned.

    Raises:
        RunError: if there is no such run.
        OptionError: if a run has other games, or the same games with other options or another scheme.
    """
    found = {name: directory / name for name in plan}
    if len(plan) == 1:
        inside = [path for path in sorted(directory.glob("*/")) if location.has_store(path)]
        if location.has_store(directory):
            found = dict.fromkeys(plan, directory)
        elif len(inside) == 1:
            found = dict.fromkeys(plan, inside[0])
    for name, path in found.items():
        if not location.has_store(path):
            wanted = f"a run in each of {', '.join(found)}" if len(found) > 1 else f"a run, or one in {name}"
            raise RunError(f"{directory}: expected {wanted}, but there is none in {path}")
    return _open(found, plan, any_manner)


def open_follow_ups(directory: Path, plan: Mapping[str, RunConfig]) -> dict[str, PlayedRun]:
    """Opens the existing follow-up runs.

    Args:
        directory: a directory that holds runs by name.
        plan: the planned follow-ups.

    Raises:
        OptionError: if a run differs from its plan.
    """
    paths = {name: directory / name for name in plan}
    found = {name: path for name, path in paths.items() if location.has_store(path)}
    return _open(found, plan, any_manner=False)


def _open(found: Mapping[str, Path], plan: Mapping[str, RunConfig], any_manner: bool) -> dict[str, PlayedRun]:
    runs = {name: PlayedRun(path) for name, path in found.items()}
    for name, run in runs.items():
        _check_games(run, plan[name], any_manner)
    return runs


def check_runs(directory: Path, plan: Mapping[str, RunConfig], session: Session = ONE_GO) -> None:
    """Checks that the planned runs can be played, each in a directory of its name.

    Raises:
        OptionError: if a policy or an option is not usable.
        RunError: if a directory holds another run.
    """
    check_plan(plan, session)
    for name, config in plan.items():
        _check_same(directory / name, config)


def check_plan(plan: Mapping[str, RunConfig], session: Session = ONE_GO) -> None:
    """Checks that every planned run can be played.

    Raises:
        OptionError: if a run cannot be played.
    """
    for config in plan.values():
        config.check(offline=session.offline)
        Run(config).schemes()


def play_runs(
    directory: Path, plan: Mapping[str, RunConfig], interruptions: Interruptions, session: Session = ONE_GO
) -> int:
    """Plays or resumes the planned and checked runs, each in a directory of its name.

    Returns:
        The number of void matches.

    Raises:
        BudgetExceeded: if too many providers failed.
    """
    void = 0
    for name, config in plan.items():
        path = directory / name
        if location.has_store(path):
            known, store = run_directory.reopen_run(path)
        else:
            known, store = run_directory.create(path, write_run_file(config), name, offline=session.offline)
        with run_directory.held(path, store):
            void += play_run(path, known, store, interruptions, session)
    return void


def _check_same(path: Path, config: RunConfig) -> None:
    """Checks that a directory is empty or holds the planned run."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return
    if run_directory.read_run_file(path) != write_run_file(config):
        raise RunError(
            f"{path}: expected no run, or one with the same settings to go on with, but its run file says otherwise;"
            " choose another directory with --out, or compute the row from it with --run"
        )


def _check_games(run: PlayedRun, config: RunConfig, any_manner: bool) -> None:
    """Checks that a run has some of the planned games, with the planned options and scheme unless ``any_manner``."""
    common = [name for name in run.environments() if name in {item.name for item in config.environment}]
    if not common:
        raise OptionError(
            f"{run.directory}: expected a run of {' or '.join(item.name for item in config.environment)},"
            f" got one of {', '.join(run.environments())}"
        )
    for name in common if not any_manner else ():
        planned, found = config.find_environment(name), run.config.find_environment(name)
        wanted = {"scheme": planned.scheme, "value": planned.value, **planned.options, **planned.by_deal}
        got = {"scheme": found.scheme, "value": found.value, **found.options, **found.by_deal}
        for key, value in wanted.items():
            if got.get(key) != value:
                raise OptionError(
                    f"{run.directory}: {name}: expected a run with {key} = {value!r:.80}, got {got.get(key)!r:.80};"
                    " name the options with which it was played"
                )
