"""The directory of a run: the run file verbatim, the store, and the lock of the process that plays the run."""

import importlib.metadata
import platform
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agents.registry import split_spec
from llmarena_envs.core.options import OptionError
from rating.config.resume import differences, earlier, identity_of, merged, with_names
from rating.config.run_file import PERSON, RunConfig, parse_run_file
from rating.config.run_file_source import keep_prices, with_prices
from rating.config.tournament_config import keep_scores
from rating.errors import RunError
from rating.play.lock import LOCK, Lock
from rating.play.run import Run
from rating.replacing import replacing_text
from rating.store import location
from rating.store.address import Address
from rating.store.records import UNFINISHED
from rating.store.state import Identity, RunState, StateWriter

if TYPE_CHECKING:
    from rating.store.store import Store


RUN_FILE = "run.toml"
LINKS = "web.json"

_SHOWN = ("price", "prices", "ratings")
"""Keys of a run file that only affect tables; their current values apply."""

_FILES = frozenset({RUN_FILE, LINKS, LOCK, *location.FILES})


def create(
    path: Path, run_file: str, where: str, *, offline: bool = False, address: Address | None = None
) -> "tuple[Run, Store]":
    """Makes the directory of a new run.

    Args:
        path: the directory: missing, empty, or with an unplayed run, which is replaced.
        run_file: text of the run file; stored verbatim, except that scores and prices replace the paths of their files, and
            that the shipped prices of its models are added if it has none.
        where: name of the run file in error messages.
        offline: whether no model is asked; then no keys are needed.
        address: of the database on a server, with the name of the directory as default run name; ``None`` for a file in the
            directory.

    Raises:
        OptionError: if the run file or the name of the run is not valid; nothing is made.
        RunError: if the directory holds something else.
    """
    new = check_run_file(run_file, where, offline=offline)
    if address is not None and not address.run:
        address = address.of(path.resolve().name)
    if is_unplayed(path):
        with Lock(path):
            location.discard_store(path)
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise RunError(
            f"{path}: expected a new or empty directory, got one with files;"
            f" choose another, or continue its run: llmarena resume {path}"
        )
    path.mkdir(parents=True, exist_ok=True)
    store = location.create_store(path, address)
    with closed_on_error(store):
        StateWriter(store).begin(versions(), new.identity, new.run_file)
        replace_run_file(path, new.run_file)  # last: its presence means that the run can be resumed
    return new.run, store


def is_begun(path: Path) -> bool:
    """Returns whether a directory holds a run that can be resumed: false if its creation was interrupted."""
    return location.has_store(path) and (path / RUN_FILE).exists()


def is_unplayed(path: Path) -> bool:
    """Returns whether a directory holds only a run without any turns, e.g. because no model could be asked."""
    names = {item.name for item in path.iterdir()} if path.is_dir() else set()
    if not names & {location.DATABASE, location.SERVER}:
        unfinished = location.UNFINISHED_DATABASE
        return unfinished in names and names <= {unfinished, LOCK}  # its creation was interrupted
    if names - _FILES:
        return False
    try:
        with closing(location.open_store(path)) as store:
            return all(record.status == UNFINISHED and not record.turns for record in store.records())
    except RunError:
        return False


class NewRun(NamedTuple):
    """A checked run that was not begun.

    Attributes:
        run: the run.
        run_file: text of its run file as stored.
        identity: the settings that must not change.
    """

    run: Run
    run_file: str
    identity: Identity


def check_run_file(run_file: str, where: str, *, offline: bool = False) -> NewRun:
    """Checks a run file by making everything it names once.

    Args:
        run_file: its text.
        where: its name in error messages.
        offline: whether no model is asked; then no keys are needed.

    Raises:
        OptionError: if it is not valid, or an environment cannot be rated as configured.
    """
    config = parse_run_file(run_file, where)
    stored = keep_prices(keep_scores(run_file))
    if stored != run_file:
        config = parse_run_file(stored, where)
    config.admit()
    with suppress(OptionError):  # the check reports it
        if prices := config.known_prices():
            stored = with_prices(stored, prices)
            config = parse_run_file(stored, where)
    declared = config.check(offline=offline)
    run = Run(config)
    run.check()
    return NewRun(run, stored, identity_of(config, declared, _pools(run)))


def _pools(run: Run) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {item.name: run.phases(item.name) for item in run.config.environment}


def replace_run_file(path: Path, text: str) -> None:
    """Replaces the run file of a run; other processes never read a partial file."""
    with replacing_text(path / RUN_FILE) as file:
        file.write(text)


def open_run(path: Path) -> "tuple[Run, Store]":
    """Opens the directory of a run for reading, as last played.

    Raises:
        RunError: if it holds no run, or its run file has changes that are not allowed.
    """
    store = open_store(path)
    with closed_on_error(store):
        return read_run(path, store), store


def reopen_run(path: Path) -> "tuple[Run, Store]":
    """Opens the directory of a run to resume it with its current run file, and records the players.

    Args:
        path: the directory.

    Raises:
        OptionError: if an environment or a policy cannot be made; no keys are needed.
        RunError: if it holds no run, or its run file has changes that are not allowed.
    """
    store = open_store(path)
    with closed_on_error(store):
        config, state = parse_run_file(read_run_file(path), str(path / RUN_FILE)), read_state(store)
        if state.identity is not None:  # missing if the run was killed before the first match
            config = _unchanged(path, config, store.name, state.identity, plays=True)
        declared = config.check(offline=True)
        run = _resumed(config, store, state)
        StateWriter(store).set_identity(merged(identity_of(run.config, declared, _pools(run)), state.identity))
        return run, store


