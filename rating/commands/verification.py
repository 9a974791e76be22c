"""``llmarena replay --verify``: whether a run is as it was recorded."""

import argparse
import json
from contextlib import closing
from dataclasses import dataclass, field

from llmarena_envs.core.options import OptionError
from llmarena_envs.core.terminal import printable
from rating.errors import RunError
from rating.records.outcome import PLAYED
from rating.records.store import Store
from rating.records.verify import verify
from rating.running import run_directory


@dataclass
class _Findings:
    """What a verification has found.

    Attributes:
        changed: what is not as it was written.
        differences: how matches, by id, come out otherwise when they are played again.
        finished: number of finished matches.
        known: whether there is any match of those asked for.
        seal: of a run that is as it was written.
        digest: of what was played in it.
    """

    changed: list[str] = field(default_factory=list)
    differences: dict[str, str] = field(default_factory=dict)
    finished: int = 0
    known: bool = False
    seal: str = ""
    digest: str = ""


def verify_run(args: argparse.Namespace) -> int:
    """Checks a whole database against its seals, plays the matches asked for again and prints what differs.

    A database that is damaged is read as far as that is possible.

    Returns:
        0, or 1 if something is not as it was recorded.

    Raises:
        RunError: if there is no run in the directory.
        OptionError: if there is no such match.
    """
    found = _Findings()
    run_directory.check_exists(args.dir)
    try:
        with closing(run_directory.open_store(args.dir)) as store:
            _look_at(args, store, found)
    except RunError as error:
        found.changed.append(str(error))
    if args.match and not found.known and not found.changed:
        raise no_such_match(args)
    _print(found, as_json=args.json)
    return 1 if found.changed or found.differences else 0


def no_such_match(args: argparse.Namespace) -> OptionError:
    """Returns the error that says that a run has no match of the id asked for."""
    return OptionError(
        f"match: expected an id of a match in {args.dir}, got {args.match!r}; list them with: llmarena replay {args.dir}"
    )


def _look_at(args: argparse.Namespace, store: Store, found: _Findings) -> None:
    found.changed += store.check()
    if difference := run_directory.run_file_difference(args.dir, store):
        found.changed.append(difference)
    try:
        settings = run_directory.turn_settings(store)
        for record in store.records(args.match):
            found.known = True
            if record.status in PLAYED:
                found.finished += 1
                if difference := verify(record, settings[record.match.environment]):
                    found.differences[record.match.id] = difference
    except (RunError, KeyError) as error:
        found.changed.append(f"matches cannot be played again any further: {error}")
    if not found.changed:
        found.seal, found.digest = store.sealed, store.digest()


def _print(found: _Findings, *, as_json: bool) -> None:
    verified = found.finished - len(found.differences)
    if as_json:
        table = {"verified": verified, "differences": found.differences, "changed": found.changed}
        print(json.dumps({**table, "seal": found.seal, "digest": found.digest}, indent=2))
        return
    for line in (*found.changed, *(f"{match}: {difference}" for match, difference in found.differences.items())):
        print(printable(line))
    print(f"{verified} of {found.finished} finished matches verified")
    if found.changed:
        print(f"the record is not as it was written, or not complete: {len(found.changed)} differences")
    else:
        print(f"seal: {found.seal}\nplay digest: {found.digest}")