def read_run(path: Path, store: "Store") -> Run:
    """Returns the run of a directory as last played; checks the current run file against it.

    Raises:
        RunError: if the directory holds no run, its record is damaged, or its run file has changes that are not allowed.
    """
    text, state = read_run_file(path), read_state(store)
    config = now = parse_run_file(text, str(path / RUN_FILE))
    if state.run_file is not None and state.run_file != text:
        config = parse_run_file(state.run_file, store.name)
    if state.run_file != text and (state.identity is not None or store.sizes()):
        _unchanged(path, now, store.name, _identity(state, store.name))
    shown = {name: getattr(now, name) for name in _SHOWN}
    return _resumed(config.model_copy(update=shown), store, state)


def read_state(store: "Store") -> RunState:
    """Returns the recorded state of a run."""
    return RunState(store.facts())


def _resumed(config: RunConfig, store: "Store", state: RunState) -> Run:
    if state.identity is not None:
        config = with_names(config, state.identity)
    return Run(config, earlier(config, state, store))


@contextmanager
def closed_on_error(store: "Store") -> Iterator[None]:
    """Closes a store if the block fails."""
    try:
        yield
    except BaseException:
        store.close()
        raise


@contextmanager
def held(path: Path, store: "Store") -> Iterator[None]:
    """Holds the lock of a run; closes its store before releasing the lock, and if the lock is taken.

    Raises:
        RunError: if another process holds the lock, on this machine or another one.
    """
    with closed_on_error(store):
        lock = Lock(path)
    with lock, closing(store):
        store.lock()
        yield


def open_store(path: Path, *, read_only: bool = False) -> "Store":
    """Opens the store of a run, without reading its run file.

    Args:
        path: the directory.
        read_only: whether to open it for reading only; another process can play the run meanwhile.

    Raises:
        RunError: if the directory holds no run.
    """
    check_exists(path)
    return location.open_store(path, read_only=read_only)


def check_exists(path: Path) -> None:
    """Checks that a path is the directory of a run.

    Raises:
        RunError: if it holds no store, or a link instead of a file of the run.
    """
    check_no_links(path / name for name in _FILES)
    if not location.has_store(path):
        raise RunError(
            f"{path}: expected the directory of a run with a {location.DATABASE} or a {location.SERVER}, but there is none"
        )


def check_no_links(paths: Iterable[Path]) -> None:
    """Checks that files of a run are no links, which could redirect reads and writes.

    Raises:
        RunError: if one is.
    """
    for path in paths:
        if path.is_symlink():
            raise RunError(f"{path}: expected a file of the run, got a symbolic link; put the file itself in its place")


def _unchanged(path: Path, config: RunConfig, name: str, recorded: Identity, *, plays: bool = False) -> RunConfig:
    """Returns the run with its recorded names, if all changes of its run file are allowed.

    Args:
        path: directory of the run.
        config: the run, from its run file.
        name: of its store.
        recorded: settings that must not change.
        plays: whether the user resumes the run; only then policies can be added.

    Raises:
        RunError: if one is not, e.g. changed playing options of a policy or another invalid-reply policy.
    """
    try:
        config = with_names(config, recorded)
        changed = list(differences(config, recorded, admit=plays))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        if isinstance(error, OptionError):
            raise
        raise RunError(f"{name}: expected players and environments in the record of the run: {error!r}") from error
    if not plays:
        new = {item.title for item in config.policy} - recorded.players.keys()
        changed += [
            f"policy {title!r} was added; llmarena resume {path} plays it, and runs its code" for title in sorted(new)
        ]
    if changed:
        raise RunError(
            f"{path / RUN_FILE}: the run file has been changed since the run was begun; undo that, or begin a new run;"
            " these were changed:\n" + "\n".join(f"  {line}" for line in changed)
        )
    return config


def keep_run_file(path: Path, store: "Store") -> None:
    """Records the text of the current run file."""
    StateWriter(store).set_run_file(read_run_file(path))


def run_file_difference(path: Path, store: "Store") -> str:
    """Returns a message if the run file differs from the last session's, else an empty string."""
    known = read_state(store).run_file
    try:
        found = read_run_file(path)
    except RunError as error:
        return str(error)
    return "" if known in (None, found) else f"{RUN_FILE}: it is not the run file with which the run was played last"


def read_identity(store: "Store") -> Identity:
    """Returns the recorded settings that must not change, and all players of a run so far.

    Raises:
        RunError: if they were not recorded.
    """
    return _identity(read_state(store), store.name)


def _identity(state: RunState, name: str) -> Identity:
    if state.identity is None:
        raise RunError(f"{name}: expected players and settings in the record of the run, but there are none")
    return state.identity


def people(config: RunConfig, identity: Identity) -> frozenset[str]:
    """Returns the names of all people who ever played or served, including those removed from the run file.

    Their messages can be private.
    """
    specs = {name: identity.spec(name) for name in identity.players}
    for item in config.environment:
        specs |= {name: config.find_policy(name).spec for name in config.seated(item.name)}
    found = {name for name, spec in specs.items() if split_spec(spec)[0] == PERSON}
    return frozenset({PERSON, *found, *identity.people})


def read_run_file(path: Path) -> str:
    """Returns the text of a run's run file.

    Raises:
        RunError: if ``path`` is not the directory of a run.
    """
    try:
        return (path / RUN_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path}: expected the directory of a run with a {RUN_FILE}, but: {error}") from error


def versions() -> dict[str, str]:
    """Returns the versions that results depend on."""
    names = ("llmarena-envs", "pettingzoo", "gymnasium", "numpy", "openai")
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in names}}
